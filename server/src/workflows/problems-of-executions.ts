// Finds the problems that executions of a workflow had. Pure.
import { LIMITS } from "@postloft/contract/limits/limits.ts";
import type { Graph } from "@postloft/contract/workflows/graph.ts";
import type { ProblemCode, WorkflowProblem } from "@postloft/contract/workflows/problems.ts";
import type { StepFailures } from "./executions/failure-queries.ts";

export function problem(
  code: ProblemCode,
  severity: WorkflowProblem["severity"],
  stepId: string | null,
  message: string,
): WorkflowProblem {
  return { code, severity, stepId, message };
}

export function problemsOfSkipped(skippedEmails: number, stepId: string | null): WorkflowProblem[] {
  if (skippedEmails === 0) return [];
  const most = LIMITS.skippedEmailsCounted.value;
  const count =
    skippedEmails > most
      ? `More than ${most} emails were`
      : skippedEmails === 1
        ? "1 email was"
        : `${skippedEmails} emails were`;
  return [
    problem(
      "EMAILS_SKIPPED",
      "warning",
      stepId,
      `${count} skipped in the last 24 hours because of events sent with a public key. Send events that must always lead to an email with the secret key from your server.`,
    ),
  ];
}

/** Reports failed executions. Those at a step that the current graph lacks name no step. */
export function problemsOfFailures({ steps }: Graph, failures: readonly StepFailures[]): WorkflowProblem[] {
  return failures.map(({ stepId, stepName, count, error, response }) => {
    const people = count === 1 ? "1 contact" : `${count} contacts`;
    const last = response === null || response === "" ? "" : ` Last response: ${response}`;
    const known = steps.some(({ id }) => id === stepId) ? stepId : null;
    return problem(
      "EXECUTIONS_FAILED",
      "warning",
      known,
      `"${stepName}" failed for ${people}: ${error}${last}`,
    );
  });
}
