// Shares one run of the same work among concurrent callers.

/** Returns the work so that callers during a run get the result of that run. */
export function shared<Result>(work: () => Promise<Result>): () => Promise<Result> {
  let inProgress: Promise<Result> | null = null;
  return () => {
    inProgress ??= work().finally(() => {
      inProgress = null;
    });
    return inProgress;
  };
}
