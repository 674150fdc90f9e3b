// Splits long work into short turns so that the page keeps answering clicks and keys.

/** A frame takes 16 ms. Two of them are too short to notice. */
const TURN_MS = 32;

/**
 * Returns a function to call inside a long loop. It resolves immediately until the turn is over, then lets the browser do other work.
 *
 * A message is not slowed down in a hidden tab, as a timer would be.
 */
export function takeTurns(): () => Promise<void> {
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
