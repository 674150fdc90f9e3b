// Findings of a campaign's check beside its content, by code: a program and the dashboard say them in words of their own.
import { saidBy, sayerOf, type Said } from "./advice.ts";
import { CONTENT_WARNINGS, type ContentWarningCode } from "./content-warnings.ts";
import { DNS_ADVICE, type DnsAdviceCode } from "./dns-advice.ts";
import { TEMPLATE_FAULTS, type TemplateFaultCode } from "./template-faults.ts";

/** By code, with `{names}` of what is filled in. */
export const CAMPAIGN_FINDINGS = {
  sender_not_verified: "The domain {domain} is not verified in this project.",
  audience_missing: "Its segment was deleted: choose another one.",
  audience_names_missing: "A segment that its conditions name was deleted: choose another one.",
  audience_empty: "Nobody would get it: choose another audience.",
  audience_unusually_large:
    "{count} recipients are more than {times} times the largest campaign so far ({largest}).",
  transactional_to_unsubscribed:
    "{count} contacts of the audience have unsubscribed, and would get it all the same: a TRANSACTIONAL campaign goes to everybody. Advertising is MARKETING.",
  transactional_to_one_unsubscribed:
    "1 contact of the audience has unsubscribed, and would get it all the same: a TRANSACTIONAL campaign goes to everybody. Advertising is MARKETING.",
  sent_before: 'The campaign "{name}" with the same subject went to the same audience within a day.',
  reply_to_elsewhere: "Answers go to another domain than the sender's.",
  record: "{name}:",
} as const;
export type CampaignFindingCode = keyof typeof CAMPAIGN_FINDINGS;
export type FindingPartCode = CampaignFindingCode | ContentWarningCode | TemplateFaultCode | DnsAdviceCode;
export type FindingPart = Said<FindingPartCode>;

export const findingPart = saidBy<FindingPartCode>({
  ...CAMPAIGN_FINDINGS,
  ...CONTENT_WARNINGS,
  ...TEMPLATE_FAULTS,
  ...DNS_ADVICE,
});
/** The finding of a code, with its values filled in. */
export const findInCampaign = sayerOf<CampaignFindingCode>(CAMPAIGN_FINDINGS);

/** Warnings about the content that keep a campaign from being sent until they are fixed or confirmed. */
export const CONFIRMABLE_FINDINGS = [
  "merge_tag",
  "unsubscribe_link_nowhere",
  "placeholder_text",
  "link_to_example",
  "body_empty",
] as const satisfies readonly ContentWarningCode[];
export type ConfirmableFinding = (typeof CONFIRMABLE_FINDINGS)[number];

/** Returns whether a finding keeps a campaign from being sent unless it is confirmed. */
export function isConfirmable(code: string): code is ConfirmableFinding {
  return CONFIRMABLE_FINDINGS.some((one) => one === code);
}
