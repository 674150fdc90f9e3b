// Lets calls wait for a new sign-in when their session has ended, so that they can be retried.

export function createRenewal() {
  /** Opens the sign-in dialog; null while no dialog is mounted. */
  let ask: (() => void) | null = null;
  /** True after the user left for the sign-in page, until there is a session again. */
  let isGivenUp = false;
  const waiting = new Set<(isThereAgain: boolean) => void>();
  const decide = (isThereAgain: boolean) => {
    for (const tell of waiting) tell(isThereAgain);
  };
  return {
    /** Registers the sign-in dialog and returns a function that unregisters it. */
    offer(how: () => void): () => void {
      ask = how;
      isGivenUp = false;
      return () => {
        ask = null;
        decide(false);
      };
    },
    /** Ends the wait after a sign-in. Waiting calls fail if another user signed in. */
    end(isSameUser: boolean): void {
      isGivenUp = false;
      decide(isSameUser);
    },
    /** Ends the wait without a session, so that waiting calls fail. */
    giveUp(): void {
      isGivenUp = true;
      decide(false);
    },
    /** Waits for a new session. Returns false if there will be none or the caller aborts. */
    async isDone(signal?: AbortSignal): Promise<boolean> {
      if (ask === null || isGivenUp || signal?.aborted === true) return false;
      const { promise, resolve } = Promise.withResolvers<boolean>();
      const leave = () => resolve(false);
      waiting.add(resolve);
      signal?.addEventListener("abort", leave);
      ask();
      try {
        return await promise;
      } finally {
        waiting.delete(resolve);
        signal?.removeEventListener("abort", leave);
      }
    },
  };
}

export const renewal = createRenewal();
