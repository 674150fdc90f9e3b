// Notices a database that does not answer although its connections look alive: a network that swallows everything, a machine that hangs.
import type { Socket } from "node:net";
import { setTimeout as delay } from "node:timers/promises";
import { Client, DatabaseError, type Pool, type PoolClient } from "pg";

export interface DatabaseWatch {
  /** Waits for the database. @throws Error 08006 (connection failure) when it is away. */
  during<T>(wait: () => Promise<T>): Promise<T>;
  /** A connection of the pool that is in use; it is broken off when the database is away. */
  follow(client: PoolClient): void;
}

/**
 * With the defaults whoever waits is told after at most 4.5 s. A statement may well take longer: what is asked then is not how
 * long, but whether a new connection still gets through.
 */
const DEFAULT_TIMES = { suspectMs: 1_500, patienceMs: 3_000, lookMs: 250 };
/** A process that was busy itself must not blame the database: it has had its turn so many times before the patience ends. */
const TURNS = 6;

export function createDatabaseWatch(pool: Pool, times: Partial<typeof DEFAULT_TIMES> = {}): DatabaseWatch {
  const { suspectMs, patienceMs, lookMs } = { ...DEFAULT_TIMES, ...times };
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
    const isAnswered = await isAnswering(pool, patienceMs);
    // Whoever asks may be starved itself: as long as the database speaks on any connection, it is there.
    const isHeard = [...before].some(([client, bytes]) => clients.has(client) && bytesReadBy(client) > bytes);
    isAway = !isAnswered && !isHeard;
    if (isAway) for (const client of clients) breakOff(client);
    isLooking = false;
  }

  // A process may end while it runs.
  setInterval(() => void look(), lookMs).unref();
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

/** Whether the database says anything at all to a new connection, even that it has no room for one. */
async function isAnswering(pool: Pool, patienceMs: number): Promise<boolean> {
  const client = new Client(pool.options);
  client.on("error", () => undefined);
  const answer = client.connect().then(
    () => true,
    (error: unknown) => error instanceof DatabaseError,
  );
  const isThere = await Promise.race([answer, patience(patienceMs)]);
  if (isThere) void client.end().catch(() => undefined);
  else breakOff(client);
  return isThere;
}

async function patience(ms: number): Promise<false> {
  for (let turn = 0; turn < TURNS; turn++) await delay(ms / TURNS, undefined, { ref: false });
  return false;
}

/** How much the database has ever said on this connection. */
function bytesReadBy(client: PoolClient): number {
  const { stream } = (client as unknown as Client).connection as unknown as { stream: Socket };
  return stream.bytesRead;
}

function breakOff(client: Client | PoolClient): void {
  (client as Client).connection.stream.destroy(connectionFailure());
}

function connectionFailure(): Error {
  return Object.assign(new Error("The database does not answer."), { code: "08006" });
}
