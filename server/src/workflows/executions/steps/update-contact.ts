// UPDATE_CONTACT: changes the contact's data under the data rules (spec §2.2), and the subscription.
import { readDataPatch } from "../../../contacts/rules.ts";
import type { TakeStep } from "./step.ts";

export const takeUpdateContact: TakeStep<"UPDATE_CONTACT"> = ({ step, execution, run }) => {
  const { updates, subscriptionAction = "none" } = step.config;
  const patch = readDataPatch(updates);
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
