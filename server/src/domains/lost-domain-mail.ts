// What the members of a project are told when one of its domains is no longer proved. Pure.
// Before it: check-domains.ts saw the last of the failed checks. After it: emails/system-mail.ts queues it.
import { layOutSystemMail, type SystemMailText } from "../emails/system-mail-layout.ts";
import { dkimName } from "./dkim-record.ts";
import type { DomainRow } from "./queries.ts";
import { signingKeyOf } from "./rules.ts";

export function lostDomainMail(row: DomainRow, failedChecks: number): SystemMailText {
  const { domain } = row;
  return layOutSystemMail({
    subject: `${domain} is no longer verified`,
    blocks: [
      `${failedChecks} checks in a row did not find the DKIM record of ${domain} in DNS, so the domain is no longer verified. Mail from it is refused, and mail that waits fails.`,
      `Put the TXT record ${dkimName(signingKeyOf(row))} back as the domain's page (GET /domains) shows it. The domain verifies again by itself within minutes.`,
    ],
  });
}
