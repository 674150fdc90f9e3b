// Takes a transport out of service after repeated outages and tries it again, with one message at a time, after growing pauses.

export interface BreakerOptions {
  /** So many outages one after the other, nothing else between them. */
  outagesToOpen: number;
  /** How long it is left alone; twice as long after each trial that fails, up to the second. Milliseconds. */
  firstPauseMs: number;
  maxPauseMs: number;
  /** Monotonic, milliseconds. */
  nowMs: () => number;
  /** Out of service for so long, or back. */
  onChange: (change: { pauseMs: number } | "back") => void;
}

/** `works`: the server answered to the purpose, be it by a refusal. `unknown`: the attempt ended for reasons of our own. */
export type Verdict = "works" | "outage" | "unknown";

export interface Breaker {
  /** Asks to use the transport once; null while it is out of service. Whoever may tells the verdict, exactly once. */
  enter(): ((verdict: Verdict) => void) | null;
}

/** A breaker in service. */
export function createBreaker(options: BreakerOptions): Breaker {
  let outages = 0;
  let pauseMs = options.firstPauseMs;
  /** While out of service: when the next trial may begin. */
  let trialAtMs: number | null = null;
  let trialRuns = false;

  function open(): void {
    trialAtMs = options.nowMs() + pauseMs;
    options.onChange({ pauseMs });
    pauseMs = Math.min(2 * pauseMs, options.maxPauseMs);
  }

  function close(): void {
    if (trialAtMs !== null) options.onChange("back");
    trialAtMs = null;
    outages = 0;
    pauseMs = options.firstPauseMs;
  }

  function end(verdict: Verdict, isTrial: boolean): void {
    if (isTrial) trialRuns = false;
    if (verdict === "unknown") return;
    if (verdict === "works") return close();
    // Attempts from before the opening say what is known already.
    if (trialAtMs !== null && !isTrial) return;
    outages += 1;
    if (isTrial || outages >= options.outagesToOpen) open();
  }

  return {
    enter() {
      const isTrial = trialAtMs !== null;
      if (trialAtMs !== null && (trialRuns || options.nowMs() < trialAtMs)) return null;
      trialRuns ||= isTrial;
      return (verdict) => end(verdict, isTrial);
    },
  };
}
