// Describes the differences between two versions of a workflow in words, step by step. Pure.
import type { StepConfig, StepType } from "@postloft/contract/workflows/graph.ts";
import type { ApiResponse } from "../../../api/address.ts";
import type { api } from "../../../api/endpoints.ts";
import { plural, t } from "../../../text/t.ts";
import { sentenceOf } from "../../segments/condition-builder/condition-sentence.ts";
import { filterOfStored } from "../condition-form.ts";
import { stepName, wayName } from "../steps/step-kinds.ts";
import { stepText, type Names } from "../steps/step-text.ts";
import type { Step, Workflow } from "../workflow-queries.ts";

export type Comparison = ApiResponse<typeof api.workflows.compareVersions>;
type ComparedStep = Comparison["steps"]["added"][number];
type Config = Readonly<Record<string, unknown>>;

/** A difference. Null means that there was nothing before, or is nothing after. */
export interface Line {
  label: string;
  before: string | null;
  after: string | null;
}

export interface StepChange {
  kind: "added" | "removed" | "changed";
  step: Pick<ComparedStep, "id" | "name" | "type">;
  /** What an added or removed step does. */
  text: string | null;
  lines: Line[];
}

export interface Words {
  names: Names;
  workflow: Pick<Workflow, "triggerType" | "triggerConfig">;
}

/** Returns the changed steps in reading order: changed, added, removed. Moving a step on the canvas is no change. */
export function stepChangesOf({ steps }: Comparison, words: Words): StepChange[] {
  const whole = (kind: "added" | "removed") => (step: ComparedStep) => ({
    kind,
    step,
    text: stepText(step, words.workflow, words.names),
    lines: [],
  });
  const changed = steps.changed.map(({ before, after, fields }) => ({
    kind: "changed" as const,
    step: after,
    text: null,
    lines: linesOf(before, after, fields, words),
  }));
  return [
    ...changed.filter(({ lines }) => lines.length > 0),
    ...steps.added.map(whole("added")),
    ...steps.removed.map(whole("removed")),
  ];
}

function linesOf(before: ComparedStep, after: ComparedStep, fields: readonly string[], words: Words): Line[] {
  const own = [
    { label: t("Name"), before: stepName(before), after: stepName(after) },
    { label: t("Note"), before: before.note, after: after.note },
  ].filter(differs);
  if (!fields.includes("config")) return own;
  const config = configLines(before, after, words).filter(differs);
  // Credentials are masked in both versions.
  const hidden = { label: t("A stored secret changed"), before: null, after: null };
  return [...own, ...(config.length === 0 ? [hidden] : config)];
}

const differs = ({ before, after }: Line) => before !== after;

/** Steps whose sentence says everything about them. */
const IN_A_SENTENCE: ReadonlySet<StepType> = new Set([
  "SEND_EMAIL",
  "DELAY",
  "CONDITION",
  "RANDOM_SPLIT",
  "EXIT",
  "WAIT_FOR_EVENT",
]);

function configLines(before: ComparedStep, after: ComparedStep, words: Words): Line[] {
  const { type } = after;
  const [old, young]: [Config, Config] = [before.config, after.config];
  const textOf = (step: ComparedStep) => stepText(step, words.workflow, words.names);
  const sentence = { label: t("Settings of the step"), before: textOf(before), after: textOf(after) };
  if (type === "BRANCH") return branchLines(old, young, words.names);
  if (!IN_A_SENTENCE.has(type)) return valueLines(old, young);
  const filterOf = ({ filter }: Config) =>
    filterText(type === "WAIT_FOR_EVENT" ? filter : undefined, words.names);
  return [
    sentence,
    { label: t("Filter"), before: filterOf(old), after: filterOf(young) },
    ...(sentence.before === sentence.after ? valueLines(old, young) : []),
  ];
}

function filterText(filter: unknown, { fields }: Names): string | null {
  return filter === undefined ? null : sentenceOf(filterOfStored(filter as Config), fields);
}

function branchLines(before: Config, after: Config, names: Names): Line[] {
  const branchesOf = (config: Config) => (config as StepConfig<"BRANCH">).branches;
  const [old, young] = [branchesOf(before), branchesOf(after)];
  const textOf = (branches: typeof old, name: string) =>
    filterText(branches.find((one) => one.name === name)?.filter, names);
  const order = (branches: typeof old) => branches.map(({ name }) => name).join(" · ");
  const all = [...new Set([...old, ...young].map(({ name }) => name))];
  return [
    { label: t("Branches"), before: order(old), after: order(young) },
    ...all.map((name) => ({ label: name, before: textOf(old, name), after: textOf(young, name) })),
  ];
}

