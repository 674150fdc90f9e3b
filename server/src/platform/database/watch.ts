// Detects a database that does not respond although its connections look alive, for example because the network drops packets or a machine
// hangs.
import type { Socket } from "node:net";
import { setTimeout as delay } from "node:timers/promises";
import { Client, DatabaseError, type Pool, type PoolClient } from "pg";

export interface DatabaseWatch {
  /** Waits for the database. @throws Error 08006 (connection failure) when it is away */
  during<T>(wait: () => Promise<T>): Promise<T>;
  /** Registers a pool connection in use, which is closed when the database is away. */
  follow(client: PoolClient): void;
}

/**
 * With the defaults a waiting caller gets an error after at most 4.5 s. Statements may take longer than that, because the check is whether
 * a new connection still gets a response.
 */
const DEFAULT_TIMES = { suspectMs: 1_500, patienceMs: 3_000, pollMs: 250 };
/** A busy process must not blame the database, so its event loop gets this many turns before the patience ends. */
const TURNS = 6;

export function createDatabaseWatch(pool: Pool, times: Partial<typeof DEFAULT_TIMES> = {}): DatabaseWatch {
  const { suspectMs, patienceMs, pollMs } = { ...DEFAULT_TIMES, ...times };
  const waits = new Set<{ sinceMs: number }>();
  const clients = new Set<PoolClient>();
  let isAway = false;
  let isLooking = false;

  pool.on("remove", (client) => clients.delete(client));

  async function look(): Promise<void> {
    const longAgoMs = performance.now() - suspectMs;
    if (isLooking || (!isAway && ![...waits].some(({ sinceMs }) => sinceMs < longAgoMs))) return;
    isLooking = true;
    const before = new Map([...clients].map((client) => [client, bytesReadBy(client)]));
    const isResponded = await isResponding(pool, patienceMs);
    // This process may be starved itself, so bytes on any connection prove that the database is there.
    const isHeard = [...before].some(([client, bytes]) => clients.has(client) && bytesReadBy(client) > bytes);
    isAway = !isResponded && !isHeard;
    if (isAway) for (const client of clients) breakOff(client);
    isLooking = false;
  }

  // The timer must not keep the process alive.
  setInterval(() => void look(), pollMs).unref();
  return {
    async during(wait) {
      if (isAway) throw connectionFailure();
      const one = { sinceMs: performance.now() };
      waits.add(one);
      try {
        return await wait();
      } finally {
        waits.delete(one);
      }
    },
    follow: (client) => void clients.add(client),
  };
}

/** Returns whether the database responds to a new connection, even if only to say that it has no room. */
async function isResponding(pool: Pool, patienceMs: number): Promise<boolean> {
  const client = new Client(pool.options);
  client.on("error", () => undefined);
  const response = client.connect().then(
    () => true,
    (error: unknown) => error instanceof DatabaseError,
  );
  const isThere = await Promise.race([response, patience(patienceMs)]);
  if (isThere) void client.end().catch(() => undefined);
  else breakOff(client);
  return isThere;
}

async function patience(ms: number): Promise<false> {
  for (let turn = 0; turn < TURNS; turn++) await delay(ms / TURNS, undefined, { ref: false });
  return false;
}

/** Returns the bytes that the database has sent on this connection. */
function bytesReadBy(client: PoolClient): number {
  const { stream } = (client as unknown as Client).connection as unknown as { stream: Socket };
  return stream.bytesRead;
}

function breakOff(client: Client | PoolClient): void {
  (client as Client).connection.stream.destroy(connectionFailure());
}

function connectionFailure(): Error {
  return Object.assign(new Error("The database does not respond."), { code: "08006" });
}
