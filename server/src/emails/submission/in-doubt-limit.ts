// Limits how many emails may be in doubt at a time. Places have names, and callers beyond the limit wait in order.

export interface InDoubtLimit {
  /**
   * Waits for a place. Returns immediately for a name that has one, such as an email that is sent to another server.
   * @param channel a channel with places of its own, or null for the common ones
   */
  take(name: string, channel?: string | null): Promise<void>;
  /**
   * Takes back a place that was freed too early, even beyond the limit. No one else gets a place until the count is below the limit again.
   */
  retake(name: string): void;
  free(name: string): void;
}

/** Limits the common places and those of each channel. */
export function createInDoubtLimits(count: number, countOfChannel: number): InDoubtLimit {
  const common = createInDoubtLimit(count);
  const channels = new Map<string, { limit: InDoubtLimit; names: Set<string> }>();
  const channelByName = new Map<string, string>();
  return {
    async take(name, channel = null) {
      if (channel === null) return common.take(name);
      const own = channels.get(channel) ?? { limit: createInDoubtLimit(countOfChannel), names: new Set() };
      channels.set(channel, own);
      own.names.add(name);
      channelByName.set(name, channel);
      await own.limit.take(name);
    },
    // A name whose channel may be gone takes a common place.
    retake: (name) => common.retake(name),
    free(name) {
      common.free(name);
      const channel = channelByName.get(name);
      const own = channel === undefined ? undefined : channels.get(channel);
      if (channel === undefined || own === undefined) return;
      own.limit.free(name);
      own.names.delete(name);
      channelByName.delete(name);
      if (own.names.size === 0) channels.delete(channel);
    },
  };
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
