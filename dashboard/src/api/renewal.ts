// What becomes of a call whose session is over: where one can be begun anew over the page, the call waits for it and is made once more.

export function createRenewal() {
  /** Asks whoever looks at the page to sign in; null where nobody can. */
  let ask: (() => void) | null = null;
  /** Who left for the sign-in page waits for nothing any more, until there is a session again. */
  let isGivenUp = false;
  const waiting = new Set<(isThereAgain: boolean) => void>();
  const decide = (isThereAgain: boolean) => {
    for (const tell of waiting) tell(isThereAgain);
  };
  return {
    /** From now on sessions can be begun anew here. Gives what ends that. */
    offer(how: () => void): () => void {
      ask = how;
      isGivenUp = false;
      return () => {
        ask = null;
        decide(false);
      };
    },
    /** There is a session. Calls that wait are made again, unless it is somebody else's. */
    end(isSameUser: boolean): void {
      isGivenUp = false;
      decide(isSameUser);
    },
    /** Nobody signs in here: what waits has failed. */
    giveUp(): void {
      isGivenUp = true;
      decide(false);
    },
    /** Waits until there is a session again. False: there will be none here, or nobody wants to know any more. */
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

/** Of this page. */
export const renewal = createRenewal();
