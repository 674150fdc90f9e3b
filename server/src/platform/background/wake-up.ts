// Implements a wait that ends after a time or as soon as there is work.

export interface WakeUp {
  /** Ends the wait. Without a current wait, ends the next one immediately. */
  wake(): void;
  wait(ms: number): Promise<void>;
  /** Waits for the whole time and ignores `wake`. */
  pause(ms: number): Promise<void>;
}

export function createWakeUp(): WakeUp {
  let isWoken = false;
  let endWait: (() => void) | null = null;
  async function wait(ms: number, canBeWoken: boolean): Promise<void> {
    if (canBeWoken && isWoken) {
      isWoken = false;
      return;
    }
    await new Promise<void>((resolve) => {
      const timer = setTimeout(done, ms);
      function done() {
        clearTimeout(timer);
        if (endWait === done) endWait = null;
        resolve();
      }
      if (canBeWoken) endWait = done;
    });
    if (canBeWoken) isWoken = false;
  }
  return {
    wake() {
      isWoken = true;
      endWait?.();
    },
    wait: (ms) => wait(ms, true),
    pause: (ms) => wait(ms, false),
  };
}
