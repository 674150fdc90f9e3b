// Limits how many emails may be in doubt at a time. Places have names, and callers beyond the limit wait in order.

export interface InDoubtLimit {
  /** Waits for a place. Returns immediately for a name that has one, such as an email that is sent to another server. */
  take(name: string): Promise<void>;
  /**
   * Takes back a place that was freed too early, even beyond the limit. No one else gets a place until the count is below the limit again.
   */
  retake(name: string): void;
  free(name: string): void;
}

export function createInDoubtLimit(count: number): InDoubtLimit {
  const taken = new Set<string>();
  const waiting: Array<{ name: string; enter: () => void }> = [];
  return {
    async take(name) {
      if (taken.has(name)) return;
      if (taken.size < count) taken.add(name);
      else await new Promise<void>((enter) => waiting.push({ name, enter }));
    },
    retake: (name) => void taken.add(name),
    free(name) {
      taken.delete(name);
      if (taken.size >= count) return;
      const next = waiting.shift();
      if (next === undefined) return;
      taken.add(next.name);
      next.enter();
    },
  };
}
