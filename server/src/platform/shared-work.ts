// Work that is the same for whoever asks: those who ask while it is done share it. Before it: pages that anybody may open, as often
// as they like. After it: one look at the database for all of them.

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
