// The limits of workflow executions, and of the emails that workflows send because of public keys, which anyone can read.
import { limit, type Limit } from "./limit.ts";

export const WORKFLOW_LIMITS = {
  entriesPerDay: limit(
    100,
    "executions",
    "Executions of one workflow that events and segments can start for one contact within 24 hours. This ends endless loops.",
  ),
  dateGraceDays: limit(
    7,
    "days",
    "How late contacts still enter by the trigger DATE after an outage, or after the project was disabled.",
  ),
  executionSteps: limit(
    500,
    "steps",
    "Steps of one execution, counting each repetition in a loop; the next step fails the execution. A retry or skip allows the same number again.",
  ),
  stepBranches: limit(20, "branches", "Branches of a BRANCH besides `else`, and shares of a RANDOM_SPLIT."),
  stepVariables: limit(100, "variables", "Variables and blocks in the texts of one step of a workflow."),
  exitConditions: limit(10, "conditions", "Exit conditions of one workflow."),
  filledLength: limit(
    256_000,
    "characters",
    "The texts of a step after its variables are filled in; otherwise the step fails.",
  ),
  filledRounds: limit(
    1_000,
    "rounds",
    "Rounds of all `{{#each}}` loops in the texts of a step; otherwise the step fails.",
  ),
  executionsAtOnce: limit(
    10_000,
    "executions",
    "Executions in one call that retries or skips all failures at a step.",
  ),
  failuresGrouped: limit(
    10_000,
    "executions",
    "`GET /workflows/:id/failures` groups this many of the newest failed executions.",
  ),
  failureCauses: limit(50, "groups", "Groups in `GET /workflows/:id/failures`."),
  stepNoteLength: limit(2_000, "characters", "The note on a step of a workflow."),
  movedExecutionIds: limit(
    1_000,
    "executions",
    "Executions that a call to `POST /workflows/:id/moves` names by id.",
  ),
  publicKeyEmailsPerHour: limit(
    20,
    "emails",
    "Emails that workflows send to one contact within an hour because of events tracked with a public key; further emails are skipped. `PUBLIC_KEY_EMAILS_PER_HOUR` changes it.",
  ),
  publicKeyEmailsPerDay: limit(
    50,
    "emails",
    "The same limit for 24 hours. `PUBLIC_KEY_EMAILS_PER_DAY` changes it.",
  ),
  publicKeyFirstEmailsPerHour: limit(
    100,
    "emails",
    "First emails that workflows of a project send within an hour because of events tracked with a public key, to contacts that never asked for email. The limit is higher if three times the project's hourly average of the last 30 days exceeds it. `PUBLIC_KEY_FIRST_EMAILS_PER_HOUR` changes it.",
  ),
  recentExecutionsCounted: limit(
    100_000,
    "executions",
    "The list of workflows counts entries of the last 30 days among this many of the project's newest executions.",
  ),
  skippedEmailsCounted: limit(
    10_000,
    "emails",
    "The problem `EMAILS_SKIPPED` of a workflow counts skipped emails up to this number.",
  ),
} as const satisfies Record<string, Limit>;
