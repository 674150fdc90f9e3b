// Ends streams whose caller lost access, within half a second and on every process (docs/decisions/0111-open-streams.md).
import type { Database } from "../../platform/database/database.ts";
import type { Log } from "../../platform/log.ts";
import { findRevoked } from "./stream-access-queries.ts";
import type { StreamCaller } from "./stream-caller.ts";

const CHECK_EVERY_MS = 400;

export interface StreamAccess {
  /** Calls `end` once the caller has lost access. Returns a function that ends the watch. */
  watch(caller: StreamCaller, end: () => void): () => void;
}

interface Watched {
  caller: StreamCaller;
  end: () => void;
}

/** Checks all watched streams together. Idle while there are none. */
export function createStreamAccess({ database, log }: { database: Database; log: Log }): StreamAccess {
  const watched = new Set<Watched>();
  let isRunning = false;

  async function check(): Promise<void> {
    const asked = [...watched];
    try {
      const revoked = await findRevoked(
        database,
        asked.map(({ caller }) => caller),
      );
      for (const at of revoked) asked[at]?.end();
    } catch (error) {
      // Nothing new can be read for these streams either while the database doesn't answer.
      log.warn({ err: error }, "failed to check the access of open streams, retrying");
    }
    if (watched.size > 0) setTimeout(() => void check(), CHECK_EVERY_MS);
    else isRunning = false;
  }

  return {
    watch(caller, end) {
      const one = { caller, end };
      watched.add(one);
      if (!isRunning) {
        isRunning = true;
        setTimeout(() => void check(), CHECK_EVERY_MS);
      }
      return () => void watched.delete(one);
    },
  };
}
