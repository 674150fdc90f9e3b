// Keeps Back and Forward from leaving a page while its question is open. The router would otherwise count each of them from the page that it
// shows, and the answers would leave the URL at another page.

/** The position of an entry, which the router writes into the state of the browser's history. */
const POSITION = "__TSR_index";

const positionOf = (state: unknown): number => {
  const position = (state as Record<string, unknown> | null)?.[POSITION];
  return typeof position === "number" ? position : 0;
};

/** Returns the result of a question. Until then, the browser goes back to the entry at which the question was asked. */
export async function holdHistory<Result>(ask: () => Promise<Result>): Promise<Result> {
  const asked = positionOf(window.history.state);
  let returned: PromiseWithResolvers<void> | null = null;
  const hold = (event: PopStateEvent) => {
    event.stopImmediatePropagation();
    const distance = asked - positionOf(event.state);
    if (distance === 0) {
      returned?.resolve();
      returned = null;
    } else {
      returned ??= Promise.withResolvers<void>();
      window.history.go(distance);
    }
  };
  // Runs before the router's listener, because that one does not capture.
  window.addEventListener("popstate", hold, { capture: true });
  try {
    const result = await ask();
    await (returned as PromiseWithResolvers<void> | null)?.promise;
    return result;
  } finally {
    window.removeEventListener("popstate", hold, { capture: true });
  }
}
