// Work that is the same for whoever asks: those who ask while it is done share it.

/** The same work; whoever asks while it is in progress gets what comes of it. */
export function shared<Result>(work: () => Promise<Result>): () => Promise<Result> {
  let inProgress: Promise<Result> | null = null;
  return () => {
    inProgress ??= work().finally(() => {
      inProgress = null;
    });
    return inProgress;
  };
}
