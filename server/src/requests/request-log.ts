// Logs API requests. They are collected in memory, written in batches, and never delay a request.
import { LIMITS } from "@postloft/contract/limits/limits.ts";
import { startLoop, type Loop } from "../platform/background/background.ts";
import { now } from "../platform/clock.ts";
import type { Database } from "../platform/database/database.ts";
import type { RespondedRequest } from "../platform/http/notes.ts";
import { isId, newId } from "../platform/ids.ts";
import type { Log } from "../platform/log.ts";
import type { Metrics } from "../platform/metrics.ts";
import { toPage, type Page, type PageRequest } from "../platform/http/page.ts";
import { AppError } from "../platform/app-error.ts";
import {
  deleteOldRequests,
  findRequestRow,
  insertRequests,
  listRequestRows,
  type ListedRequestRow,
  type RequestFilter,
  type RequestRow,
} from "./queries.ts";
import { cut, redactBody, redactPath, redactResponse } from "./redact.ts";

const EVERY_MS = 1_000;
/** Rows per insert. */
const BATCH_SIZE = 500;
/** Maximum of rows in memory. Further requests are skipped. */
const MAX_WAITING = 5_000;
/** Maximum of projects with a counter for the current second. */
const MAX_COUNTED = 10_000;
const SECOND_MS = 1_000;
/** Requests to the log itself are not logged. */
const OWN_ROUTES = "/requests";
/** Rows per delete. */
const SWEPT_AT_ONCE = 5_000;

interface Second {
  startMs: number;
  kept: number;
  keptFailures: number;
  leftOut: number;
}

export interface RequestLog {
  /** Logs a finished request of a key. Only checks a counter, and keeps at most `LIMITS.loggedRequests` per second and project. */
  note(request: RespondedRequest): void;
  /** Writes the waiting rows. */
  close(): Promise<void>;
}

export function createRequestLog(options: { database: Database; log: Log; metrics: Metrics }): RequestLog {
  const { database, log, metrics } = options;
  let waiting: RequestRow[] = [];
  const seconds = new Map<string, Second>();

  /**
   * Takes a slot in the project's current second. Failures have separate slots. Returns the number of requests skipped before, or null if
   * no slot is left.
   */
  function takeSlot(projectId: string, isFailure: boolean): number | null {
    const nowMs = performance.now();
    let second = seconds.get(projectId);
    if (second === undefined || nowMs - second.startMs >= SECOND_MS) {
      if (seconds.size >= MAX_COUNTED) seconds.clear();
      second = { startMs: nowMs, kept: 0, keptFailures: 0, leftOut: second?.leftOut ?? 0 };
      seconds.set(projectId, second);
    }
    const taken = isFailure ? second.keptFailures : second.kept;
    if (taken >= LIMITS.loggedRequests.value || waiting.length >= MAX_WAITING) {
      second.leftOut++;
      metrics.requestsLeftOut.inc();
      return null;
    }
    if (isFailure) second.keptFailures++;
    else second.kept++;
    const { leftOut } = second;
    second.leftOut = 0;
    return leftOut;
  }

  async function write(): Promise<void> {
    while (waiting.length > 0) {
      const batch = waiting.slice(0, BATCH_SIZE);
      await insertRequests(database, batch);
      waiting = waiting.slice(batch.length);
    }
  }

  const loop: Loop = startLoop({ name: "request log", runOnce: write, everyMs: EVERY_MS, log, metrics });
  return {
    note(request) {
      if (request.route.startsWith(OWN_ROUTES)) return;
      const leftOut = takeSlot(request.projectId, request.status >= 400);
      if (leftOut !== null) waiting.push(rowOf(request, leftOut));
    },
    async close() {
      await loop.stop();
      await write().catch((error: unknown) =>
        log.warn({ err: error, requests: waiting.length }, "failed to log the last requests"),
      );
    },
  };
}

function rowOf(request: RespondedRequest, leftOut: number): RequestRow {
  return {
    projectId: request.projectId,
    id: newId(),
    requestId: request.requestId,
    at: now(),
    method: request.method,
    path: redactPath(request.path, request.route),
    route: request.route,
    status: request.status,
    errorCode: request.errorCode,
    durationMs: Math.round(request.durationMs),
    key: request.key,
    ip: request.ip ?? null,
    userAgent: request.userAgent === undefined ? null : cut(request.userAgent),
    body: redactBody(request.body),
    bodyBytes: request.body.length,
    response: redactResponse(request.response),
    leftOut,
  };
}

function present(row: ListedRequestRow) {
  return {
    id: row.id,
    requestId: row.requestId,
    at: row.at.toISOString(),
    method: row.method,
    path: row.path,
    status: row.status,
    errorCode: row.errorCode,
    durationMs: row.durationMs,
    key: row.key,
    ip: row.ip,
    userAgent: row.userAgent,
    leftOut: row.leftOut,
  };
}

/** Lists the requests of a project, newest first. */
export async function listRequests(
  database: Database,
  projectId: string,
  filter: RequestFilter,
  page: PageRequest,
): Promise<Page<ReturnType<typeof present>>> {
  return toPage("requests", page, await listRequestRows(database, projectId, filter, page), present);
}

/** @throws AppError REQUEST_NOT_FOUND, also for a request of another project */
export async function getRequest(database: Database, projectId: string, id: string) {
  const row = isId(id) ? await findRequestRow(database, projectId, id) : undefined;
  if (row === undefined) throw new AppError("REQUEST_NOT_FOUND");
  return { ...present(row), body: row.body, bodyBytes: row.bodyBytes, response: row.response };
}

/** Deletes requests after their retention. */
export async function sweepRequests(database: Database): Promise<void> {
  while ((await deleteOldRequests(database, LIMITS.requestLogDays.value, SWEPT_AT_ONCE)) === SWEPT_AT_ONCE);
}
