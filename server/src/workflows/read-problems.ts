// Loads the templates, senders, variables and segments that the check in problems.ts needs.
import { LIMITS } from "@postloft/contract/limits/limits.ts";
import type { Graph } from "@postloft/contract/workflows/graph.ts";
import { dateKeyOf } from "@postloft/contract/workflows/date-trigger.ts";
import type { WorkflowProblem } from "@postloft/contract/workflows/problems.ts";
import { withValues } from "@postloft/contract/translation.ts";
import type { Database, Tx } from "../platform/database/database.ts";
import { pairUp } from "../platform/pair-up.ts";
import { invalidField } from "../platform/app-error.ts";
import { readDefaultSenders } from "../projects/default-senders.ts";
import { findFieldType, hasDates } from "../contacts/fields/fields.ts";
import { unknownVariablesOf } from "../templates/unknown-variables.ts";
import { dateEventOf } from "./self-triggering.ts";
import { findSelfTriggering } from "./find-self-triggering.ts";
import type { DateFieldState } from "./problems-of-dates.ts";
import { problemsOf, reachedSteps, type Context, type TriggerToCheck } from "./problems.ts";
import {
  findKnownSegments,
  findKnownTemplates,
  findKnownVariants,
  lockSegments,
  lockTemplates,
  type KnownTemplate,
} from "./reference-queries.ts";
import type { WorkflowRow } from "./queries.ts";
import { segmentIdsOf, templateIdsOf } from "./references.ts";
import { listStepFailures } from "./executions/failure-queries.ts";
import { countSkippedEmails } from "./executions/public-key-queries.ts";
import { EXECUTION_VARIABLES, listEventKeys, readUnknownVariables } from "./read-step-variables.ts";
import { isTracked } from "./trigger.ts";

/** A workflow as it is stored, or as an edit would store it. */
export interface WorkflowToCheck {
  id: string;
  name: string;
  graph: Graph;
  allowReentry: boolean;
  trigger: TriggerToCheck;
}

export function toCheck(row: WorkflowRow, graph: Graph): WorkflowToCheck {
  const {
    id,
    name,
    allowReentry,
    triggerType: type,
    triggerConfig: config,
    confirmedProblems: confirmed,
  } = row;
  return { id, name, allowReentry, graph, trigger: { type, config, confirmed, event: row.triggerEvent } };
}

export async function readProblems(
  database: Database,
  projectId: string,
  workflow: WorkflowToCheck,
): Promise<WorkflowProblem[]> {
  const { graph, trigger } = workflow;
  const [found, loop] = await Promise.all([
    readExistingReferences(database, projectId, workflow),
    readLoop(database, projectId, workflow),
  ]);
  const most = LIMITS.skippedEmailsCounted.value + 1;
  const skippedEmails = await countSkippedEmails(database, projectId, workflow.id, most);
  const failures = await listStepFailures(database, projectId, workflow.id);
  const dateField = await readDateField(database, projectId, trigger);
  const { allowReentry } = workflow;
  return problemsOf(graph, trigger, { ...found, loop, skippedEmails, failures, dateField, allowReentry });
}

/**
 * Rejects an edit that brings an error into an enabled workflow. Errors that it had before are allowed, so that each can be fixed alone.
 * Locks what the edited workflow refers to until the end of the transaction, because deletions check the enabled workflows.
 * @param before null if the edit enables the workflow
 * @throws AppError VALIDATION_ERROR for `field`
 */
export async function refuseNewErrors(
  tx: Tx,
  projectId: string,
  { before, after }: { before: WorkflowToCheck | null; after: WorkflowToCheck },
  field: string,
): Promise<void> {
  await lockTemplates(tx, projectId, templateIdsOf(after.graph));
  await lockSegments(tx, projectId, segmentIdsOf(after.graph, after.trigger));
  const errors = await readErrors(tx, projectId, after);
  if (errors.length === 0) return;
  const known = new Set((before === null ? [] : await readErrors(tx, projectId, before)).map(keyOf));
  const added = errors.filter((error) => !known.has(keyOf(error)));
  if (added.length === 0) return;
  const message = added.map((error) => error.message).join(" ");
  const live = "The workflow is enabled. Correct this, or disable the workflow first.";
  throw invalidField(field, "custom", before === null ? message : `${message} ${live}`);
}

const keyOf = ({ code, stepId }: WorkflowProblem) => `${code} ${stepId}`;

async function readErrors(
  database: Database,
  projectId: string,
  workflow: WorkflowToCheck,
): Promise<WorkflowProblem[]> {
  const problems = await readProblems(database, projectId, workflow);
  return problems.filter(({ severity }) => severity === "error");
}

