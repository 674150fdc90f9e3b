// Lists the texts of a step that may contain variables, and checks them when the step is saved. Pure.
import type { FieldError } from "@postloft/contract/errors.ts";
import { conditionsOf, type Filter } from "@postloft/contract/filters.ts";
import { LIMITS } from "@postloft/contract/limits/limits.ts";
import { withValues } from "@postloft/contract/translation.ts";
import type { ExitCondition } from "@postloft/contract/workflows/exit-conditions.ts";
import { filterOfCondition } from "@postloft/contract/workflows/condition.ts";
import type { GraphStep } from "@postloft/contract/workflows/graph.ts";
import type { WorkflowProblem } from "@postloft/contract/workflows/problems.ts";
import { countMustaches, hasVariables } from "../rendering/fill-text.ts";
import { checkTemplate } from "../rendering/template-syntax.ts";

export interface StepText {
  /** For example `config.headers.Authorization`. */
  field: string;
  text: string;
}

/** Returns the texts of a step that contain a variable. Encrypted texts of a stored step are missing. */
export function textsOf(step: GraphStep): StepText[] {
  return allTexts(step).filter(({ text }) => hasVariables(text));
}

function allTexts({ type, config }: GraphStep): StepText[] {
  switch (type) {
    case "WEBHOOK":
      return [
        { field: "config.url", text: config.url },
        ...textsIn(config.headers, "config.headers"),
        ...textsIn(config.body, "config.body"),
      ];
    case "UPDATE_CONTACT":
      return textsIn(config.updates, "config.updates");
    case "SEND_EMAIL":
      return textsIn(config.recipient?.customEmail, "config.recipient.customEmail");
    case "EXIT":
      return textsIn(config.reason, "config.reason");
    case "CONDITION":
      return textsOfFilter(filterOfCondition(config), "config");
    case "BRANCH":
      return config.branches.flatMap(({ filter }, at) =>
        textsOfFilter(filterOfCondition(filter), `config.branches.${at}.filter`),
      );
    case "WAIT_FOR_EVENT":
      return config.filter === undefined ? [] : textsOfFilter(config.filter, "config.filter");
    default:
      return [];
  }
}

/** Returns the texts of an exit condition that contain a variable. */
export function textsOfExit(condition: ExitCondition): StepText[] {
  const filter = condition.type === "EVENT" ? condition.filter : undefined;
  if (filter === undefined) return [];
  return textsOfFilter(filter, "filter").filter(({ text }) => hasVariables(text));
}

function textsOfFilter(filter: Filter, field: string): StepText[] {
  return conditionsOf(filter).flatMap(({ value }) =>
    [value].flat().flatMap((text) => (typeof text === "string" ? [{ field, text }] : [])),
  );
}

/** Returns all texts in JSON. The depth of JSON in requests is limited. */
function textsIn(value: unknown, field: string): StepText[] {
  if (typeof value === "string") return [{ field, text: value }];
  if (typeof value !== "object" || value === null) return [];
  return Object.entries(value).flatMap(([key, inner]) => textsIn(inner, `${field}.${key}`));
}

/** Matches the part of a URL up to the end of its host and port, if that part has no variable. */
const WRITTEN_ORIGIN = /^[^{]*\/\/[^{/?#]+(?:[/?#]|$)/u;

/** Returns errors in the texts of a step. */
export function faultsOfTexts(step: GraphStep): FieldError[] {
  return faultsIn(textsOf(step), "config");
}

/** Returns errors in texts that are filled in together. `whole` is the field of an error about all of them. */
export function faultsIn(texts: readonly StepText[], whole: string): FieldError[] {
  const faults = texts.flatMap(({ field, text }): FieldError[] => {
    const [problem] = checkTemplate(text);
    if (problem !== undefined) return [{ field, code: "custom", message: problem.message }];
    return field === "config.url" && !WRITTEN_ORIGIN.test(text)
      ? [
          {
            field,
            code: "custom",
            message:
              "Scheme, host and port must not contain a variable. Use variables in the path or the query.",
          },
        ]
      : [];
  });
  const { value: most } = LIMITS.stepVariables;
  const count = texts.reduce((sum, { text }) => sum + countMustaches(text), 0);
  return faults.length > 0 || count <= most
    ? faults
    : [
        {
          field: whole,
          code: "too_big",
          ...withValues("The texts of a step may have at most {most} variables.", { most }),
        },
      ];
}

/** Returns a problem for each variable of a step without a value. */
export function problemsOfVariables(
  { id: stepId, name }: GraphStep,
  unknown: readonly string[] = [],
): WorkflowProblem[] {
  return unknown.map((variable) => ({
    code: "UNKNOWN_VARIABLE",
    severity: "warning",
    stepId,
    message: `"${name}" uses the variable "${variable}", for which no contact and no event has a value.`,
  }));
}
