// Keeps Back and Forward from leaving a page while a question about leaving it is open. The router counts each of them from the page that it
// shows, so after the answer the URL would belong to another page.

/** The position of an entry, which the router writes into the state of the browser's history. */
const POSITION = "__TSR_index";
/** Precedes the popstate event of each move. An open question cancels it, which hides the move from the router. */
const MOVE = "postloft:move";
/** Moves that follow each other this quickly are undone together, because the browser moves some time after it is asked to. */
const PAUSE_MS = 50;
/** The browser may be unable to go back to the entry. */
const PATIENCE_MS = 1_000;

const positionNow = (): number | null => {
  const position = (window.history.state as Record<string, unknown> | null)?.[POSITION];
  return typeof position === "number" ? position : null;
};

/**
 * Lets open questions hide moves from the router. Must be called before the router is created, because Chromium calls the popstate listeners
 * of a window in the order in which they were added, also the ones that capture.
 */
export function watchHistory(): void {
  window.addEventListener("popstate", (event) => {
    const isSeen = window.dispatchEvent(new Event(MOVE, { cancelable: true }));
    if (!isSeen) event.stopImmediatePropagation();
  });
}

/** Returns the result of a question. Until then, the browser goes back to the entry at which the question was asked. */
export async function holdHistory<Result>(ask: () => Promise<Result>): Promise<Result> {
  const asked = positionNow();
  const away: { returned: PromiseWithResolvers<void> | null; timer: number } = { returned: null, timer: 0 };
  const settle = () => {
    const position = positionNow();
    const distance = asked === null || position === null ? 0 : asked - position;
    // Another move follows, and settles again.
    if (distance !== 0) return window.history.go(distance);
    away.returned?.resolve();
    away.returned = null;
  };
  const undo = (move: Event) => {
    move.preventDefault();
    // Only the first of several questions goes back.
    move.stopImmediatePropagation();
    away.returned ??= Promise.withResolvers<void>();
    window.clearTimeout(away.timer);
    away.timer = window.setTimeout(settle, PAUSE_MS);
  };
  window.addEventListener(MOVE, undo);
  try {
    const result = await ask();
    if (away.returned !== null) {
      const limit = new Promise<void>((resolve) => window.setTimeout(resolve, PATIENCE_MS));
      await Promise.race([away.returned.promise, limit]);
    }
    return result;
  } finally {
    window.clearTimeout(away.timer);
    window.removeEventListener(MOVE, undo);
  }
}
