// UPDATE_CONTACT: changes the contact's data under the data rules (spec §2.2), and the subscription.
import { LIMITS } from "@postloft/contract/limits/limits.ts";
import { recordedReason } from "@postloft/contract/recorded-reasons.ts";
import { readDataPatch } from "../../../contacts/rules.ts";
import type { TakeStep } from "./step.ts";

export const takeUpdateContact: TakeStep<"UPDATE_CONTACT"> = ({ step, execution, run, filler }) => {
  const { updates, subscriptionAction = "none" } = step.config;
  // A missing value is left out, and so changes nothing.
  const filled = filler.json(updates) as typeof updates;
  if (JSON.stringify(filled ?? {}).length > LIMITS.stepConfigLength.value)
    return { goes: "fail", error: recordedReason("updatesTooLong", { most: LIMITS.stepConfigLength.value }) };
  const patch = readDataPatch(filled);
  const subscribed = { none: undefined, subscribe: true, unsubscribe: false }[subscriptionAction];
  const out = {
    set: Object.keys(patch.set),
    removed: patch.remove,
    ...(subscribed === undefined ? {} : { subscribed }),
  };
  return {
    goes: "on",
    out,
    effect: { is: "change", execution, run, patch, ...(subscribed === undefined ? {} : { subscribed }) },
  };
};
