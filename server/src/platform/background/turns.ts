// Shares the serving thread between requests and long work, such as reading a large file.
/** Long work rests three times as long as it worked while requests are served, because a request waits for a turn at each of its steps. */
const REST_FACTOR = 3;
/** After a turn on this thread. */
const REST_MAX_MS = 50;
/** After work on other threads and in the database. */
const LONGEST_REST_MS = 250;

interface Waiting {
  /** Requests that the work itself belongs to. */
  ownRequests: number;
  begin: () => void;
}

export interface Turns {
  /**
   * Lets requests run. Call it after every millisecond or two of long work on the serving thread. All long work takes turns here, one turn
   * per iteration of the event loop, because ten imports would otherwise delay each step of a request ten times as long. While other
   * requests are served it also rests after each turn.
   */
  next(options?: { isInRequest?: boolean }): Promise<void>;
  /**
   * Rests after work that kept other threads and the database busy, while requests are served.
   * @param tookMs how long the work took
   */
  rest(tookMs: number): Promise<void>;
  /** Counts a request as being served until the returned function is called. Further calls of that function have no effect. */
  countRequest(): () => void;
}

export function createTurns(): Turns {
  const waiting: Waiting[] = [];
  let isTurnDue = false;
  let restsUntilMs = 0;
  let requests = 0;

  function scheduleTurn(): void {
    if (isTurnDue || waiting.length === 0) return;
    isTurnDue = true;
    const restMs = restsUntilMs - performance.now();
    if (restMs > 0) setTimeout(beginTurn, restMs);
    else setImmediate(beginTurn);
  }

  function beginTurn(): void {
    const turn = waiting.shift();
    const beganAtMs = performance.now();
    turn?.begin();
    setImmediate(() => {
      const nowMs = performance.now();
      const isBusy = requests > (turn?.ownRequests ?? 0);
      restsUntilMs = isBusy ? nowMs + Math.min(REST_MAX_MS, (nowMs - beganAtMs) * REST_FACTOR) : 0;
      isTurnDue = false;
      scheduleTurn();
    });
  }

  return {
    next: ({ isInRequest = false } = {}) =>
      new Promise((resolve) => {
        waiting.push({ ownRequests: isInRequest ? 1 : 0, begin: resolve });
        scheduleTurn();
      }),
    async rest(tookMs) {
      if (requests === 0) return;
      const restMs = Math.min(LONGEST_REST_MS, tookMs * REST_FACTOR);
      await new Promise((resolve) => setTimeout(resolve, restMs));
    },
    countRequest() {
      requests += 1;
      let isCounted = true;
      return () => {
        if (isCounted) requests -= 1;
        isCounted = false;
      };
    },
  };
}

/** The turns of this process, which has one serving thread. */
const turns = createTurns();
export const nextTurn = turns.next;
export const restAfter = turns.rest;
export const countRequest = turns.countRequest;
