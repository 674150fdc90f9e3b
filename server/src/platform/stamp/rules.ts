// Decides whether a database is still the same or was rolled back to an earlier state. Considers its row, its place and the memory of this
// machine. Pure.

/** The place of a database. Null for values that its user may not query. */
export interface Place {
  systemIdentifier: string | null;
  databaseOid: string | null;
  /** Changes when a standby or a base backup becomes the primary. */
  timeline: string | null;
}

/** The row of `installation`. */
export interface Stamp {
  /** Null if it was never started. */
  id: string | null;
  /** The last known place. */
  place: Place;
  incarnation: number;
  incarnationBeat: number;
  beat: number;
  /** By the database's clock, in ms since 1970, like the following times. */
  beatAtMs: number;
  nowMs: number;
  isHoldAsked: boolean;
  wentBackAtMs: number | null;
}

/** The machine's memory of the row. */
export interface Kept {
  id: string;
  incarnation: number;
  beat: number;
  beatAtMs: number;
  /** The memory comes from a file that has been copied or moved. */
  isCopy: boolean;
  /** The time since when a live process remembers all its actions and can reconcile them. Null if it started later. */
  rememberedSinceMs: number | null;
}

export interface Verdict {
  /** It is another database, or the same one at an earlier state. */
  isAnother: boolean;
  /** The reason to hold everything, or null. */
  holdReason: string | null;
}

const MINUTE_MS = 60_000;
/** If all processes were silent for longer, there must be proof that the database is at the same place. */
export const SILENCE_MS = 60 * MINUTE_MS;
/** The time for a standby to take over, for a process that remembers nothing. */
const FAILOVER_MS = 5 * MINUTE_MS;

/** Decides about a database at the start of a process, or when a change was detected. */
export function assess(stamp: Stamp, place: Place, kept: Kept | null): Verdict {
  const isFirstStart = stamp.id === null;
  const own = kept?.id === stamp.id ? kept : null;
  const isMoved = !isFirstStart && (differs("systemIdentifier") || differs("databaseOid"));
  const isPromoted = !isFirstStart && differs("timeline");
  function differs(name: keyof Place): boolean {
    return place[name] !== null && stamp.place[name] !== null && place[name] !== stamp.place[name];
  }

  function holdReason(): string | null {
    if (stamp.isHoldAsked) return "A hold was requested.";
    if (isFirstStart) return null;
    if (own !== null && isBehind(stamp, own) && !isRemembered(stamp, own))
      return `The database was rolled back: it has heartbeat ${stamp.beat}, but this machine saw ${own.beat}. A backup was restored, or a standby without the latest commits took over.`;
    if (isMoved) {
      if (own !== null && !own.isCopy && own.beat === stamp.beat) return null;
      return "The database is a copy. Its tables come from another PostgreSQL server or another database.";
    }
    if (own?.isCopy === true) return "The data folder is a copy, and the original may have been used since.";
    const silenceMs = stamp.nowMs - stamp.beatAtMs;
    const isProved = own !== null && stamp.beatAtMs - own.beatAtMs <= SILENCE_MS;
    if (isProved || silenceMs <= (isPromoted ? FAILOVER_MS : SILENCE_MS)) return null;
    return `The last heartbeat in the database is ${Math.round(silenceMs / MINUTE_MS)} minutes old, and this machine has no proof that it is the latest.`;
  }

  const reason = holdReason();
  const isFirstToSee = own !== null && own.incarnation === stamp.incarnation && own.beat > stamp.beat;
  return { isAnother: isMoved || isPromoted || isFirstToSee || reason !== null, holdReason: reason };
}

/** Returns whether everything that the database lost happened while a live process was running. */
function isRemembered(stamp: Stamp, kept: Kept): boolean {
  return kept.rememberedSinceMs !== null && kept.rememberedSinceMs <= stamp.beatAtMs;
}

/** Returns whether two places are the same, as far as both are known. */
export function isPlace(one: Place, other: Place): boolean {
  return (["systemIdentifier", "databaseOid", "timeline"] as const).every(
    (name) => one[name] === null || other[name] === null || one[name] === other[name],
  );
}

/** Returns whether the machine saw more than the database knows and this has not been handled yet. */
function isBehind(stamp: Stamp, kept: Kept): boolean {
  if (stamp.wentBackAtMs !== null && kept.beatAtMs <= stamp.wentBackAtMs) return false;
  if (kept.incarnation === stamp.incarnation) return kept.beat > stamp.beat;
  // Another process detected this first, so its position at that time counts.
  if (kept.incarnation === stamp.incarnation - 1) return kept.beat > stamp.incarnationBeat;
  return kept.incarnation > stamp.incarnation;
}
