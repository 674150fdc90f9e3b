// Describes the steps and the end of a trial in words.
import type { FilterCondition, FilterScalar } from "@postloft/contract/filters.ts";
import type { StepConfig } from "@postloft/contract/workflows/graph.ts";
import { reasonText } from "../../../text/reason-text.ts";
import { locale, t } from "../../../text/t.ts";
import { formatInstant } from "../../../ui/format.ts";
import { skipTextOf } from "../../emails/skip-reason-text.ts";
import { formatValue, phraseOf } from "../../segments/condition-builder/condition-sentence.ts";
import { kindOf } from "../../segments/condition-builder/condition-tree.ts";
import { filterOfStored } from "../condition-form.ts";
import { stepText, type Names } from "../steps/step-text.ts";
import type { Step, Workflow } from "../workflow-queries.ts";
import type { StepRun, TrialResult } from "./use-trial.ts";

/** Inflects the unit, as in "in 3 Tagen". */
const RELATIVE = new Intl.RelativeTimeFormat(locale());
const UNITS = [
  ["day", 86_400_000],
  ["hour", 3_600_000],
  ["minute", 60_000],
] as const;
/** Shorter times are named in the next smaller unit, unless they are whole. */
const LEAST_ROUNDED = 2;

/** Returns a phrase such as "in 3 days". */
export function afterText(startedAt: string, at: string): string {
  const ms = Date.parse(at) - Date.parse(startedAt);
  const fits = ([, length]: (typeof UNITS)[number]) =>
    ms >= LEAST_ROUNDED * length || (ms >= length && ms % length === 0);
  const [unit, length] = UNITS.find(fits) ?? ["minute", 60_000];
  const amount = Math.round(ms / length);
  return amount === 0 ? t("Immediately") : RELATIVE.format(amount, unit);
}

/** A compared condition, and the contact's value if it adds anything. */
export interface Comparison {
  text: string;
  matches: boolean;
}

interface Compared {
  /** The branch of a BRANCH. */
  branch?: string;
  value?: FilterScalar | FilterScalar[] | null;
  seen: unknown;
  matches: boolean;
}

/** Returns the comparisons of a CONDITION or BRANCH in its words. */
export function comparisonsOf(run: Pick<StepRun, "output">, step: Step, { fields }: Names): Comparison[] {
  const compared = (run.output?.["compared"] ?? []) as Compared[];
  if (compared.length === 0) return [];
  return pairsOf(compared, step).flatMap(([{ value, seen, matches }, condition]) => {
    if (condition === undefined) return [];
    // The trial knows the values of variables.
    const filled = value === undefined || value === null ? condition : { ...condition, value };
    const text = phraseOf(filled, fields);
    const kind = kindOf(condition.field);
    const isValue = kind !== "event" && kind !== "segment" && kind !== "subscribed";
    if (!isValue || (matches && condition.operator === "equals")) return [{ text, matches }];
    return [
      {
        text: isMissing(seen)
          ? t("{condition} (no value)", { condition: text })
          : t("{condition} (value: {value})", { condition: text, value: formatValue(seen) }),
        matches,
      },
    ];
  });
}

/** Pairs each comparison with its written condition. */
function pairsOf(
  compared: readonly Compared[],
  { type, config }: Step,
): Array<[Compared, FilterCondition | undefined]> {
  if (type !== "BRANCH") {
    const written = conditionsOf(filterOfStored(config));
    return compared.map((one, at) => [one, written[at]]);
  }
  const { branches } = config as StepConfig<"BRANCH">;
  const byBranch = Map.groupBy(compared, ({ branch }) => branch ?? "");
  return [...byBranch].flatMap(([name, own]): Array<[Compared, FilterCondition | undefined]> => {
    const filter = branches.find((one) => one.name === name)?.filter;
    const written = filter === undefined ? [] : conditionsOf(filterOfStored(filter));
    // Only the last comparisons are recorded.
    const first = Math.max(0, Math.min(written.length, MOST_COMPARED) - own.length);
    return own.map((one, at) => [one, written[first + at]]);
  });
}

/** Comparisons that a step records, of each filter and in total. */
const MOST_COMPARED = 10;

const isMissing = (seen: unknown) => seen === null || seen === undefined;

function conditionsOf({ conditions }: ReturnType<typeof filterOfStored>): FilterCondition[] {
  return conditions.flatMap((part) => ("conditions" in part ? conditionsOf(part) : [part]));
}

/** Returns what a step would do, or null if its name, branch or email says it. */
export function runText(
  run: StepRun,
  step: Step,
  workflow: Pick<Workflow, "triggerType" | "triggerConfig">,
  names: Names,
): string | null {
  const { type, status, output, completedAt, waitsUntil } = run;
  if (status === "SKIPPED") return t("Skipped. {reason}", { reason: skipTextOf(output) });
  switch (type) {
    case "TRIGGER":
    case "UPDATE_CONTACT":
    case "EXIT":
      return stepText(step, workflow, names);
    case "DELAY": {
      const until = completedAt ?? waitsUntil;
      return until === null ? null : t("Waits until {when}", { when: formatInstant(until) });
    }
    case "WAIT_FOR_EVENT": {
      const { eventName } = step.config as StepConfig<"WAIT_FOR_EVENT">;
      return t("Waits for “{event}”", { event: eventName });
    }
    case "WEBHOOK": {
      const { url, method = "POST" } = step.config as StepConfig<"WEBHOOK">;
      const host = URL.parse(url)?.host ?? url;
      return t("Would send a {method} request to {host}. We assume that it succeeds.", { method, host });
    }
    case "RANDOM_SPLIT":
      return t("We assume this share. You can choose another one above.");
    case "SEND_EMAIL":
    case "CONDITION":
    case "BRANCH":
      return null;
  }
}

const textOf = (value: unknown) => (typeof value === "string" ? value : "");

/** Returns a remark of a step about its contact, such as a missing time zone, or null. */
export function remarkOf({ output }: StepRun): string | null {
  return reasonText(textOf(output?.["problem"])) || null;
}

/** Returns how the trial ends. */
export function endText({ status, exitReason, steps, endedAt }: TrialResult): string {
  const last = steps.at(-1);
  switch (status) {
    case "COMPLETED":
      return t("Completes the workflow");
    case "FAILED":
      return t("Fails. {reason}", { reason: reasonText(exitReason ?? "") });
    case "CANCELLED":
      return t("Canceled. {reason}", { reason: reasonText(exitReason ?? "") });
    case "EXITED":
      return last?.type === "EXIT" && last.status === "COMPLETED"
        ? t("Leaves the workflow")
        : t("Leaves the workflow. {reason}", { reason: reasonText(exitReason ?? "") });
    case "RUNNING":
    case "WAITING":
      return last?.type === "WAIT_FOR_EVENT" && endedAt === null && last.waitsUntil === null
        ? t("Waits until the event happens")
        : t("Continues later than we simulate");
  }
}
