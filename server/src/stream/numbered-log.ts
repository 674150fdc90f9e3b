// The numbered events of a project: recording, reading, redaction and retention (docs/decisions/0128-event-log.md).
import type * as contract from "@postloft/contract/event-stream.ts";
import { EVENT_VERSION } from "@postloft/contract/event-stream.ts";
import { LIMITS } from "@postloft/contract/limits/limits.ts";
import { withValues } from "@postloft/contract/translation.ts";
import type { z } from "zod";
import { invalidField } from "../platform/app-error.ts";
import { transaction, type Database, type Tx } from "../platform/database/database.ts";
import { fittingLimit } from "../platform/http/page.ts";
import { EVERY_EVENT, subscribeToEvents, type Subscriber } from "../reactions/reactions.ts";
import type { Dependents } from "../contacts/contacts.ts";
import {
  deleteExpiredLog,
  findStream,
  insertStream,
  listLogRows,
  listProjectsToExpire,
  redactLogOf,
  type LogRow,
} from "./log-queries.ts";

export const SUBSCRIBER: Subscriber = "stream";
const DELETED_AT_ONCE = 5_000;
/** Deletions of one project per sweep. The next sweep continues. */
const MAX_DELETIONS = 200;

type NumberedEvent = z.output<typeof contract.numberedEvent>;
type StreamPage = z.output<(typeof contract.streamEvents)["responses"][200]>;

/** Starts recording the events of a project. Does nothing if it has started or the project is disabled. */
export async function startRecording(tx: Tx, projectId: string): Promise<void> {
  if (await insertStream(tx, projectId))
    await subscribeToEvents(tx, { projectId, subscriber: SUBSCRIBER }, async () => [EVERY_EVENT]);
}

/** Returns the first kept and the last number of a project, and starts recording if it has not started. */
async function openStream(
  database: Database,
  projectId: string,
): Promise<{ firstNumber: number; lastNumber: number }> {
  const found = await findStream(database, projectId);
  if (found !== undefined) return found;
  await transaction(database, (tx) => startRecording(tx, projectId));
  return { firstNumber: 1, lastNumber: 0 };
}

/**
 * Throws if an event above `after` was deleted by age.
 * @throws AppError VALIDATION_ERROR that names the first number
 */
export function requireKept(after: number, { firstNumber }: { firstNumber: number }): void {
  if (after >= firstNumber - 1) return;
  throw invalidField(
    "after",
    "too_small",
    withValues(
      "Events are kept for {days} days, and the first one kept has number {first}. Use {least} to read from there.",
      { days: LIMITS.eventLogDays.value, first: firstNumber, least: firstNumber - 1 },
    ),
  );
}

/**
 * Returns the events above a number, oldest first.
 * @throws AppError VALIDATION_ERROR if the next event was deleted by age
 */
export async function readStream(
  database: Database,
  projectId: string,
  {
    after,
    limit = LIMITS.eventStreamPageDefault.value,
  }: { after?: number | undefined; limit?: number | undefined },
): Promise<StreamPage> {
  const stream = await openStream(database, projectId);
  const from = after ?? stream.firstNumber - 1;
  requireKept(from, stream);
  const rows = await listLogRows(database, projectId, { after: from, limit });
  const shown = rows.slice(0, fittingLimit(limit, rows));
  return {
    events: shown.map((row) => presentEvent(projectId, row, row.number - 1)),
    firstNumber: stream.firstNumber,
    lastNumber: Math.max(stream.lastNumber, shown.at(-1)?.number ?? 0),
    hasMore: shown.length < rows.length,
  };
}

/** Returns the payload of an event for a consumer that received `previous` before it. */
export function presentEvent(projectId: string, row: LogRow, previous: number): NumberedEvent {
  return {
    id: row.id,
    type: row.type,
    version: EVENT_VERSION,
    number: row.number,
    previous,
    createdAt: row.createdAt.toISOString(),
    project: projectId,
    redacted: row.data === null,
    data: row.data as NumberedEvent["data"],
  };
}

/** Redacts the events of deleted contacts. Numbering locks contacts, so no event is added without being seen here. */
export const loggedEvents: Dependents = { lock: async () => undefined, end: redactLogOf };

/** Deletes events older than the retention in bounded steps. */
export async function sweepEventLog(database: Database): Promise<void> {
  const days = LIMITS.eventLogDays.value;
  for (const projectId of await listProjectsToExpire(database, days))
    for (let step = 0; step < MAX_DELETIONS; step++) {
      const deleted = await transaction(database, (tx) =>
        deleteExpiredLog(tx, projectId, { days, limit: DELETED_AT_ONCE }),
      );
      if (deleted < DELETED_AT_ONCE) break;
    }
}
