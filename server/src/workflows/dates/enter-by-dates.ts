// Lets contacts enter workflows with the trigger DATE at their times, by the database's clock.
import { LIMITS } from "@postloft/contract/limits/limits.ts";
import type { TriggerConfig } from "@postloft/contract/workflows/graph.ts";
import { startLoop, type Loop } from "../../platform/background/background.ts";
import { AppError } from "../../platform/app-error.ts";
import { transaction, type Database, type Tx } from "../../platform/database/database.ts";
import type { Log } from "../../platform/log.ts";
import type { Metrics } from "../../platform/metrics.ts";
import { audienceOf } from "../../campaigns/audience.ts";
import { enterWorkflows, readEnterable, type Enterable } from "../executions/enter.ts";
import {
  claimDueDates,
  deleteDates,
  findMatching,
  listDatedWorkflowIds,
  listProjectsWithDueDates,
  lockValuesUnlessLocked,
  upsertDates,
  type DateRow,
  type DueDateRow,
} from "./date-queries.ts";
import { isEntryOf, justBefore } from "./follow-dates.ts";
import { contextOf, dateKeysOf, nextDateEntry, type DateEntry } from "./times-at-dates.ts";

const POLL_MS = 5_000;
const BATCH_SIZE = 500;
const GRACE_MS = LIMITS.dateGraceDays.value * 86_400_000;

/** A due row with its workflow and the values of its contact. */
interface Due {
  row: DueDateRow;
  values: Readonly<Record<string, unknown>>;
  workflow: Enterable;
  config: TriggerConfig<"DATE">;
}

/**
 * Lets a batch of due contacts enter, and stores their next times.
 * @returns whether there may be more
 */
export async function enterByDates(tx: Tx, projectId: string): Promise<boolean> {
  // Workflows are locked before their rows, as in the deletion of a workflow.
  const ids = await listDatedWorkflowIds(tx, projectId);
  const dated = new Map(
    (ids.length === 0 ? [] : await readEnterable(tx, projectId, { ids })).map((workflow) => [
      workflow.id,
      { workflow, config: workflow.triggerConfig as TriggerConfig<"DATE"> },
    ]),
  );
  const rows = await claimDueDates(tx, projectId, BATCH_SIZE);
  if (rows.length === 0) return false;
  const { due, former } = await readDue(tx, projectId, { rows, dated });
  await enter(tx, projectId, due);
  const next = due.map((one) => [one.row, nextRowOf(one)] as const);
  const moved = next.flatMap(([, row]) => row ?? []);
  const ended = [...former, ...next.flatMap(([row, later]) => (later === null ? [row] : []))];
  if (moved.length > 0) await upsertDates(tx, projectId, moved);
  if (ended.length > 0) await deleteDates(tx, projectId, ended);
  return rows.length === BATCH_SIZE && moved.length + ended.length > 0;
}

type Dated = Pick<Due, "workflow" | "config">;

/** Returns the due rows with their workflows and contacts, and the rows of earlier triggers, which start nothing. */
async function readDue(
  tx: Tx,
  projectId: string,
  { rows, dated }: { rows: readonly DueDateRow[]; dated: ReadonlyMap<string, Dated> },
): Promise<{ due: Due[]; former: DueDateRow[] }> {
  const keys = dateKeysOf([...dated.values()].map(({ config }) => config));
  const contactIds = rows.map(({ contactId }) => contactId);
  const values = await lockValuesUnlessLocked(tx, projectId, keys, contactIds);
  const due: Due[] = [];
  const former: DueDateRow[] = [];
  for (const row of rows) {
    const found = dated.get(row.workflowId);
    const ofContact = values.get(row.contactId);
    if (found?.workflow.datesSince?.getTime() !== row.since.getTime()) former.push(row);
    else if (ofContact !== undefined) due.push({ row, values: ofContact, ...found });
  }
  return { due, former };
}

/** Returns the row for the next year of a yearly trigger, or null if there is no later time. */
function nextRowOf({ row, config, values }: Due): DateRow | null {
  const next = nextDateEntry(config, values, row.now);
  if (typeof next === "string") return null;
  const { workflowId, contactId, since, fromPublicKey } = row;
  return { workflowId, contactId, occursAt: next.occursAt, dueAt: next.dueAt, since, fromPublicKey };
}

/** Returns the time of a row if the contact's values still lead to it. Otherwise an outbox event is about to move the row. */
function entryOf({ row, config, values }: Due): DateEntry | null {
  if (row.now.getTime() - row.dueAt.getTime() > GRACE_MS) return null;
  const entry = nextDateEntry(config, values, justBefore(row.dueAt));
  return typeof entry !== "string" && isEntryOf(entry, row) ? entry : null;
}

async function enter(tx: Tx, projectId: string, due: readonly Due[]): Promise<void> {
  for (const [workflow, ofWorkflow] of Map.groupBy(due, (one) => one.workflow)) {
    const members = await readAudience(tx, projectId, ofWorkflow);
    const entries = ofWorkflow.flatMap((one) => {
      const entry = entryOf(one);
      const { contactId, fromPublicKey } = one.row;
      if (entry === null || !members.has(contactId)) return [];
      const { occursAt, dueAt: at } = entry;
      return [{ workflow, contactId, context: contextOf(entry), at, occursAt, fromPublicKey }];
    });
    if (entries.length > 0) await enterWorkflows(tx, projectId, entries, { bounded: true });
  }
}

/** Returns the contacts in the audience of a workflow. No contact is in a deleted segment. */
async function readAudience(tx: Tx, projectId: string, due: readonly Due[]): Promise<Set<string>> {
  const contactIds = due.map(({ row }) => row.contactId);
  const [first] = due;
  const { segmentId = null, audienceFilter = null } = first?.config ?? {};
  if (segmentId === null && audienceFilter === null) return new Set(contactIds);
  const audienceType = segmentId === null ? "FILTERED" : "SEGMENT";
  try {
    const matches = await audienceOf(tx, projectId, { audienceType, segmentId, audienceFilter });
    return await findMatching(tx, projectId, contactIds, matches);
  } catch (error) {
    if (error instanceof AppError && error.retryAfterSeconds === null) return new Set();
    throw error;
  }
}

/** Lets all due contacts enter. Used before a rollback is recorded, so that their executions are held with the others. */
export async function enterAllByDates(tx: Tx): Promise<void> {
  for (const projectId of await listProjectsWithDueDates(tx)) while (await enterByDates(tx, projectId));
}

/** Lets due contacts enter, one batch of each project in turn, until it is stopped. */
export function startDates(options: { database: Database; log: Log; metrics: Metrics }): Loop {
  const { database, log, metrics } = options;

  /** An error stops only this project. */
  async function turn(projectId: string): Promise<boolean> {
    try {
      return await transaction(database, (tx) => enterByDates(tx, projectId));
    } catch (error) {
      log.warn({ err: error, projectId }, "dates of workflows of a project failed, retrying");
      return false;
    }
  }

  async function runOnce(signal: AbortSignal): Promise<number> {
    let hasMore = false;
    for (const projectId of await listProjectsWithDueDates(database)) {
      if (signal.aborted) return 0;
      hasMore = (await turn(projectId)) || hasMore;
    }
    return hasMore ? 0 : POLL_MS;
  }

  return startLoop({ name: "workflow dates", runOnce, everyMs: POLL_MS, log, metrics });
}
