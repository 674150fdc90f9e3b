// Limits the SMTP connections per network and in total. When all slots are taken, the connection that was idle longest is closed.
import type { LimitedConnection } from "./limit-smtp-connection.ts";

export interface SlotLimits {
  most: number;
  mostOfNetwork: number;
  /** A connection that was idle for this long may be closed in favor of another. */
  quietMs: number;
}

export interface Slots {
  take(id: string, network: string, connection: LimitedConnection): "taken" | "network-full" | "full";
  /** Also called for connections that got no slot. */
  leave(id: string): void;
}

export function createSlots({ most, mostOfNetwork, quietMs }: SlotLimits): Slots {
  const taken = new Map<string, { network: string; connection: LimitedConnection }>();

  function makeRoom(): boolean {
    const [quietest] = [...taken].toSorted(
      ([, a], [, b]) => a.connection.heardAtMs() - b.connection.heardAtMs(),
    );
    if (quietest === undefined) return false;
    const [id, { connection }] = quietest;
    if (performance.now() - connection.heardAtMs() < quietMs) return false;
    taken.delete(id);
    connection.sendAway();
    return true;
  }

  return {
    take(id, network, connection) {
      const ofNetwork = [...taken.values()].filter((one) => one.network === network).length;
      if (ofNetwork >= mostOfNetwork) return "network-full";
      if (taken.size >= most && !makeRoom()) return "full";
      taken.set(id, { network, connection });
      return "taken";
    },
    leave: (id) => void taken.delete(id),
  };
}
