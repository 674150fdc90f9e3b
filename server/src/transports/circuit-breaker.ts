// Takes a transport out of service after repeated outages. After growing pauses it is tried again with one message at a time.

export interface BreakerOptions {
  /** Number of consecutive outages that open the breaker. */
  outagesToOpen: number;
  /** First pause in milliseconds. The pause doubles after each failed trial, up to `maxPauseMs`. */
  firstPauseMs: number;
  maxPauseMs: number;
  /** Monotonic, in milliseconds. */
  nowMs: () => number;
  /** Called when the transport goes out of service, with its pause, or is back. */
  onChange: (change: { pauseMs: number } | "back") => void;
}

/** `works`: the server gave a proper reply, even a rejection. `unknown`: the attempt ended for reasons on our side. */
export type Verdict = "works" | "outage" | "unknown";

export interface Breaker {
  /** Requests one use of the transport; null while it is out of service. The caller must report the verdict exactly once. */
  enter(): ((verdict: Verdict) => void) | null;
}

/** Creates a closed breaker, with its transport in service. */
export function createBreaker(options: BreakerOptions): Breaker {
  let outages = 0;
  let pauseMs = options.firstPauseMs;
  /** Time of the next trial, while out of service. */
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
    // Attempts that began before the breaker opened add no information.
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