const KEYS: Readonly<Record<string, string>> = {
  url: t("URL"),
  method: t("Method"),
  headers: t("Headers"),
  body: t("Body"),
  updates: t("Fields"),
  subscriptionAction: t("Subscription"),
  templateId: t("Template"),
};

/** Returns a line for each value of the configuration, and of the objects in it. */
function valueLines(before: Config, after: Config): Line[] {
  const [old, young] = [valuesOf(before), valuesOf(after)];
  const labels = [...new Set([...old.keys(), ...young.keys()])];
  return labels.map((label) => ({ label, before: old.get(label) ?? null, after: young.get(label) ?? null }));
}

function valuesOf(config: Config): Map<string, string> {
  const values = Object.entries(config).flatMap(([key, value]): Array<[string, string]> => {
    const label = KEYS[key] ?? key;
    if (typeof value !== "object" || value === null || Array.isArray(value)) return [[label, written(value)]];
    return Object.entries(value).map(([name, one]) => [`${label}: ${name}`, written(one)]);
  });
  return new Map(values);
}

const written = (value: unknown) => (typeof value === "string" ? value : (JSON.stringify(value) ?? ""));

/** Returns the ways that lead to another step than before. @param steps of both versions */
export function wayChangesOf(
  { transitions }: Comparison,
  steps: ReadonlyMap<string, Pick<Step, "name" | "type" | "config">>,
  isLeft: (id: string) => boolean,
): Line[] {
  const { added, removed, changed } = transitions;
  const targets = (list: ReadonlyArray<(typeof added)[number]>) =>
    new Map(list.map((one) => [`${one.fromStepId} ${one.branch ?? ""}`, one]));
  const old = targets([...removed, ...changed.map(({ before }) => before)]);
  const young = targets([...added, ...changed.map(({ after }) => after)]);
  const nameOf = (id: string | undefined) => {
    const step = id === undefined ? undefined : steps.get(id);
    return step === undefined ? t("End of the path") : stepName(step);
  };
  return [...new Set([...old.keys(), ...young.keys()])].flatMap((key) => {
    const way = young.get(key) ?? old.get(key);
    const from = way === undefined ? undefined : steps.get(way.fromStepId);
    if (way === undefined || from === undefined || isLeft(way.fromStepId)) return [];
    const [before, after] = [nameOf(old.get(key)?.toStepId), nameOf(young.get(key)?.toStepId)];
    const branch = wayName(from, way.branch);
    const step = stepName(from);
    const label =
      branch === null ? t("After “{step}”", { step }) : t("After “{step}”, {branch}", { step, branch });
    return before === after ? [] : [{ label, before, after }];
  });
}

/** Returns the changes of the exit conditions and the goal. */
export function settingChangesOf({ exitConditions, goal }: Comparison, names: Names): Line[] {
  const exits = (list: NonNullable<typeof exitConditions>["before"]) =>
    list.length === 0 ? null : list.map((one) => exitText(one, names)).join(" · ");
  return [
    ...(exitConditions === null
      ? []
      : [
          {
            label: t("Exit conditions"),
            before: exits(exitConditions.before),
            after: exits(exitConditions.after),
          },
        ]),
    ...(goal === null
      ? []
      : [{ label: t("Goal"), before: goalText(goal.before, names), after: goalText(goal.after, names) }]),
  ];
}

type Exit = NonNullable<Comparison["exitConditions"]>["before"][number];

function exitText({ type, eventName = "", segmentId = "", filter }: Exit, names: Names): string {
  const where = filterText(filter, names);
  if (type === "FILTER") return where ?? "";
  if (type === "SEGMENT")
    return t("Not in “{segment}”", { segment: names.segments.get(segmentId) ?? segmentId });
  const event = t("When “{event}” happens", { event: eventName });
  return where === null ? event : `${event} (${where})`;
}

function goalText(goal: NonNullable<Comparison["goal"]>["before"], names: Names): string | null {
  if (goal === null) return null;
  const { eventName: event, days, filter } = goal;
  const where = filterText(filter, names);
  const text = plural(days, "“{event}” within {n} day", "“{event}” within {n} days", { event });
  return where === null ? text : `${text} (${where})`;
}
