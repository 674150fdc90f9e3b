// What the check of a campaign found, in the viewer's language: by its codes, with what they name.
import type { CampaignFindingCode, FindingPart } from "@postloft/contract/campaign-findings.ts";
import type { DnsAdvice } from "@postloft/contract/dns-advice.ts";
import { TEMPLATE_FAULTS } from "../../api/template-fault-text.ts";
import { sayAll } from "../../text/say-all.ts";
import { plural, t } from "../../text/t.ts";
import { dnsAdviceText } from "../domains/dns-advice-text.ts";
import { CONTENT_WARNINGS } from "../mail-editor/warning-text.ts";

type Name = "domain" | "count" | "times" | "largest" | "name";
/** Each sentence takes those that it names. */
type Values = Record<Name, string | number>;

const SENTENCES: Record<CampaignFindingCode, (values: Values) => string> = {
  sender_not_verified: (values) => t("The domain {domain} is not verified in this project.", values),
  audience_missing: () => t("Its segment was deleted: choose another one."),
  audience_names_missing: () => t("A segment that its conditions name was deleted: choose another one."),
  audience_empty: () => t("Nobody would get it: choose another audience."),
  audience_unusually_large: (values) =>
    t("{count} recipients are more than {times} times the largest campaign so far ({largest}).", values),
  transactional_to_unsubscribed: ({ count }) => toUnsubscribed(Number(count)),
  transactional_to_one_unsubscribed: () => toUnsubscribed(1),
  sent_before: (values) =>
    t("The campaign “{name}” with the same subject went to the same audience within a day.", values),
  reply_to_elsewhere: () => t("Answers go to another domain than the sender's."),
  record: ({ name }) => `${name}:`,
};

function toUnsubscribed(count: number): string {
  return plural(
    count,
    "{n} contact of the audience has unsubscribed, and would get it all the same: transactional mail goes to everybody. Advertising is marketing.",
    "{n} contacts of the audience have unsubscribed, and would get it all the same: transactional mail goes to everybody. Advertising is marketing.",
  );
}

const ALL = { ...SENTENCES, ...CONTENT_WARNINGS, ...TEMPLATE_FAULTS };

interface Finding {
  message: string;
  messageParts: readonly FindingPart[];
}

/** As the server says it where it has no code. */
export function findingText({ message, messageParts }: Finding): string {
  return messageParts.length === 0 ? message : messageParts.map(partText).join(" ");
}

function partText(part: FindingPart): string {
  return Object.hasOwn(ALL, part.code) ? sayAll(ALL, [part]) : dnsAdviceText([part as DnsAdvice]);
}
