// Defines a case of `npm run faults`: a name, a description, and a run that returns table rows with the faults found.

export type Size = "small" | "large";

export interface FaultRun {
  seed: number;
  size: Size;
  /** Returns a seeded random number from 0 to 1. */
  random: () => number;
}

/** A table row, for one scene of a case. */
export interface FaultRow {
  name: string;
  recipients: number;
  /** Number of killed and stopped programs. */
  kills: number;
  sent: number;
  /** Failed or skipped emails, each with a reason. */
  failed: number;
  unconfirmed: number;
  /** Recipients mailed more than once. */
  twice: number;
  /** Recipients not mailed although their status does not say so. */
  lost: number;
  /** The longest time from a fault to the next email or the end; null if sending never stopped. */
  recoveryMs: number | null;
  /** Faults as sentences; empty if the scene passed. */
  faults: readonly string[];
}

/** Returns the row of a scene that failed with an exception. */
export function rowOfFailure(name: string, error: unknown): FaultRow {
  const why = error instanceof Error ? `${error.stack} ${String(error.cause ?? "")}` : String(error);
  const none = { recipients: 0, kills: 0, sent: 0, failed: 0, unconfirmed: 0, twice: 0, lost: 0 };
  return { name, ...none, recoveryMs: null, faults: [`could not continue: ${why}`] };
}

export interface FaultCase {
  /** The name on the command line. */
  name: string;
  /** Describes the faults and the expected result. */
  shows: string;
  run(run: FaultRun): Promise<readonly FaultRow[]>;
}
