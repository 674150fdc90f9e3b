// Names and icons of steps, and the names of their branches.
import {
  Clock,
  Flag,
  GitBranch,
  Hourglass,
  Mail,
  Percent,
  Split,
  UserPen,
  Webhook,
  Zap,
  type LucideIcon,
} from "lucide-react";
import { ELSE } from "@postloft/contract/workflows/branches.ts";
import type { StepConfig, StepType } from "@postloft/contract/workflows/graph.ts";
import { STEP_NAMES } from "@postloft/contract/workflows/step-names.ts";
import { locale, t } from "../../../text/t.ts";
import type { Step } from "../workflow-queries.ts";

const PERCENT = new Intl.NumberFormat(locale(), { style: "percent", maximumFractionDigits: 2 });

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
  BRANCH: { name: t("Branch"), icon: Split, about: t("Takes the first path that matches") },
  RANDOM_SPLIT: { name: t("Random split"), icon: Percent, about: t("Divides contacts by percent") },
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
  "BRANCH",
  "RANDOM_SPLIT",
  "UPDATE_CONTACT",
  "WEBHOOK",
  "EXIT",
] as const satisfies readonly AddableType[];

const FIXED_NAMES: ReadonlyMap<string, string> = new Map([
  ["yes", t("Yes")],
  ["no", t("No")],
  ["event", t("Event happened")],
  ["timeout", t("Timed out")],
]);

/** Returns the name of a branch as people read it. */
export function branchName(type: StepType, branch: string): string {
  if (type === "RANDOM_SPLIT") return branch;
  if (type === "BRANCH") return branch === ELSE ? t("Everyone else") : branch;
  return FIXED_NAMES.get(branch) ?? branch;
}

/** Returns the label of a way out of a step, with the percent of a share. Null for a step without branches. */
export function wayName(
  { type, config }: Pick<Step, "type" | "config">,
  branch: string | null,
): string | null {
  if (branch === null) return null;
  const shares = type === "RANDOM_SPLIT" ? (config as StepConfig<"RANDOM_SPLIT">).shares : [];
  const share = shares.find(({ name }) => name === branch);
  return share === undefined ? branchName(type, branch) : `${branch} · ${shareText(share.percent)}`;
}

/** Returns a percent with all of its decimals, which `formatPercent` rounds. */
export function shareText(percent: number): string {
  return PERCENT.format(percent / 100);
}

/** Returns the step's own name, or the translated name of its type. */
export function stepName({ type, name }: Pick<Step, "type" | "name">): string {
  return name === STEP_NAMES[type] ? STEP_KINDS[type].name : name;
}
