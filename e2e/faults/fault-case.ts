// What a case of `npm run faults` is: a name, a sentence, and a run that answers rows of the table with what was wrong.

export type Size = "small" | "large";

export interface FaultRun {
  seed: number;
  size: Size;
  /** 0 to 1, decided by the seed. */
  random: () => number;
}

/** A row of the table: one scene of a case. */
export interface FaultRow {
  name: string;
  recipients: number;
  /** Deaths and stops of programs. */
  kills: number;
  sent: number;
  /** Failed or skipped, each with a reason. */
  failed: number;
  unconfirmed: number;
  /** Recipients who were mailed more than once. */
  twice: number;
  /** Recipients who were not mailed although nothing says so. */
  lost: number;
  /** The longest time from a fault to the next mail or the end; null where nothing stopped. */
  recoveryMs: number | null;
  /** What was wrong, in sentences; none is a pass. */
  faults: readonly string[];
}

/** The row of a scene that could not be played to its end: a broken promise too. */
export function rowOfFailure(name: string, error: unknown): FaultRow {
  const why = error instanceof Error ? `${error.stack} ${String(error.cause ?? "")}` : String(error);
  const none = { recipients: 0, kills: 0, sent: 0, failed: 0, unconfirmed: 0, twice: 0, lost: 0 };
  return { name, ...none, recoveryMs: null, faults: [`could not go on: ${why}`] };
}

export interface FaultCase {
  /** As it is called on the command line. */
  name: string;
  /** What happens and what must come of it. */
  shows: string;
  run(run: FaultRun): Promise<readonly FaultRow[]>;
}
