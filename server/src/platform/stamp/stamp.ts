// Notices a database that is not where it was: restored from a backup, copied beside the original, taken over by a standby. A row in
// the database counts heartbeats; each process remembers it, in memory and in a file.
// Before it: main.ts, when the tables are up to date. After it: whoever holds everything that waits (instance/held.ts).
import { transaction, type Database, type Tx } from "../database.ts";
import type { Log } from "../log.ts";
import { judge, type Kept } from "./rules.ts";
import type { StampFile } from "./stamp-file.ts";
import { lockStamp, readPlace, updateBeat, updateStamp } from "./stamp-queries.ts";

export {
  findHeld,
  updateHeld as markHeld,
  updateHoldAsked as askToHold,
  updateReleased as markReleased,
} from "./stamp-queries.ts";

/** Holds all that waits; answers whether there was anything. */
export type Hold = (tx: Tx, reason: string) => Promise<boolean>;

export interface StampOptions {
  database: Database;
  file: StampFile;
  hold: Hold;
  log: Log;
  /** Between two heartbeats; shorter in tests. */
  beatMs?: number;
}

export interface StampWatch {
  stop(): Promise<void>;
}

const BEAT_MS = 5_000;

/** Looks at the database before anything leaves, and at each heartbeat until stopped. @throws what the first look threw */
export async function watchStamp(options: StampOptions): Promise<StampWatch> {
  const { database, file, log } = options;
  let known: Kept | null = null;
  let isFileTold = false;

  async function remember(row: Awaited<ReturnType<typeof updateBeat>>): Promise<void> {
    if (row.id === null) return;
    known = {
      id: row.id,
      incarnation: row.incarnation,
      beat: row.beat,
      beatAtMs: row.beat_at_ms,
      isCopy: false,
    };
    const { isCopy: _, ...kept } = known;
    await file.write(kept).then(
      () => (isFileTold = false),
      (error: unknown) => {
        if (!isFileTold) log.warn({ err: error }, "the file that remembers the database cannot be written");
        isFileTold = true;
      },
    );
  }

  async function beat(): Promise<void> {
    const row = await updateBeat(database);
    // Others may have found it changed and dealt with it; then it has another incarnation.
    const wentBack = known !== null && row.incarnation <= known.incarnation && row.beat <= known.beat;
    const isChanged = row.hold_asked || wentBack;
    // It has this heartbeat more already than when it went back.
    if (isChanged) await look(options, known === null ? null : { ...known, beat: known.beat + 1 });
    await remember(isChanged ? await updateBeat(database) : row);
  }

  await look(options, null);
  await remember(await updateBeat(database));
  let beating = Promise.resolve();
  const timer = setInterval(() => {
    beating = beating.then(beat).catch((error: unknown) => log.debug({ err: error }, "no heartbeat"));
  }, options.beatMs ?? BEAT_MS);
  return {
    async stop() {
      clearInterval(timer);
      // The last one to stop remembers the very end: what proves that a database was moved in order.
      await beating.then(beat).catch(() => undefined);
    },
  };
}

/** Judges the database, holds everything where it went back, and notes where it is now: all of it or nothing. */
async function look({ database, file, hold, log }: StampOptions, known: Kept | null): Promise<void> {
  const found = await transaction(database, async (tx) => {
    const stamp = await lockStamp(tx);
    const place = await readPlace(tx);
    const kept = known ?? (stamp.id === null ? null : await file.read(stamp.id));
    const { isAnother, holdReason } = judge(stamp, place, kept);
    const isHeld = holdReason !== null && (await hold(tx, holdReason));
    const leastBeat = kept?.id === stamp.id ? (kept?.beat ?? 0) : 0;
    await updateStamp(tx, { place, isAnother, leastBeat, wentBack: holdReason !== null });
    return { from: stamp.place, to: place, isAnother, holdReason, isHeld };
  });
  if (!found.isAnother) return;
  const { holdReason, isHeld, from, to } = found;
  if (isHeld)
    log.error({ from, to, reason: holdReason }, "everything that waited is held: npm run admin -- held");
  else log.warn({ from, to, reason: holdReason }, "the database is another one; nothing had to be held");
}
