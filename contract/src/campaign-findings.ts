// Findings of a campaign check other than its content, by code, so that programs and the dashboard can use their own wording.
import { sentenceSchema, sentenceBuilderOf, type Said } from "./advice.ts";
import { CONTENT_WARNINGS, type ContentWarningCode } from "./content-warnings.ts";
import { DNS_ADVICE, type DnsAdviceCode } from "./dns-advice.ts";
import { TEMPLATE_FAULTS, type TemplateFaultCode } from "./template-faults.ts";

/** Sentences by code, with `{names}` as placeholders for values. */
export const CAMPAIGN_FINDINGS = {
  sender_not_verified: "The domain {domain} is not verified in this project.",
  audience_missing: "The campaign's segment was deleted. Choose another one.",
  audience_names_missing: "A segment used in the campaign's conditions was deleted. Choose another one.",
  audience_empty: "The audience is empty. Choose another one.",
  audience_unusually_large:
    "{count} recipients are more than {times} times the largest campaign so far ({largest}).",
  transactional_to_unsubscribed:
    "{count} contacts in the audience have unsubscribed and would still get it, because TRANSACTIONAL campaigns go to everyone. Use MARKETING for advertising.",
  transactional_to_one_unsubscribed:
    "1 contact in the audience has unsubscribed and would still get it, because TRANSACTIONAL campaigns go to everyone. Use MARKETING for advertising.",
  sent_before: 'The campaign "{name}" with the same subject went to the same audience less than a day ago.',
  reply_to_elsewhere: "Replies go to a different domain than the sender's.",
  record: "{name}:",
} as const;
export type CampaignFindingCode = keyof typeof CAMPAIGN_FINDINGS;
export type FindingPartCode = CampaignFindingCode | ContentWarningCode | TemplateFaultCode | DnsAdviceCode;
export type FindingPart = Said<FindingPartCode>;

export const findingPart = sentenceSchema<FindingPartCode>({
  ...CAMPAIGN_FINDINGS,
  ...CONTENT_WARNINGS,
  ...TEMPLATE_FAULTS,
  ...DNS_ADVICE,
});
/** Returns the finding for a code with its values filled in. */
export const findInCampaign = sentenceBuilderOf<CampaignFindingCode>(CAMPAIGN_FINDINGS);

/** Content warnings that block sending until they are fixed or confirmed. */
export const CONFIRMABLE_FINDINGS = [
  "merge_tag",
  "unsubscribe_link_nowhere",
  "placeholder_text",
  "link_to_example",
  "body_empty",
] as const satisfies readonly ContentWarningCode[];
export type ConfirmableFinding = (typeof CONFIRMABLE_FINDINGS)[number];

/** Returns whether a finding blocks sending unless it is confirmed. */
export function isConfirmable(code: string): code is ConfirmableFinding {
  return CONFIRMABLE_FINDINGS.some((one) => one === code);
}
