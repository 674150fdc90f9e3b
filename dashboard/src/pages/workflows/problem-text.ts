// Describes the problems of a workflow.
import type { ProblemCode } from "@postloft/contract/workflows/problems.ts";
import { t } from "../../text/t.ts";

export const PROBLEMS: Record<ProblemCode, string> = {
  NO_TRIGGER_EVENT: t("Choose what starts the workflow."),
  EVENT_NEVER_HAPPENS: t("The event never happens because its name is reserved."),
  NO_AUDIENCE: t("Choose an audience for the schedule."),
  MISSING_SEGMENT: t("The segment was deleted, so no contact is in it."),
  UNTRACKED_SEGMENT: t("The segment isn't tracked. Turn on “Track membership”."),
  NO_DATES: t("No contact has a date in the field."),
  ONE_YEAR_ONLY: t("The trigger repeats each year, but each contact enters only once. Allow re-entry."),
  EXIT_ON_TRIGGER: t("The event that starts the workflow is also an exit condition."),
  GOAL_ON_TRIGGER: t("The event that starts the workflow is also its goal."),
  GOAL_BY_STEP: t("The step causes the event of the goal."),
  NO_STEPS: t("Add the first step."),
  UNREACHABLE_STEP: t("No path leads to this step."),
  NO_TEMPLATE: t("Choose a template."),
  MISSING_TEMPLATE: t("The template was deleted. Choose another one."),
  NO_SENDER: t("The template has no sender, and the project has no default sender."),
  UNKNOWN_VARIABLE: t("No contact has a value for a variable of the template."),
  LIST_MAIL_TO_CUSTOM: t("The template is for subscribers, but the step sends it to one fixed address."),
  DEAD_BRANCH: t("One branch is never taken."),
  MISSING_HEADER: t("A header has no value."),
  MISSING_URL_VALUE: t("A parameter of the URL has no value."),
  CREDENTIAL_IN_BODY: t(
    "The body seems to contain a credential, which isn't encrypted. Move it to a header.",
  ),
  ENDLESS_WAIT: t("The wait may never end, and nothing follows it."),
  TRIGGERS_ITSELF: t("A step causes the event that starts the workflow, so it could run without end."),
  FREQUENT_SCHEDULE: t("The schedule runs more than once a day for everyone."),
  EXECUTIONS_FAILED: t("The step failed for some contacts."),
  EMAILS_SKIPPED: t("Limits for public keys skipped emails in the last 24 hours."),
};

/** Problems whose message from the API names more than the step. */
export const WITH_DETAILS: ReadonlySet<ProblemCode> = new Set<ProblemCode>([
  "NO_DATES",
  "UNKNOWN_VARIABLE",
  "DEAD_BRANCH",
  "MISSING_HEADER",
  "MISSING_URL_VALUE",
  "CREDENTIAL_IN_BODY",
  "TRIGGERS_ITSELF",
  "EXECUTIONS_FAILED",
  "EMAILS_SKIPPED",
]);

/** Problems that may be intended. */
export const CONFIRMABLE: ReadonlySet<ProblemCode> = new Set<ProblemCode>([
  "TRIGGERS_ITSELF",
  "FREQUENT_SCHEDULE",
]);
