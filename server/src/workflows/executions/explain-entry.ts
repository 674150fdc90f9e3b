// Explains whether a contact would enter a workflow now, and which rule prevents it.
import type { RawBuilder, SqlBool } from "kysely";
import type { TriggerConfig } from "@postloft/contract/workflows/graph.ts";
import { contactFilterOf } from "@postloft/contract/workflows/exit-conditions.ts";
import { LIMITS } from "@postloft/contract/limits/limits.ts";
import { now } from "../../platform/clock.ts";
import type { Database } from "../../platform/database/database.ts";
import { AppError } from "../../platform/app-error.ts";
import { listEvents } from "../../events/events.ts";
import { contactExists } from "../../contacts/contacts.ts";
import { createFiller, FillError } from "../../rendering/fill-text.ts";
import { loadFilterContacts } from "../../segments/filters/load-contacts.ts";
import { loadSegmentsFor } from "../../segments/filters/load-segments.ts";
import { isAmong } from "../../contacts/matching-contacts.ts";
import { segmentRestriction } from "../../segments/segment-restriction.ts";
import { audienceOf, type Audience } from "../../campaigns/audience.ts";
import { explainDate } from "../dates/explain-date.ts";
import { countEntriesToday } from "./entry-queries.ts";
import type { Execution } from "./execution.ts";
import { requireWorkflow } from "./executions.ts";
import { variablesOf } from "./execution-variables.ts";
import { exitFiltersOf, exitReasonOf, type ExitFacts } from "./exit-conditions.ts";
import { countExecutions } from "./list-queries.ts";
import { newExecution, readVersion } from "./simulate.ts";
import { fits } from "./steps/wait-for-event.ts";

export interface EntryReason {
  rule: "enabled" | "trigger" | "segment" | "audience" | "reentry" | "active" | "limit" | "exit";
  holds: boolean;
  message: string;
}

type WorkflowRow = Awaited<ReturnType<typeof requireWorkflow>>;

/** @throws AppError WORKFLOW_NOT_FOUND, CONTACT_NOT_FOUND */
export async function explainEntry(
  database: Database,
  projectId: string,
  { workflowId, contactId }: { workflowId: string; contactId: string },
): Promise<{ wouldEnter: boolean; reasons: EntryReason[] }> {
  const workflow = await requireWorkflow(database, projectId, workflowId);
  if (!(await contactExists(database, projectId, contactId))) throw new AppError("CONTACT_NOT_FOUND");
  const reasons: EntryReason[] = [
    {
      rule: "enabled",
      holds: workflow.enabled,
      message: workflow.enabled ? "The workflow is enabled." : "The workflow is not enabled.",
    },
    ...(await triggerReasons(database, projectId, workflow, contactId)),
    ...(await entryReasons(database, projectId, workflow, contactId)),
    ...(await exitReasons(database, projectId, workflow, contactId)),
  ];
  return { wouldEnter: reasons.every(({ holds }) => holds), reasons };
}

async function triggerReasons(
  database: Database,
  projectId: string,
  workflow: WorkflowRow,
  contactId: string,
): Promise<EntryReason[]> {
  if (workflow.triggerType !== "DATE") return [await triggerReason(database, projectId, workflow, contactId)];
  const config = workflow.triggerConfig as Partial<TriggerConfig<"DATE">>;
  const { dateField, segmentId = null, audienceFilter = null } = config;
  if (dateField === undefined)
    return [{ rule: "trigger", holds: false, message: "The trigger has no field yet." }];
  const key = { workflowId: workflow.id, contactId, config: { ...config, dateField } };
  const reason: EntryReason = { rule: "trigger", ...(await explainDate(database, projectId, key)) };
  if (segmentId === null && audienceFilter === null) return [reason];
  const audienceType = segmentId === null ? "FILTERED" : "SEGMENT";
  const audience = { audienceType, segmentId, audienceFilter } as const;
  return [reason, await audienceReason(database, projectId, audience, contactId)];
}

async function audienceReason(
  database: Database,
  projectId: string,
  wanted: Audience,
  contactId: string,
): Promise<EntryReason> {
  const audience = await unlessDeleted(audienceOf(database, projectId, wanted));
  if (audience === null) return { rule: "audience", holds: false, message: SEGMENT_DELETED };
  const holds = await isAmong(database, projectId, audience, contactId);
  const message = `The contact is ${holds ? "" : "not "}in the audience of the trigger.`;
  return { rule: "audience", holds, message };
}

async function triggerReason(
  database: Database,
  projectId: string,
  { triggerType: type, triggerConfig: config, triggerEvent: event }: WorkflowRow,
  contactId: string,
): Promise<EntryReason> {
  if (type === "EVENT") return eventReason(database, projectId, contactId, config as TriggerConfig<"EVENT">);
  if (type === "SCHEDULE") {
    const { audienceType, segmentId = null, audienceFilter = null } = config as TriggerConfig<"SCHEDULE">;
    return audienceReason(database, projectId, { audienceType, segmentId, audienceFilter }, contactId);
  }
  if (type === "MANUAL")
    return {
      rule: "trigger",
      holds: true,
      message: "Contacts enter when someone starts the workflow for them.",
    };
  const { segmentId } = config as TriggerConfig<"SEGMENT_ENTRY">;
  const members = await unlessDeleted(segmentRestriction(database, projectId, "segmentId", segmentId));
  if (members === null) return { rule: "segment", holds: false, message: SEGMENT_DELETED };
  const isMember = await isAmong(database, projectId, members, contactId);
  const isEntry = type === "SEGMENT_ENTRY";
  return {
    rule: "segment",
    holds: isMember !== isEntry,
    message: `The contact enters with the event ${event ?? ""}. It is ${isMember ? "" : "not "}in the segment${
      isMember === isEntry ? `, and would have to ${isEntry ? "leave" : "enter"} it first` : ""
    }.`,
  };
}

