// Email that notifies the members of a project when a domain is no longer verified. Pure.
import { notificationMail, type MailInLanguage } from "../projects/members/notification-mails.ts";
import { dkimName } from "./dkim-record.ts";
import type { DomainRow } from "./queries.ts";
import { signingKeyOf } from "./rules.ts";

export function lostDomainMail(row: DomainRow, failedChecks: number, baseUrl: string): MailInLanguage {
  const facts = { domain: row.domain, record: dkimName(signingKeyOf(row)), failedChecks };
  return notificationMail((texts) => texts.lostDomain(facts), `${baseUrl}/app/${row.projectId}/domains`);
}
