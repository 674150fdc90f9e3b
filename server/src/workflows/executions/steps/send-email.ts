// SEND_EMAIL: sends a template to the contact or to a custom address. Delivery rules depend on the template type (spec §3.1).
import { parseAddress } from "@postloft/contract/address.ts";
import { lookUpLocale } from "@postloft/contract/locale-tag.ts";
import { recordedReason } from "@postloft/contract/recorded-reasons.ts";
import { FillError, hasVariables, type Filler } from "../../../rendering/fill-text.ts";
import { contactVariable } from "../execution-variables.ts";
import { isRepeatedByMove } from "../execution.ts";
import { PUBLIC_KEY_REASONS } from "../public-key-allowance.ts";
import type { FilterContact } from "../../../segments/filters/evaluate-filter.ts";
import type { SendablePlan, TakeStep } from "./step.ts";

export const takeSendEmail: TakeStep<"SEND_EMAIL"> = ({ step, execution, contact, run, facts, filler }) => {
  const { templateId, recipient } = step.config;
  if (isRepeatedByMove(execution, run)) return { goes: "skip", reason: recordedReason("alreadySent") };
  if (templateId === undefined) return { goes: "fail", error: recordedReason("noTemplate") };
  const plan = facts.mails.get(templateId);
  if (plan === undefined) return { goes: "fail", error: recordedReason("templateDeleted") };
  if ("problem" in plan) return { goes: "fail", error: plan.problem };
  if ("skipped" in plan) return { goes: "skip", reason: plan.skipped };
  const isToContact = recipient?.type !== "CUSTOM";
  if (isToContact && plan.goesToSubscribers && !contact.subscribed)
    return { goes: "skip", reason: recordedReason("notSubscribed") };
  const isOpen = !isToContact && execution.fromPublicKey && hasVariables(recipient.customEmail ?? "");
  const granted = isOpen
    ? ({ code: "PUBLIC_KEY_RECIPIENT" } as const)
    : isToContact && execution.fromPublicKey
      ? facts.allowance?.take(execution.contactId ?? "")
      : undefined;
  if (granted !== undefined && "code" in granted) {
    const { code } = granted;
    return {
      goes: "skip",
      reason: PUBLIC_KEY_REASONS[code],
      code,
      effect: { is: "skipped", execution, step, code },
    };
  }
  const content = isToContact ? contentFor(plan, contact) : plan.content;
  const mail = {
    to: isToContact ? contact.email : customAddress(recipient.customEmail ?? contact.email, filler),
    isToContact,
    templateId,
    content,
    ...granted,
    variables: {
      event: execution.context,
      steps: execution.results,
      ...(isToContact ? {} : { contact: contactVariable(execution, contact) }),
    },
  };
  return { goes: "on", effect: { is: "mail", execution, run, stepId: step.id, mail } };
};

/** Returns the content in the language of the contact. A custom recipient gets the template's own, because its language is unknown. */
export function contentFor({ locales, variants, content }: SendablePlan, { data }: FilterContact) {
  return variants.get(lookUpLocale(locales, data["locale"]) ?? "") ?? content;
}

/** @throws FillError if the variables make no address */
function customAddress(written: string, filler: Filler): string {
  const parsed = parseAddress(filler.text(written));
  if (!parsed.ok) throw new FillError(recordedReason("noRecipient"));
  return parsed.address;
}
