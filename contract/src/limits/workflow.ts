// The bounds of executions of workflows, and of the emails that public keys, which anyone can read, may cause through them.
import { limit, type Limit } from "./limit.ts";

export const WORKFLOW_LIMITS = {
  entriesPerDay: limit(
    100,
    "executions",
    "Of one workflow that one contact may start within 24 hours by events and segments: what goes round in circles ends here.",
  ),
  executionSteps: limit(
    500,
    "steps",
    "One execution may go through, each time through a loop counted; the next one fails it. Whoever retries or skips it lets it go through as many more.",
  ),
  executionsAtOnce: limit(10_000, "executions", "One call that retries or skips all that failed at a step."),
  publicKeyEmailsPerHour: limit(
    20,
    "emails",
    "Workflows send one contact within an hour because of events tracked with a public key; the rest is skipped. `PUBLIC_KEY_EMAILS_PER_HOUR` changes it.",
  ),
  publicKeyEmailsPerDay: limit(
    50,
    "emails",
    "The same within 24 hours. `PUBLIC_KEY_EMAILS_PER_DAY` changes it.",
  ),
  publicKeyFirstEmailsPerHour: limit(
    100,
    "emails",
    "First emails that workflows of a project send within an hour because of events tracked with a public key, to contacts that never asked for email; more if three times the project's hourly average of the last 30 days is higher. `PUBLIC_KEY_FIRST_EMAILS_PER_HOUR` changes it.",
  ),
  skippedEmailsCounted: limit(
    10_000,
    "emails",
    "The problem `EMAILS_SKIPPED` of a workflow counts skipped emails up to this number.",
  ),
} as const satisfies Record<string, Limit>;
