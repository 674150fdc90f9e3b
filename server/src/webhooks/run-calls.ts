// Makes due calls under a lease, with limited concurrency and fairly between projects. Records each result together with its consequences.
// No transaction is open during a call.
import { LIMITS } from "@postloft/contract/limits/limits.ts";
import { recordedReason } from "@postloft/contract/recorded-reasons.ts";
import { retryUntilDone, startLoop, type Loop } from "../platform/background/background.ts";
import { now } from "../platform/clock.ts";
import type { Sealer } from "../platform/crypto.ts";
import { asUnavailable, transaction, type Database, type Tx } from "../platform/database/database.ts";
import { createGroupCommit } from "../platform/background/group-commit.ts";
import { newId } from "../platform/ids.ts";
import type { Log } from "../platform/log.ts";
import type { Metrics } from "../platform/metrics.ts";
import { AppError } from "../platform/app-error.ts";
import type { CallWebhook, WebhookAttempt } from "./call-webhook.ts";
import type { WebhookMethod } from "./check-webhook.ts";
import {
  claimCalls,
  listWaitingProjects,
  updateAttempts,
  type ClaimedCallRow,
  type EndedCallRow,
  type AttemptResult,
} from "./queries.ts";
import { readResponse, sharePlaces, waitAfter, type PlaceRules } from "./rules.ts";
import { createWebhookVault } from "./webhook-vault.ts";
import { signWebhook } from "./sign-webhook.ts";
import type { CallOwner } from "./webhook-calls.ts";
import type { WebhookSecrets } from "./webhook-secrets.ts";

export interface EndedCall {
  projectId: string;
  id: string;
  ownerKind: CallOwner;
  ownerId: string;
  ownerRef: string;
  /** `done` after a response with 2xx, `failed` after the last attempt failed. */
  state: "done" | "failed";
  tries: number;
  /** Status of the last attempt, or null without a response. */
  status: number | null;
  /** JSON that jsonb accepts, or else the text. Null without a response. At most 64 KB, and text if it was cut. */
  body: unknown;
  isCut: boolean;
  /** Why the last attempt failed, as a sentence. Null if done. */
  error: string | null;
}

export interface WebhookCallsOptions {
  database: Database;
  secrets: WebhookSecrets;
  /** Decrypts the credentials in headers and URLs. */
  sealer: Sealer;
  call: CallWebhook;
  /**
   * Applies the consequences of ended calls, once, in the transaction that ends them. Must have no effect outside the database.
   * Calls of several projects may be passed together. If it throws for a single call, that call is made again later.
   */
  onEnded: (tx: Tx, ended: readonly EndedCall[]) => Promise<void>;
  log: Log;
  metrics: Metrics;
}

const POLL_MS = 5_000;
/** Much longer than an attempt and its recording. Calls of a crashed process are then made again under the same id. */
const LEASE_SECONDS = 60;
const PLACES: PlaceRules = {
  most: LIMITS.webhookCallsPerProject.value,
  kept: LIMITS.webhookCallsKept.value,
};
const RECORDED_AT_ONCE = 100;
const RECORDING_MS = 30_000;

