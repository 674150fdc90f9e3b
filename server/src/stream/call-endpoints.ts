// Calls webhook endpoints with the events they wait for, under a lease, with limited concurrency and fairly between endpoints. No transaction is
// open during a call (docs/decisions/0129-event-deliveries.md).
import { LIMITS } from "@postloft/contract/limits/limits.ts";
import { recordedReason } from "@postloft/contract/recorded-reasons.ts";
import { retryUntilDone, startLoop, type Loop } from "../platform/background/background.ts";
import { nowMs } from "../platform/clock.ts";
import type { Sealer } from "../platform/crypto.ts";
import { asUnavailable, transaction, type Database } from "../platform/database/database.ts";
import { AppError } from "../platform/app-error.ts";
import { newId } from "../platform/ids.ts";
import type { Log } from "../platform/log.ts";
import type { Metrics } from "../platform/metrics.ts";
import type { CallWebhook, WebhookAttempt } from "../webhooks/call-webhook.ts";
import { sharePlaces, type PlaceRules } from "../webhooks/rules.ts";
import {
  claimDeliveries,
  listBusyEndpoints,
  updateAttempt,
  type BusyEndpoint,
  type ClaimedDelivery,
  type DeliveryResult,
} from "./delivery-queries.ts";
import { disableIfFailing } from "./disable-endpoints.ts";
import { openEndpoint, type MakeRequest } from "./endpoints.ts";
import { presentEvent } from "./numbered-log.ts";
import { prepareDeliveries } from "./prepare-deliveries.ts";
import { retryWait } from "./rules.ts";

export interface DeliveryOptions {
  database: Database;
  sealer: Sealer;
  call: CallWebhook;
  /** The address of the installation, for links in emails. */
  baseUrl: () => string;
  log: Log;
  metrics: Metrics;
}

const POLL_MS = 5_000;
/** Much longer than an attempt and its recording. Deliveries of a crashed process are then made again. */
const LEASE_SECONDS = 60;
const PLACES: PlaceRules = { most: LIMITS.endpointCalls.value, kept: LIMITS.eventCallsKept.value };
const RECORDING_MS = 30_000;

/** Delivers events until it is stopped, which waits for running calls (10 s). Any number of processes may run it. */
// oxlint-disable-next-line max-lines-per-function -- the inner functions share its state
export function startDeliveringEvents(options: DeliveryOptions): Loop {
  const { database, sealer, log, metrics } = options;
  const running = new Map<string, number>();
  const inFlight = new Set<Promise<void>>();
  /** The last turn of each endpoint. The endpoint that waited longest comes first. */
  const lastTurns = new Map<string, number>();
  /** Endpoints whose last claim was full. They have enough deliveries, so more are prepared later. */
  const supplied = new Set<string>();
  let turns = 0;

  function begin(endpoint: BusyEndpoint, work: Promise<void>): void {
    running.set(endpoint.id, (running.get(endpoint.id) ?? 0) + 1);
    const ended = work
      .catch((error: unknown) => {
        log.error(
          { err: error, projectId: endpoint.projectId, endpointId: endpoint.id },
          "failed to record a delivery",
        );
      })
      .finally(() => {
        inFlight.delete(ended);
        const left = (running.get(endpoint.id) ?? 1) - 1;
        if (left === 0) running.delete(endpoint.id);
        else running.set(endpoint.id, left);
        loop.wake();
      });
    inFlight.add(ended);
  }

  /** Claims deliveries and begins their calls. Returns how many calls. */
  async function claimOnce(endpoint: BusyEndpoint, calls: number): Promise<number> {
    const claimId = newId();
    const claimed = await claimDeliveries(database, endpoint, {
      claimId,
      calls,
      leaseSeconds: LEASE_SECONDS,
      mostBytes: LIMITS.eventBatchBytes.value,
    });
    if (claimed.length === 0) return 0;
    const request = await openOrNull(database, sealer, endpoint);
    const made = endpoint.batchSize > 1 ? [claimed] : claimed.map((delivery) => [delivery]);
    for (const deliveries of made)
      begin(
        endpoint,
        attemptOnce(options, endpoint, deliveries, request).then((tried) =>
          recordResult(options, resultOf(endpoint, deliveries, claimId, tried)),
        ),
      );
    return made.length;
  }

  async function claimFor(endpoint: BusyEndpoint, calls: number): Promise<void> {
    lastTurns.set(endpoint.id, ++turns);
    let left = calls;
    let begun = 1;
    // A batch takes one claim for each call, other events one for all calls.
    for (let claims = endpoint.batchSize > 1 ? calls : 1; claims > 0 && begun > 0; claims--) {
      begun = await claimOnce(endpoint, left);
      left -= begun;
    }
    if (left === 0) supplied.add(endpoint.id);
    else supplied.delete(endpoint.id);
  }

  async function runOnce(signal: AbortSignal): Promise<number> {
    const known = await listBusyEndpoints(database);
    const short = known.filter(
      (endpoint) => endpoint.hasNews && !(isDue(endpoint) && supplied.has(endpoint.id)),
    );
    let hasMore = false;
    for (const endpoint of short) hasMore = (await prepareAlone(options, endpoint)) || hasMore;
    const busy = short.length > 0 ? await listBusyEndpoints(database) : known;
    const byId = new Map(busy.map((endpoint) => [endpoint.id, endpoint]));
    for (const id of lastTurns.keys()) if (!byId.has(id)) lastTurns.delete(id);
    for (const id of supplied) if (!byId.has(id)) supplied.delete(id);
    const due = busy
      .filter(isDue)
      .map(({ id }) => ({ projectId: id, running: running.get(id) ?? 0 }))
      .toSorted((one, other) => (lastTurns.get(one.projectId) ?? 0) - (lastTurns.get(other.projectId) ?? 0));
    for (const [id, share] of sharePlaces(LIMITS.eventCalls.value - inFlight.size, due, PLACES)) {
      const endpoint = byId.get(id);
      if (signal.aborted || endpoint === undefined) break;
      const most =
        endpoint.ordered || endpoint.failingForSeconds !== null ? 1 - (running.get(id) ?? 0) : share;
      if (most > 0) await claimFor(endpoint, Math.min(share, most));
    }
    if (hasMore) return 0;
    // Deliveries without a free connection start when a call ends, which notifies the loop.
    const later = busy.flatMap(({ dueInMs }) => (dueInMs !== null && dueInMs > 0 ? [dueInMs] : []));
    return Math.max(1, Math.ceil(Math.min(POLL_MS, ...later)));
  }

  const loop = startLoop({
    name: "event deliveries",
    runOnce,
    everyMs: POLL_MS,
    notifiedBy: { database, topic: "stream" },
    log,
    metrics,
  });
  return {
    wake: () => loop.wake(),
    async stop() {
      await loop.stop();
      await Promise.all(inFlight);
    },
  };
}

