// Something to wait at: until it rings, or until the time is over. Background loops sleep at one between two looks.

export interface Bell {
  /** Ends the wait of whoever waits; a ring while nobody waits is kept for the next wait. */
  ring(): void;
  wait(ms: number): Promise<void>;
  /** Waits the whole time, whoever rings. */
  pause(ms: number): Promise<void>;
}

export function createBell(): Bell {
  let rung = false;
  let wakeUp: (() => void) | null = null;
  async function wait(ms: number, hear: boolean): Promise<void> {
    if (hear && rung) {
      rung = false;
      return;
    }
    await new Promise<void>((resolve) => {
      const timer = setTimeout(done, ms);
      function done() {
        clearTimeout(timer);
        if (wakeUp === done) wakeUp = null;
        resolve();
      }
      if (hear) wakeUp = done;
    });
    if (hear) rung = false;
  }
  return {
    ring() {
      rung = true;
      wakeUp?.();
    },
    wait: (ms) => wait(ms, true),
    pause: (ms) => wait(ms, false),
  };
}
