// Splits long work into short turns so that the page stays responsive.

/** Two frames of 16 ms, too short to notice. */
const TURN_MS = 32;

/**
 * Returns a function to call inside a long loop. It resolves immediately until the turn is over, then lets the browser do other work.
 * Uses a message because timers are throttled in hidden tabs.
 */
export function createYield(): () => Promise<void> {
  let endsAtMs = performance.now() + TURN_MS;
  return async () => {
    if (performance.now() < endsAtMs) return;
    await new Promise<void>((resolve) => {
      const { port1, port2 } = new MessageChannel();
      port1.addEventListener("message", () => {
        port1.close();
        resolve();
      });
      port1.start();
      port2.postMessage(null);
    });
    endsAtMs = performance.now() + TURN_MS;
  };
}
