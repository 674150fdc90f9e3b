// Names and icons of steps, and the names of their branches.
import {
  Clock,
  Flag,
  GitBranch,
  Hourglass,
  Mail,
  UserPen,
  Webhook,
  Zap,
  type LucideIcon,
} from "lucide-react";
import type { Branch, StepType } from "@postloft/contract/workflows/graph.ts";
import { STEP_NAMES } from "@postloft/contract/workflows/step-names.ts";
import { t } from "../../../text/t.ts";
import type { Step } from "../workflow-queries.ts";

interface StepKind {
  name: string;
  icon: LucideIcon;
  /** What the step does, for the menu that adds it. */
  about: string;
}

export const STEP_KINDS: Record<StepType, StepKind> = {
  TRIGGER: { name: t("Trigger"), icon: Zap, about: t("Lets contacts in") },
  SEND_EMAIL: { name: t("Send email"), icon: Mail, about: t("Sends a template") },
  DELAY: { name: t("Delay"), icon: Clock, about: t("Waits for a time") },
  WAIT_FOR_EVENT: { name: t("Wait for event"), icon: Hourglass, about: t("Waits until an event happens") },
  CONDITION: { name: t("Condition"), icon: GitBranch, about: t("Splits the path in two") },
  UPDATE_CONTACT: {
    name: t("Update contact"),
    icon: UserPen,
    about: t("Changes fields or the subscription"),
  },
  WEBHOOK: { name: t("Webhook"), icon: Webhook, about: t("Calls an address of yours") },
  EXIT: { name: t("Exit"), icon: Flag, about: t("Ends the path") },
};

export type AddableType = Exclude<StepType, "TRIGGER">;
/** In the order of the menu. */
export const ADDABLE_TYPES = [
  "SEND_EMAIL",
  "DELAY",
  "WAIT_FOR_EVENT",
  "CONDITION",
  "UPDATE_CONTACT",
  "WEBHOOK",
  "EXIT",
] as const satisfies readonly AddableType[];

export const BRANCH_NAMES: Record<Branch, string> = {
  yes: t("Yes"),
  no: t("No"),
  event: t("Event happened"),
  timeout: t("Timed out"),
};

/** Returns the step's own name, or the translated name of its type. */
export function stepName({ type, name }: Pick<Step, "type" | "name">): string {
  return name === STEP_NAMES[type] ? STEP_KINDS[type].name : name;
}
