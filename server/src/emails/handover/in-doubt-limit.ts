// How many mails may be in doubt at once: places with names; whoever has one keeps it, the others wait in the order they came.

export interface InDoubtLimit {
  /** Again for the same name when a mail goes another way, to another server. */
  take(name: string): Promise<void>;
  /** Takes one back that was free too early, also when others have them all: until it is free again nobody else gets one. */
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
