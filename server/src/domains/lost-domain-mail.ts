// What the members of a project are told when one of its domains is no longer proved. Pure.
// Before it: check-domains.ts saw the last of the failed checks. After it: emails/system-mail.ts queues it.
import { dkimName } from "./dkim-record.ts";
import type { DomainRow } from "./queries.ts";
import { signingKeyOf } from "./rules.ts";

/** A domain name is letters, digits, dots and hyphens: nothing in it means anything in HTML. */
export function lostDomainMail(
  row: DomainRow,
  failedChecks: number,
): { subject: string; text: string; html: string } {
  const { domain } = row;
  const lines = [
    `${failedChecks} checks in a row did not find the DKIM record of ${domain} in DNS, so the domain is no longer verified. Mail from it is refused, and mail that waits fails.`,
    `Put the TXT record ${dkimName(signingKeyOf(row))} back as the domain's page (GET /domains) shows it. The domain verifies again by itself within minutes.`,
  ];
  return {
    subject: `${domain} is no longer verified`,
    text: `${lines.join("\n\n")}\n`,
    html: lines.map((line) => `<p>${line}</p>`).join("\n"),
  };
}