const SEGMENT_DELETED = "The segment of the trigger was deleted.";

/** Returns the restriction of a trigger, or null if a segment of it was deleted. No other stored restriction can fail. */
async function unlessDeleted(restriction: Promise<RawBuilder<SqlBool>>): Promise<RawBuilder<SqlBool> | null> {
  return restriction.catch((error: unknown) => {
    if (error instanceof AppError) return null;
    throw error;
  });
}

async function eventReason(
  database: Database,
  projectId: string,
  contactId: string,
  { eventName: name, filter }: TriggerConfig<"EVENT">,
): Promise<EntryReason> {
  const { data } = await listEvents(database, projectId, { name, contactId }, { limit: 1, before: null });
  const [last] = data;
  const seen =
    last === undefined
      ? "The event was never tracked for this contact."
      : `The event was last tracked at ${last.createdAt}.`;
  if (filter === undefined || last === undefined)
    return {
      rule: "trigger",
      holds: true,
      message: `Contacts enter when the event "${name}" is tracked. ${seen}`,
    };
  const segments = await loadSegmentsFor(database, projectId, [filter]);
  const event = { data: (last.data ?? {}) as Record<string, unknown>, at: new Date(last.createdAt) };
  const holds = fits(filter, event, { segments }, now());
  const fitting = `Its data ${holds ? "matched" : "did not match"} the trigger's filter.`;
  return {
    rule: "trigger",
    holds,
    message: `Contacts enter when the event "${name}" is tracked. ${seen} ${fitting}`,
  };
}

async function entryReasons(
  database: Database,
  projectId: string,
  { id: workflowId, allowReentry: allowsReentry }: WorkflowRow,
  contactId: string,
): Promise<EntryReason[]> {
  const all = await countExecutions(database, projectId, { workflowId, contactId });
  if (!allowsReentry)
    return [
      {
        rule: "reentry",
        holds: all === 0,
        message:
          all === 0
            ? "The contact has never entered the workflow."
            : "The contact has entered the workflow before, and re-entry is not allowed.",
      },
    ];
  const [running, waiting] = [
    await countExecutions(database, projectId, { workflowId, contactId, status: "RUNNING" }),
    await countExecutions(database, projectId, { workflowId, contactId, status: "WAITING" }),
  ];
  const today =
    (await countEntriesToday(database, projectId, [{ workflowId, contactId }])).get(
      `${workflowId} ${contactId}`,
    ) ?? 0;
  const isFree = running + waiting === 0;
  const most = LIMITS.entriesPerDay.value;
  return [
    {
      rule: "active",
      holds: isFree,
      message: isFree ? "The contact is in no active execution." : "The contact is in an active execution.",
    },
    {
      rule: "limit",
      holds: today < most,
      message: `The contact entered ${today} times within 24 hours; events and segments can start it up to ${most} times.`,
    },
  ];
}

/** Returns whether an exit condition on the contact would end the execution at once. Events count from the entry, so none has happened. */
async function exitReasons(
  database: Database,
  projectId: string,
  workflow: WorkflowRow,
  contactId: string,
): Promise<EntryReason[]> {
  const { version, graph } = await readVersion(database, projectId, { workflowId: workflow.id });
  const exitConditions = graph.exitConditions.filter((one) => contactFilterOf(one) !== null);
  if (exitConditions.length === 0) return [];
  const filters = exitFiltersOf(exitConditions);
  const segments = await loadSegmentsFor(database, projectId, filters);
  const contacts = await loadFilterContacts(database, {
    projectId,
    contactIds: [contactId],
    filters,
    segments,
  });
  const contact = contacts.get(contactId.toLowerCase());
  if (contact === undefined) return [];
  const execution = newExecution({
    projectId,
    workflow,
    version,
    graph: { ...graph, exitConditions },
    contactId,
    context: {},
    startedAt: now(),
  });
  const reason = whyExit(execution, { contact, segments });
  return [
    {
      rule: "exit",
      holds: reason === null,
      message:
        reason === null
          ? "No exit condition on the contact holds."
          : `The contact would leave before the first step. ${reason}`,
    },
  ];
}

/** Returns why an execution would end or fail at its start, or null. */
function whyExit(
  execution: Execution,
  { contact, segments }: Pick<ExitFacts, "contact" | "segments">,
): string | null {
  const filler = createFiller(() => variablesOf(execution, contact));
  try {
    return exitReasonOf(execution, { contact, segments, events: [], filler, now: now() });
  } catch (error) {
    if (error instanceof FillError) return error.message;
    throw error;
  }
}
