// Who is connected to the SMTP door: so many of a network, so many in all. When all slots are taken, whoever has been quiet longest makes
// room.
import type { LimitedConnection } from "./limit-smtp-connection.ts";

export interface SlotLimits {
  most: number;
  mostOfNetwork: number;
  /** Whoever said nothing for so long may be sent away for another. */
  quietMs: number;
}

export interface Slots {
  take(id: string, network: string, connection: LimitedConnection): "taken" | "network-full" | "full";
  /** Also for connections that got none. */
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
