// Whether a database is the one it was, or went back to an earlier state: judged by its row, by where it is, and by what this machine kept.
// Pure.

/** Where a database is; null for what its user may not ask. */
export interface Place {
  systemIdentifier: string | null;
  databaseOid: string | null;
  /** Changes when a standby, or a base backup, becomes the primary. */
  timeline: string | null;
}

/** The row of `installation`. */
export interface Stamp {
  /** null: it was never started. */
  id: string | null;
  /** Where it was seen last. */
  place: Place;
  incarnation: number;
  incarnationBeat: number;
  beat: number;
  /** By the clock of the database, ms since 1970, as all that follow. */
  beatAtMs: number;
  nowMs: number;
  isHoldAsked: boolean;
  wentBackAtMs: number | null;
}

/** What a machine remembers of the row. */
export interface Kept {
  id: string;
  incarnation: number;
  beat: number;
  beatAtMs: number;
  /** Kept in a file that was copied or moved since. */
  isCopy: boolean;
  /** Since when a process that lives remembers all it did, and puts it right by itself; null: it began after that. */
  rememberedSinceMs: number | null;
}

export interface Verdict {
  /** It is another database, or the same one at an earlier state. */
  isAnother: boolean;
  /** Why everything is to be held; null: nothing speaks for it. */
  holdReason: string | null;
}

const MINUTE_MS = 60_000;
/** After a longer silence of all processes something must prove that the database is where it was. */
export const SILENCE_MS = 60 * MINUTE_MS;
/** A standby that took over, for a process that knows nothing of before. */
const FAILOVER_MS = 5 * MINUTE_MS;

/** Judges a database at the start of a process, or when it found it changed. */
export function judge(stamp: Stamp, place: Place, kept: Kept | null): Verdict {
  const isFirstStart = stamp.id === null;
  const own = kept?.id === stamp.id ? kept : null;
  const isMoved = !isFirstStart && (differs("systemIdentifier") || differs("databaseOid"));
  const isPromoted = !isFirstStart && differs("timeline");
  function differs(name: keyof Place): boolean {
    return place[name] !== null && stamp.place[name] !== null && place[name] !== stamp.place[name];
  }

  function holdReason(): string | null {
    if (stamp.isHoldAsked) return "It was asked for.";
    if (isFirstStart) return null;
    if (own !== null && isBehind(stamp, own) && !outlived(stamp, own))
      return `The database went back: it has heartbeat ${stamp.beat}, and this machine saw ${own.beat}. A backup was restored, or a standby took over that had not got everything.`;
    if (isMoved) {
      if (own !== null && !own.isCopy && own.beat === stamp.beat) return null;
      return "The database is a copy: its tables come from another PostgreSQL server or another database.";
    }
    if (own?.isCopy === true)
      return "The data folder is a copy: nothing tells whether the one it was made of went on.";
    const silenceMs = stamp.nowMs - stamp.beatAtMs;
    const isProved = own !== null && stamp.beatAtMs - own.beatAtMs <= SILENCE_MS;
    if (isProved || silenceMs <= (isPromoted ? FAILOVER_MS : SILENCE_MS)) return null;
    return `The last heartbeat in the database is ${Math.round(silenceMs / MINUTE_MS)} minutes old, and this machine remembers nothing that proves that it is the newest.`;
  }

  const reason = holdReason();
  const isFirstToSee = own !== null && own.incarnation === stamp.incarnation && own.beat > stamp.beat;
  return { isAnother: isMoved || isPromoted || isFirstToSee || reason !== null, holdReason: reason };
}

/** Whether all that the database forgot happened under the eyes of a process that lives. */
function outlived(stamp: Stamp, kept: Kept): boolean {
  return kept.rememberedSinceMs !== null && kept.rememberedSinceMs <= stamp.beatAtMs;
}

/** Whether two places are the same one, as far as both are told. */
export function isPlace(one: Place, other: Place): boolean {
  return (["systemIdentifier", "databaseOid", "timeline"] as const).every(
    (name) => one[name] === null || other[name] === null || one[name] === other[name],
  );
}

/** Whether the machine saw more than the database knows, and that was not dealt with already. */
export function isBehind(stamp: Stamp, kept: Kept): boolean {
  if (stamp.wentBackAtMs !== null && kept.beatAtMs <= stamp.wentBackAtMs) return false;
  if (kept.incarnation === stamp.incarnation) return kept.beat > stamp.beat;
  // Another process was the first to find it so: what counts is how far it was then.
  if (kept.incarnation === stamp.incarnation - 1) return kept.beat > stamp.incarnationBeat;
  return kept.incarnation > stamp.incarnation;
}
