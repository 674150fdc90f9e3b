// Combines several transports by preference or weight, skips those out of service and never sends twice.
import type { Log } from "../platform/log.ts";
import { createBreaker, type Breaker, type Verdict } from "./circuit-breaker.ts";
import { toPrintableLine } from "./smtp-replies.ts";
import type { Outcome, Transport } from "./transport.ts";

export interface FailoverChoice {
  transport: Transport;
  /** Identifies the list entry in logs and timelines, without credentials. */
  label: string;
  /** Share of the traffic among weighted transports. Transports without a weight are standbys, in list order. */
  weight?: number;
}

export interface FailoverOptions {
  log: Log;
  /** Default 3. */
  outagesToOpen?: number;
  /** Default 5 s. */
  firstPauseMs?: number;
  /** Default 5 min. */
  maxPauseMs?: number;
  /** Monotonic, in milliseconds. */
  nowMs?: () => number;
  /** Returns a number from 0 to 1. */
  random?: () => number;
}

const OUTAGES_TO_OPEN = 3;
const FIRST_PAUSE_MS = 5_000;
const MAX_PAUSE_MS = 300_000;

interface Guarded extends FailoverChoice {
  breaker: Breaker;
}

/**
 * Offers each message to the transports in turn until one responds with anything but an outage.
 * After `uncertain`, `rejected`, `withdrawn` or a temporary rejection no other transport gets the message (docs/decisions/0010).
 * Without weights the first transport in service gets everything. If all transports are out, the message is deferred.
 */
export function createFailoverTransport(
  choices: readonly FailoverChoice[],
  options: FailoverOptions,
): Transport {
  const guarded = choices.map((choice) => ({ ...choice, breaker: breakerOf(choice.label, options) }));
  const random = options.random ?? Math.random;
  return {
    name: [...new Set(choices.map(({ transport }) => transport.name))].join(","),
    takesReturnPath: choices.some(({ transport }) => transport.takesReturnPath === true),
    // A message is signed before its transport is chosen, so the signature must be valid on each of them.
    rewrites: [...new Set(choices.flatMap(({ transport }) => transport.rewrites ?? []))],
    async send(message, mayLeave) {
      const rejections: string[] = [];
      let throttled = false;
      for (const { breaker, transport, label } of inTurn(guarded, random)) {
        const tell = breaker.enter();
        if (tell === null) {
          rejections.push(`${label}: out of service`);
          continue;
        }
        let verdict: Verdict = "unknown";
        try {
          const outcome = await transport.send(message, mayLeave);
          verdict = verdictOf(outcome, choices.length === 1);
          if (outcome.kind === "withdrawn") return outcome;
          if (outcome.kind !== "deferred" || outcome.outage !== true) return { ...outcome, by: label };
          throttled ||= outcome.throttled === true;
          rejections.push(`${label}: ${outcome.answer}`);
        } finally {
          tell(verdict);
        }
      }
      const answer = toPrintableLine(rejections.join("; "));
      return { kind: "deferred", answer, outage: true, ...(throttled ? { throttled } : {}) };
    },
    async close() {
      await Promise.all(choices.map(({ transport }) => transport.close()));
    },
  };
}

function breakerOf(label: string, options: FailoverOptions): Breaker {
  return createBreaker({
    outagesToOpen: options.outagesToOpen ?? OUTAGES_TO_OPEN,
    firstPauseMs: options.firstPauseMs ?? FIRST_PAUSE_MS,
    maxPauseMs: options.maxPauseMs ?? MAX_PAUSE_MS,
    nowMs: options.nowMs ?? (() => performance.now()),
    onChange: (change) =>
      change === "back"
        ? options.log.debug({ transport: label }, "transport is back in rotation")
        : options.log.debug({ transport: label, ...change }, "transport is out of rotation"),
  });
}

/** Returns the verdict for the breaker. A missing reply puts an email in doubt, which counts as an outage here but not for the message. */
function verdictOf(outcome: Outcome, isOnly: boolean): Verdict {
  if (outcome.kind === "withdrawn") return "unknown";
  // A server that asks for a slower rate works. Without another one a pause would only make its email later.
  if (isOnly && outcome.kind === "deferred" && outcome.throttled === true) return "unknown";
  if (outcome.kind === "uncertain") return "outage";
  return outcome.kind === "deferred" && outcome.outage === true ? "outage" : "works";
}

/** Returns the reply of an outage, null if the server works, or undefined if the outcome says nothing about it. */
export function outageOf(outcome: Outcome): string | null | undefined {
  if (outcome.kind === "withdrawn") return undefined;
  if (outcome.kind === "uncertain") return outcome.answer;
  if (outcome.kind !== "deferred" || outcome.outage !== true) return null;
  return outcome.throttled === true ? undefined : outcome.answer;
}

/** Returns the weighted transports in random order by weight, followed by the standbys in list order. */
function inTurn(guarded: readonly Guarded[], random: () => number): Guarded[] {
  const standBy = guarded.filter(({ weight }) => weight === undefined);
  const weighted = guarded.filter(({ weight }) => weight !== undefined);
  // Ordering by exponentially distributed times with the weights as rates yields a weighted choice at each position.
  const times = new Map(weighted.map((one) => [one, -Math.log(1 - random()) / (one.weight ?? 1)]));
  return [...weighted.toSorted((a, b) => (times.get(a) ?? 0) - (times.get(b) ?? 0)), ...standBy];
}