/**
 * Rejects a loop that the author has not confirmed.
 * @throws AppError VALIDATION_ERROR for `field`
 */
export async function refuseSelfTriggering(
  tx: Tx,
  projectId: string,
  workflow: WorkflowToCheck,
  field: string,
): Promise<void> {
  if (workflow.trigger.confirmed.includes("TRIGGERS_ITSELF")) return;
  const loop = await readLoop(tx, projectId, workflow);
  if (loop === null) return;
  const names = loop.map((name) => `"${name}"`).join(" → ");
  throw invalidField(
    field,
    "custom",
    withValues(
      'The workflow is enabled and would trigger itself endlessly ({names} → "{name}"). Disable it first, or confirm this with `confirmedProblems: ["TRIGGERS_ITSELF"]`.',
      { names, name: workflow.name },
    ),
  );
}

async function readDateField(
  database: Database,
  projectId: string,
  { type, config }: TriggerToCheck,
): Promise<DateFieldState | null> {
  const field = config["dateField"];
  if (type !== "DATE" || typeof field !== "string") return null;
  const key = dateKeyOf(field);
  const fieldType = await findFieldType(database, projectId, key);
  return {
    field,
    type: fieldType,
    hasDates: await hasDates(database, projectId, { key, type: fieldType }),
  };
}

function readLoop(
  database: Database,
  projectId: string,
  workflow: WorkflowToCheck,
): Promise<string[] | null> {
  const { id, name, graph, allowReentry, trigger } = workflow;
  const reached = reachedSteps(graph);
  const steps = graph.steps.filter((step) => reached.has(step.id));
  return findSelfTriggering(database, projectId, {
    id,
    name,
    steps,
    allowReentry,
    triggerEvent: trigger.type === "DATE" ? dateEventOf(trigger.config) : trigger.event,
  });
}

/** Returns the unknown variables of templates in all of their languages. */
async function readUnknownInTemplates(
  database: Database,
  projectId: string,
  templates: readonly KnownTemplate[],
  event: string | null,
): Promise<Array<{ templateId: string; locale: string | null; message: string }>> {
  const ids = templates.map(({ id }) => id);
  const most = LIMITS.problemsContentBytes.value;
  const variants = ids.length === 0 ? [] : await findKnownVariants(database, projectId, ids, most);
  const contents = [
    ...templates.map(({ id, subject, previewText, body }) => ({
      templateId: id,
      locale: null,
      subject,
      previewText,
      body: body ?? "",
    })),
    ...variants.map(({ body, ...variant }) => ({ ...variant, body: body ?? "" })),
  ];
  let warnings = await unknownVariablesOf(database, projectId, contents, EXECUTION_VARIABLES);
  if (warnings.some((found) => found.length > 0)) {
    const known = [...EXECUTION_VARIABLES, ...(await listEventKeys(database, projectId, event))];
    warnings = await unknownVariablesOf(database, projectId, contents, known);
  }
  return pairUp(contents, warnings).flatMap(([{ templateId, locale }, found]) =>
    found.map(({ message }) => ({ templateId, locale, message })),
  );
}

async function readExistingReferences(
  database: Database,
  projectId: string,
  { graph, trigger }: WorkflowToCheck,
): Promise<Omit<Context, "loop" | "skippedEmails" | "failures" | "dateField" | "allowReentry">> {
  const templateIds = templateIdsOf(graph);
  const templates =
    templateIds.length === 0
      ? []
      : await findKnownTemplates(database, projectId, templateIds, LIMITS.problemsContentBytes.value);
  const hasDefault =
    templates.some(({ fromAddress }) => fromAddress === null) &&
    (await readDefaultSenders(database, [projectId])).has(projectId);
  const unknown = await readUnknownInTemplates(database, projectId, templates, trigger.event);
  const segmentIds = segmentIdsOf(graph, trigger);
  const segments = segmentIds.length === 0 ? [] : await findKnownSegments(database, projectId, segmentIds);
  return {
    templates: new Map(
      templates.map(({ id, name, type, fromAddress }) => [
        id,
        {
          name,
          type,
          hasSender: fromAddress !== null || hasDefault,
          unknownVariables: unknown.filter(({ templateId }) => templateId === id),
        },
      ]),
    ),
    unknownVariables: await readUnknownVariables(database, projectId, graph, trigger.event),
    segments: new Map(segments.map((segment) => [segment.id, { isTracked: isTracked(segment) }])),
  };
}
