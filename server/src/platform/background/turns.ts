// Shares the serving thread between requests and long work, such as reading a large file.

/** Long work rests as long as its turn while requests are served. With three times as long, imports took a quarter longer. */
const REST_FACTOR = 1;
const REST_MAX_MS = 50;

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
export const countRequest = turns.countRequest;