const isDue = ({ dueInMs }: BusyEndpoint) => dueInMs !== null && dueInMs <= 0;

/** Prepares one batch for an endpoint. A failure is logged, because it must not delay other endpoints. */
async function prepareAlone({ database, log }: DeliveryOptions, endpoint: BusyEndpoint): Promise<boolean> {
  try {
    return await transaction(database, (tx) => prepareDeliveries(tx, endpoint));
  } catch (error) {
    const { projectId, id: endpointId } = endpoint;
    log.warn({ err: error, projectId, endpointId }, "failed to prepare events for an endpoint, retrying");
    return false;
  }
}

/** Returns null for an endpoint that is gone or whose secrets were encrypted under another application secret. */
async function openOrNull(database: Database, sealer: Sealer, endpoint: BusyEndpoint) {
  try {
    return await openEndpoint(database, sealer, endpoint.projectId, endpoint.id);
  } catch (error) {
    if (isUnavailable(error)) throw error;
    return null;
  }
}

async function attemptOnce(
  { call }: DeliveryOptions,
  { projectId }: BusyEndpoint,
  deliveries: readonly ClaimedDelivery[],
  request: MakeRequest | null,
): Promise<WebhookAttempt & { durationMs: number }> {
  if (request === null) {
    const error = recordedReason("endpointSecretUnreadable");
    return { status: null, body: null, isCut: false, askedSeconds: null, error, durationMs: 0 };
  }
  const from = nowMs();
  const events = deliveries.map(({ event, previous }) => presentEvent(projectId, event, previous));
  const tried = await call(request(events));
  return { ...tried, durationMs: Math.max(0, Math.round(nowMs() - from)) };
}

function resultOf(
  endpoint: BusyEndpoint,
  deliveries: readonly ClaimedDelivery[],
  claimId: string,
  tried: WebhookAttempt & { durationMs: number },
): DeliveryResult {
  return {
    projectId: endpoint.projectId,
    endpointId: endpoint.id,
    ids: deliveries.map(({ id }) => id),
    claimId,
    waitSeconds: retryWait(
      {
        ...endpoint,
        tries: Math.max(...deliveries.map(({ tries }) => tries)) + 1,
        askedSeconds: tried.askedSeconds,
      },
      Math.random(),
    ),
    status: tried.status,
    body: deliveries.length === 1 ? (tried.body?.slice(0, LIMITS.eventResponseLength.value) ?? null) : null,
    error: tried.error,
    durationMs: tried.durationMs,
  };
}

/** Returns whether the database is unavailable. Any other error is a bug. */
function isUnavailable(error: unknown): boolean {
  return asUnavailable(error) instanceof AppError;
}

/** Records a result and disables an endpoint that failed for too long. A repeat does no harm, because a claim is recorded once. */
async function recordResult(
  { database, metrics, baseUrl }: DeliveryOptions,
  result: DeliveryResult,
): Promise<void> {
  const record = async () =>
    transaction(database, async (tx) => {
      const [state] = await updateAttempt(tx, result, LIMITS.eventRetryDays.value);
      if (state !== undefined && state !== "done") await disableIfFailing(tx, result, baseUrl());
      return state;
    });
  const state = await retryUntilDone(record, { forMs: RECORDING_MS, mayRepeat: isUnavailable });
  if (state !== undefined) metrics.webhookTries.inc({ outcome: state === "waiting" ? "retry" : state });
}
