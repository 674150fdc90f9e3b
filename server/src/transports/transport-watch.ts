// Monitors whether email can leave: tries a transport at startup, watches the outcomes of its messages, and logs each outage and its end
// once.
import { setTimeout as delay } from "node:timers/promises";
import { startLoop, type Loop } from "../platform/background/background.ts";
import { now } from "../platform/clock.ts";
import type { Log } from "../platform/log.ts";
import type { Metrics } from "../platform/metrics.ts";
import { toPrintableLine } from "./smtp-replies.ts";
import type { Outcome, Reachable, Transport } from "./transport.ts";

export interface TransportWatch {
  /** Location for instance admins, without credentials. */
  readonly label: string;
  /** The start of each sentence of `outage`, which other processes store. */
  readonly outageStart: string;
  /** The same transport, monitored. */
  readonly transport: Transport;
  /** Tries the transport without a message. Returns a sentence for the instance admin, or null if nothing leaves this machine. */
  tryNow(): Promise<string | null>;
  /** Returns a public sentence without host names while the transport is out of service, else null. */
  outage(): string | null;
  /** Tries the transport periodically while it is out of service, until stopped. */
  start(metrics: Metrics): void;
  stop(): Promise<void>;
}

export interface WatchOptions {
  log: Log;
  /** Location for logs, without credentials. */
  label: string;
  /** Public description: `smtp`, `entry 2 of 3, ses`. */
  place: string;
  /** Default 30 s. */
  pollMs?: number;
  /** Default 15 s. */
  patienceMs?: number;
}

/** Number of consecutive outages before one is logged. */
const OUTAGES_TO_REPORT = 3;
const CHECK_INTERVAL_MS = 30_000;
const PATIENCE_MS = 15_000;

interface Outage {
  sinceMs: number;
  since: Date;
  attempts: number;
}

/** Tries all transports and prints the results. Callers do not wait, because an unreachable mail server must not delay startup. */
export function tryAll(watches: readonly TransportWatch[], say: (line: string) => void): void {
  for (const watch of watches)
    void watch.tryNow().then((sentence) => (sentence === null ? undefined : say(sentence)));
}

/** Monitors a transport without changing its outcomes. */
// oxlint-disable-next-line max-lines-per-function -- the inner functions share its state
export function watchTransport(followed: Transport, options: WatchOptions): TransportWatch {
  const { log, label, place } = options;
  let outages = 0;
  let outage: Outage | null = null;
  /** Attempts with a message since the last check. While there are any, a separate check adds no information. */
  let attempts = 0;
  let checkLoop: Loop | undefined;

  function begin(answer: string): void {
    if (outage !== null) return;
    outage = { sinceMs: performance.now(), since: now(), attempts: outages };
    log.warn(
      { transport: label, answer },
      "transport is out of service, its email waits until a retry succeeds",
    );
  }

  function end(): void {
    outages = 0;
    if (outage === null) return;
    const seconds = Math.round((performance.now() - outage.sinceMs) / 1000);
    log.info({ transport: label, seconds, attempts: outage.attempts }, "transport is back in service");
    outage = null;
  }

  function note(outcome: Outcome): void {
    const verdict = verdictOf(outcome);
    if (verdict === "unknown") return;
    attempts += 1;
    if (verdict === "works") return end();
    outages += 1;
    if (outage !== null) outage.attempts += 1;
    else if (outages >= OUTAGES_TO_REPORT) begin("answer" in outcome ? outcome.answer : "");
  }

  async function tryNow(): Promise<string | null> {
    if (followed.reach === undefined) return null;
    try {
      const reached = await within(options.patienceMs ?? PATIENCE_MS, followed.reach());
      end();
      return `Sending email through ${label}: ${describeReachable(reached)}.`;
    } catch (error) {
      const reply = toPrintableLine(error instanceof Error ? error.message : String(error));
      begin(reply);
      return `Cannot send email: ${label} is unavailable (${reply}). Email waits and is retried. Check MAIL_TRANSPORT.`;
    }
  }

  async function look(): Promise<void> {
    const isIdle = attempts === 0;
    attempts = 0;
    if (outage !== null && isIdle) await tryNow();
  }

  const outageStart = `The transport ${place} has been out of service since `;
  return {
    label,
    outageStart,
    transport: {
      ...followed,
      async send(message, mayLeave) {
        const outcome = await followed.send(message, mayLeave);
        note(outcome);
        return outcome;
      },
    },
    tryNow,
    outage: () => (outage === null ? null : `${outageStart}${outage.since.toISOString()}`),
    start(metrics) {
      const everyMs = options.pollMs ?? CHECK_INTERVAL_MS;
      checkLoop ??= startLoop({ name: "transport", runOnce: look, everyMs, delayMs: everyMs, log, metrics });
    },
    async stop() {
      await checkLoop?.stop();
    },
  };
}

/** Returns the verdict on an outcome. `unknown`: ended for reasons on our side, or the server works and only throttles. */
function verdictOf(outcome: Outcome): "works" | "outage" | "unknown" {
  if (outcome.kind === "withdrawn") return "unknown";
  if (outcome.kind === "uncertain") return "outage";
  if (outcome.kind !== "deferred" || outcome.outage !== true) return "works";
  return outcome.throttled === true ? "unknown" : "outage";
}

function describeReachable({ serverName, tls, login }: Reachable): string {
  const logins = {
    accepted: "login accepted",
    none: "no login",
    untried: "the access key is tested with the first email",
  };
  return [
    "reachable",
    ...(serverName === undefined || serverName === "" ? [] : [`server name ${serverName}`]),
    tls ?? "not encrypted",
    logins[login],
  ].join(", ");
}

/** Returns the result of `work`. @throws Error after `ms` milliseconds */
export async function within<T>(ms: number, work: Promise<T>): Promise<T> {
  const over = new AbortController();
  const tooLate = delay(ms, undefined, { ref: false, signal: over.signal }).then(() => {
    throw new Error(`no response within ${ms / 1000} s`);
  });
  tooLate.catch(() => undefined);
  try {
    return await Promise.race([work, tooLate]);
  } finally {
    over.abort();
  }
}
