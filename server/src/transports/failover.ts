// Several transports as one: by preference or by weights, around those that are out of service, without sending twice.
import type { Log } from "../platform/log.ts";
import { createBreaker, type Breaker, type Verdict } from "./circuit-breaker.ts";
import { toPrintableLine } from "./smtp-replies.ts";
import type { Outcome, Transport } from "./transport.ts";

export interface FailoverChoice {
  transport: Transport;
  /** For logs and timelines: which of the list, without credentials. */
  label: string;
  /** Its part of the traffic among those with a weight. Those without stand by, in the order of the list. */
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
  /** Monotonic, milliseconds. */
  nowMs?: () => number;
  /** 0 to 1. */
  random?: () => number;
}

const OUTAGES_TO_OPEN = 3;
const FIRST_PAUSE_MS = 5_000;
const MAX_PAUSE_MS = 300_000;

interface Guarded extends FailoverChoice {
  breaker: Breaker;
}

/**
 * Offers each message to one transport after the other until one of them does not answer with an outage, and only then:
 * after `uncertain`, `rejected`, `withdrawn` or a refusal for now no other transport sees it (docs/decisions/0010).
 * Without weights the first that is in service gets everything. With every transport out, the message is deferred.
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
    // A message is signed before its way is known, so the signature must hold on each.
    rewrites: [...new Set(choices.flatMap(({ transport }) => transport.rewrites ?? []))],
    async send(message, mayLeave) {
      const refusals: string[] = [];
      let throttled = false;
      for (const { breaker, transport, label } of inTurn(guarded, random)) {
        const tell = breaker.enter();
        if (tell === null) {
          refusals.push(`${label}: out of service`);
          continue;
        }
        let verdict: Verdict = "unknown";
        try {
          const outcome = await transport.send(message, mayLeave);
          verdict = verdictOf(outcome);
          if (outcome.kind === "withdrawn") return outcome;
          if (outcome.kind !== "deferred" || outcome.outage !== true) return { ...outcome, by: label };
          throttled ||= outcome.throttled === true;
          refusals.push(`${label}: ${outcome.answer}`);
        } finally {
          tell(verdict);
        }
      }
      const answer = toPrintableLine(refusals.join("; "));
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
        ? options.log.debug({ transport: label }, "a transport of the list gets mail again")
        : options.log.debug({ transport: label, ...change }, "a transport of the list gets no mail for now"),
  });
}

/** An answer that never came costs a mail in doubt: for the breaker, not for the message, that is an outage too. */
function verdictOf(outcome: Outcome): Verdict {
  if (outcome.kind === "withdrawn") return "unknown";
  if (outcome.kind === "uncertain") return "outage";
  return outcome.kind === "deferred" && outcome.outage === true ? "outage" : "works";
}

/** Those with a weight first, shuffled so that each comes first as often as its weight says; then the others in order. */
function inTurn(guarded: readonly Guarded[], random: () => number): Guarded[] {
  const standBy = guarded.filter(({ weight }) => weight === undefined);
  const weighted = guarded.filter(({ weight }) => weight !== undefined);
  // The smallest of exponential times, each with its weight as the rate, is a weighted choice; so is the next smallest.
  const times = new Map(weighted.map((one) => [one, -Math.log(1 - random()) / (one.weight ?? 1)]));
  return [...weighted.toSorted((a, b) => (times.get(a) ?? 0) - (times.get(b) ?? 0)), ...standBy];
}
