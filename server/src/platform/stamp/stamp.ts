// Detects a database that was restored from a backup, copied or replaced by a standby. A row in the database counts heartbeats, and each
// process remembers it in memory and in a file.
import { Pool, type ClientBase } from "pg";
import { retryUntilDone, startLoop } from "../background/background.ts";
import { nowMs } from "../clock.ts";
import { createDatabase, transaction, type Database, type Tx } from "../database/database.ts";
import type { Log } from "../log.ts";
import type { Metrics } from "../metrics.ts";
import { isPlace, assess, type Kept, type Place } from "./rules.ts";
import type { StampFile } from "./stamp-file.ts";
import { lockStamp, readPlace, readSeen, updateBeat, updateStamp } from "./stamp-queries.ts";

export {
  ASK_TO_HOLD,
  findHeld,
  isHoldRequested,
  updateHeld as markHeld,
  updateHoldAsked as askToHold,
  updateReleased as markReleased,
} from "./stamp-queries.ts";

/** Holds everything that waits and returns whether there was anything. */
export type Hold = (tx: Tx, reason: string) => Promise<boolean>;

/** A component that remembers its actions and reconciles them with a database that lost them. */
export interface RecoveryParticipant {
  /** Returns since when it remembers everything, in ms since 1970. */
  sinceMs(): number;
  /** Called before any other code reaches the new database, and again if it throws. */
  reconcile(database: Database): Promise<void>;
}

export interface StampOptions {
  database: Database;
  /** Its new connections are checked before they are handed out. */
  pool: Pool;
  file: StampFile;
  hold: Hold;
  log: Log;
  metrics: Metrics;
  /** The time between two heartbeats, shorter in tests. */
  beatMs?: number;
}

export interface StampWatch {
  /** Registers a component that is called after a change to a different database. */
  addRecoveryParticipant(participant: RecoveryParticipant): void;
  stop(): Promise<void>;
}

const BEAT_MS = 5_000;
const MAX_SETTLING_CONNECTIONS = 2;

/** Checks the database before anything is sent, at each new connection and at each heartbeat. @throws the error of the first check */
// oxlint-disable-next-line max-lines-per-function -- the inner functions share its state
export async function watchStamp(options: StampOptions): Promise<StampWatch> {
  const { database, pool, file, log, metrics } = options;
  const startedMs = nowMs();
  const participants: RecoveryParticipant[] = [];
  let known: (Kept & { place: Place }) | null = null;
  let settling: Promise<void> | null = null;
  let isFileNotified = false;
  const stopping = new AbortController();
  /** The pool's own setup of new connections, such as their time limits (docs/decisions/0033). */
  const { onConnect: prepare } = pool.options;

  async function remember(row: Awaited<ReturnType<typeof updateBeat>>, place: Place): Promise<void> {
    if (row.id === null) return;
    const { beatAtMs, holdAsked: _, ...counts } = row;
    const kept = { ...counts, id: row.id, beatAtMs };
    known = { ...kept, isCopy: false, rememberedSinceMs: null, place };
    await file.write(kept).then(
      () => (isFileNotified = false),
      (error: unknown) => {
        if (!isFileNotified) log.warn({ err: error }, "cannot write the file that remembers the database");
        isFileNotified = true;
      },
    );
  }

  /** Blocks the database for everything else until its change is handled. */
  function change(): void {
    settling ??= settle().finally(() => (settling = null));
  }

  const tell = (failure: object) => log.warn(failure, "the database changed and cannot be checked yet");

  async function settle(): Promise<void> {
    const own = openOwn(pool, prepare);
    const checkAndReconcile = async () => {
      const rememberedSinceMs = Math.max(
        startedMs,
        ...participants.map((participant) => participant.sinceMs()),
      );
      const kept = known && { ...known, rememberedSinceMs };
      const place = await look({ ...options, database: own.database }, kept);
      for (const participant of participants) await participant.reconcile(own.database);
      await remember(await updateBeat(own.database), place);
    };
    try {
      await retryUntilDone(checkAndReconcile, {
        forMs: Number.POSITIVE_INFINITY,
        signal: stopping.signal,
        tell,
      });
    } catch (error) {
      log.debug({ err: error }, "the process stops before the database could be checked");
    }
    await own.pool.end();
  }

  /** Checks every new connection. @throws Error 08006 (connection failure) unless it leads to the same database as before */
  async function admit(client: ClientBase): Promise<void> {
    const expected = known;
    if (settling === null && expected !== null) {
      const seen = await readSeen(client, expected.place);
      const isSame = seen.incarnation === expected.incarnation && seen.beat >= expected.beat;
      if (isSame && isPlace(seen.place, expected.place)) return;
      change();
    }
    throw Object.assign(new Error("This is a different database than before."), { code: "08006" });
  }

  async function beat(): Promise<void> {
    if (known === null || settling !== null) return;
    const before = known;
    const row = await updateBeat(database);
    if (row.holdAsked || row.incarnation !== before.incarnation || row.beat <= before.beat) change();
    else await remember(row, before.place);
  }

  const place = await look(options, null);
  await remember(await updateBeat(database), place);
  pool.options.onConnect = async (client) => {
    await prepare?.(client);
    await admit(client);
  };
  const beatMs = options.beatMs ?? BEAT_MS;
  const beating = startLoop({
    name: "heartbeat",
    runOnce: beat,
    everyMs: beatMs,
    delayMs: beatMs,
    log,
    metrics,
  });
  return {
    addRecoveryParticipant: (participant) => void participants.push(participant),
    async stop() {
      stopping.abort();
      await beating.stop();
      // The last process to stop stores the final state, which later proves that a database was moved properly.
      await beat().catch(() => undefined);
      await settling;
      // A failed start is retried with the same pool.
      if (prepare === undefined) delete pool.options.onConnect;
      else pool.options.onConnect = prepare;
    },
  };
}

/** Opens a separate connection to the pool's database. */
function openOwn(pool: Pool, prepare: Pool["options"]["onConnect"]): { database: Database; pool: Pool } {
  const { password, onConnect: _, ...options } = pool.options;
  const connection = {
    ...options,
    max: MAX_SETTLING_CONNECTIONS,
    ...(prepare === undefined ? {} : { onConnect: prepare }),
  };
  // The password is a hidden property of the pool's options, so copying them loses it.
  const secret = pool.options.password ?? password;
  const own = new Pool(secret === undefined ? connection : { ...connection, password: secret });
  own.on("error", () => undefined);
  return { database: createDatabase(own), pool: own };
}

/** Checks the database, holds everything if it was rolled back, and stores its place in one transaction. Returns the place. */
async function look({ database, file, hold, log }: StampOptions, known: Kept | null): Promise<Place> {
  const found = await transaction(database, async (tx) => {
    const stamp = await lockStamp(tx);
    const place = await readPlace(tx);
    const kept = known ?? (stamp.id === null ? null : await file.read(stamp.id));
    const { isAnother, holdReason } = assess(stamp, place, kept);
    const isHeld = holdReason !== null && (await hold(tx, holdReason));
    const leastBeat = kept !== null && kept.id === stamp.id ? kept.beat : 0;
    await updateStamp(tx, { place, isAnother, leastBeat, rolledBack: holdReason !== null });
    return { from: stamp.place, to: place, isAnother, holdReason, isHeld };
  });
  const { holdReason, isHeld, from, to } = found;
  if (isHeld)
    log.error(
      { from, to, reason: holdReason },
      "everything that was waiting is held, review it with: npm run admin -- held",
    );
  else if (found.isAnother)
    log.warn({ from, to, reason: holdReason }, "this is a different database than before");
  return to;
}
