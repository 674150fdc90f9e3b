// A wait that can be cut short: until the time is over, or until somebody says that there is work.

export interface WakeUp {
  /** Ends the wait; without one it ends the next wait at once. */
  wake(): void;
  wait(ms: number): Promise<void>;
  /** Waits the whole time, whoever wakes. */
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
