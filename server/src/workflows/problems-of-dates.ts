// Finds the problems of a trigger DATE. Pure.
import type { WorkflowProblem } from "@postloft/contract/workflows/problems.ts";
import { problem } from "./problems-of-executions.ts";

/** The field of a trigger DATE. */
export interface DateFieldState {
  field: string;
  /** The type of the field, or null if no contact has a value. */
  type: string | null;
  hasDates: boolean;
}

export function problemsOfDates(
  config: Readonly<Record<string, unknown>>,
  { dateField, allowReentry }: { dateField: DateFieldState | null; allowReentry: boolean },
  stepId: string | null,
): WorkflowProblem[] {
  if (dateField === null)
    return [
      problem(
        "NO_TRIGGER_EVENT",
        "error",
        stepId,
        "Choose the field with the date (`triggerConfig.dateField`).",
      ),
    ];
  const { field, type, hasDates } = dateField;
  return [
    ...(hasDates
      ? []
      : [
          problem(
            "NO_DATES",
            "warning",
            stepId,
            type === null
              ? `No contact has a value in \`${field}\`, so no contact enters.`
              : `The field \`${field}\` has the type ${type}. Only contacts with a date such as 2027-01-31 or 2027-01-31T09:00:00Z enter.`,
          ),
        ]),
    ...(config["repeat"] === "yearly" && !allowReentry
      ? [
          problem(
            "ONE_YEAR_ONLY",
            "warning",
            stepId,
            "The trigger repeats each year, but each contact enters only once. Allow re-entry.",
          ),
        ]
      : []),
  ];
}
