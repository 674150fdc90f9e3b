// Translates the findings of a campaign check, which the server sends as codes and values.
import type { CampaignFindingCode, FindingPart } from "@postloft/contract/campaign-findings.ts";
import type { DnsAdvice } from "@postloft/contract/dns-advice.ts";
import { TEMPLATE_FAULTS } from "../../api/template-fault-text.ts";
import { translateParts } from "../../text/say-all.ts";
import { plural, t } from "../../text/t.ts";
import { dnsAdviceText } from "../domains/dns-advice-text.ts";
import { CONTENT_WARNINGS } from "../mail-editor/warning-text.ts";

type Name = "domain" | "count" | "times" | "largest" | "name";
type Values = Record<Name, string | number>;

const SENTENCES: Record<CampaignFindingCode, (values: Values) => string> = {
  sender_not_verified: (values) => t("The domain {domain} isn't verified in this project.", values),
  audience_missing: () => t("The segment was deleted. Choose another one."),
  audience_names_missing: () => t("A segment in the conditions was deleted. Choose another one."),
  audience_empty: () => t("The audience is empty. Choose another one."),
  audience_unusually_large: (values) =>
    t("{count} recipients is over {times} times your largest campaign so far ({largest}).", values),
  transactional_to_unsubscribed: ({ count }) => toUnsubscribed(Number(count)),
  transactional_to_one_unsubscribed: () => toUnsubscribed(1),
  sent_before: (values) =>
    t("You sent “{name}” with the same subject to the same audience less than a day ago.", values),
  reply_to_elsewhere: () => t("The Reply-to address uses a different domain than the sender."),
  record: ({ name }) => `${name}:`,
};

function toUnsubscribed(count: number): string {
  return plural(
    count,
    "{n} recipient has unsubscribed. Transactional email still reaches them, so use marketing for promotions.",
    "{n} recipients have unsubscribed. Transactional email still reaches them, so use marketing for promotions.",
  );
}

const ALL = { ...SENTENCES, ...CONTENT_WARNINGS, ...TEMPLATE_FAULTS };

interface Finding {
  message: string;
  messageParts: readonly FindingPart[];
}

/** Uses the server's text for findings without codes. */
export function findingText({ message, messageParts }: Finding): string {
  return messageParts.length === 0 ? message : messageParts.map(partText).join(" ");
}

function partText(part: FindingPart): string {
  return Object.hasOwn(ALL, part.code) ? translateParts(ALL, [part]) : dnsAdviceText([part as DnsAdvice]);
}