/** Makes due calls until it is stopped, which waits for running attempts (10 s). Any number of processes may run it. */
// oxlint-disable-next-line max-lines-per-function -- the inner functions share its state
export function startWebhookCalls(options: WebhookCallsOptions): Loop {
  const { database, secrets, log, metrics } = options;
  const running = new Map<string, number>();
  const inFlight = new Set<Promise<void>>();
  const recordings = createResultRecorder(options);
  /** The last turn of each project, by turn number. The project that waited longest comes first. */
  const lastTurns = new Map<string, number>();
  let turns = 0;

  function begin(claimed: ClaimedCallRow, claimId: string, signing: readonly string[] | null): void {
    const { projectId, id: callId } = claimed;
    running.set(projectId, (running.get(projectId) ?? 0) + 1);
    const work = attemptOnce(options, claimed, signing)
      .then((tried) => recordings.book(endOf(claimed, claimId, tried)))
      .catch((error: unknown) =>
        log.error({ err: error, projectId, callId }, "failed to record a webhook result"),
      )
      .finally(() => {
        inFlight.delete(work);
        const left = (running.get(projectId) ?? 1) - 1;
        if (left === 0) running.delete(projectId);
        else running.set(projectId, left);
        loop.wake();
      });
    inFlight.add(work);
  }

  async function claimFor(projectId: string, limit: number): Promise<void> {
    lastTurns.set(projectId, ++turns);
    const signing = await secrets.read(database, projectId).catch((error: unknown) => {
      if (isUnavailable(error)) throw error;
      log.error({ err: error, projectId }, "cannot read the webhook secret of a project");
      return null;
    });
    const claimId = newId();
    const claim = { projectId, claimId, limit, leaseSeconds: LEASE_SECONDS };
    for (const claimed of await claimCalls(database, claim)) begin(claimed, claimId, signing);
  }

  async function runOnce(signal: AbortSignal): Promise<number> {
    const waiting = await listWaitingProjects(database);
    const known = new Set(waiting.map((one) => one.projectId));
    for (const projectId of lastTurns.keys()) if (!known.has(projectId)) lastTurns.delete(projectId);
    const due = waiting
      .filter((one) => one.dueInMs <= 0)
      .map(({ projectId }) => ({ projectId, running: running.get(projectId) ?? 0 }))
      .toSorted((one, other) => (lastTurns.get(one.projectId) ?? 0) - (lastTurns.get(other.projectId) ?? 0));
    const free = LIMITS.webhookCalls.value - inFlight.size;
    for (const [projectId, limit] of sharePlaces(free, due, PLACES)) {
      if (signal.aborted) break;
      await claimFor(projectId, limit);
    }
    // Calls without a free connection start when an attempt ends, which notifies the loop.
    const later = waiting.map((one) => one.dueInMs).filter((ms) => ms > 0);
    return Math.max(1, Math.ceil(Math.min(POLL_MS, ...later)));
  }

  const loop = startLoop({
    name: "webhooks",
    runOnce,
    everyMs: POLL_MS,
    notifiedBy: { database, topic: "webhooks" },
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

async function attemptOnce(
  { call, sealer }: WebhookCallsOptions,
  claimed: ClaimedCallRow,
  signing: readonly string[] | null,
): Promise<WebhookAttempt> {
  const target = openOrNull(sealer, claimed);
  // The calls of one project fail, and not the loop of all.
  if (signing === null || target === null)
    return {
      status: null,
      body: null,
      isCut: false,
      askedSeconds: null,
      error: recordedReason("secretUnreadable"),
    };
  const signature = signWebhook(signing, { id: claimed.id, at: now(), body: claimed.body ?? "" });
  return call({
    url: target.url,
    method: claimed.method as WebhookMethod,
    headers: { ...target.headers, ...signature },
    body: claimed.body,
  });
}

/** Returns the URL to call and the headers to send; null when they were sealed under another application secret. */
function openOrNull(sealer: Sealer, { projectId, url, headers }: ClaimedCallRow) {
  const vault = createWebhookVault(sealer);
  try {
    return { url: vault.openUrl(projectId, url), headers: vault.open(projectId, headers) };
  } catch {
    return null;
  }
}

function endOf(claimed: ClaimedCallRow, claimId: string, tried: WebhookAttempt): AttemptResult {
  const wait = tried.error === null ? null : waitAfter(claimed.tries + 1, tried.askedSeconds);
  return {
    projectId: claimed.projectId,
    id: claimed.id,
    claimId,
    state: tried.error === null ? "done" : wait === null ? "failed" : "waiting",
    waitSeconds: wait ?? 0,
    status: tried.status,
    body: tried.body,
    isCut: tried.isCut,
    error: tried.error,
  };
}

/** Returns whether the database is unavailable. Any other error is a bug. */
function isUnavailable(error: unknown): boolean {
  return asUnavailable(error) instanceof AppError;
}

/** Tries that end while others are booked form the next batch. A repeat does no harm: a claim is booked once. */
function createResultRecorder({ database, onEnded, log, metrics }: WebhookCallsOptions) {
  const commits = createGroupCommit<AttemptResult, void>({
    shards: 1,
    shardOf: () => 0,
    maxItems: RECORDED_AT_ONCE,
    async run(ends) {
      await transaction(database, async (tx) => {
        const ended = (await updateAttempts(tx, ends)).flatMap(presentEnd);
        if (ended.length > 0) await onEnded(tx, ended);
      });
      return ends.map(() => undefined);
    },
  });
  return {
    async book(end: AttemptResult): Promise<void> {
      try {
        await retryUntilDone(() => commits.submit(end), { forMs: RECORDING_MS, mayRepeat: isUnavailable });
        metrics.webhookTries.inc({ outcome: end.state === "waiting" ? "retry" : end.state });
      } catch (error) {
        if (isUnavailable(error) || end.state === "waiting") throw error;
        log.error(
          { err: error, projectId: end.projectId, callId: end.id },
          "consequences of a webhook failed, which is a bug, retrying",
        );
        // Back off to the longest delay instead of the lease's end, so that a bug of ours does not call the endpoint every minute.
        const later = { ...end, state: "waiting" as const, waitSeconds: LIMITS.webhookLongestWait.value };
        await transaction(database, async (tx) => updateAttempts(tx, [later]));
      }
    },
  };
}

function presentEnd(row: EndedCallRow): EndedCall[] {
  if (row.state === "waiting") return [];
  const { responseBody: body } = row;
  return [
    {
      projectId: row.projectId,
      id: row.id,
      ownerKind: row.ownerKind as CallOwner,
      ownerId: row.ownerId,
      ownerRef: row.ownerRef,
      state: row.state,
      tries: row.tries,
      status: row.responseStatus,
      body: body === null || row.isCut ? body : readResponse(body),
      isCut: row.isCut,
      error: row.error,
    },
  ];
}
