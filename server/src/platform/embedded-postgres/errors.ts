// The sentences a person reads when the embedded PostgreSQL cannot start: what is wrong and what to do about it.
// Thrown by every step of embedded-postgres.ts; main.ts prints the message and ends.

/** An expected failure of the embedded database; `message` is complete and meant for whoever starts the server. */
export class EmbeddedPostgresError extends Error {
  override name = "EmbeddedPostgresError";
}

/** Another live process runs its server on the same data folder; two on one folder would destroy it. */
export class DataDirInUseError extends EmbeddedPostgresError {
  override name = "DataDirInUseError";
}

export const EXTERNAL_DATABASE_ADVICE =
  "Or use a PostgreSQL of your own (version 15 or newer): set DATABASE_URL=postgres://user:password@host:5432/database.";

const PERMISSION_DENIED =
  /EACCES|EPERM|EROFS|Permission denied|Operation not permitted|Read-only file system/;
const DISK_FULL = /ENOSPC|EDQUOT|No space left on device|Disk quota exceeded/;
const OUT_OF_MEMORY = /Cannot allocate memory|ENOMEM|could not map anonymous shared memory/;

/** Longer words of a program are cut at the front: the cause stands at the end. */
const QUOTED_LENGTH = 2000;

const explanations: { pattern: RegExp; sentence: (dataDir: string) => string }[] = [
  {
    pattern: DISK_FULL,
    sentence: (dataDir) =>
      `The disk that holds the data folder ${dataDir} is full (or its quota is used up). Free some space and start again; what was stored is still there.`,
  },
  {
    pattern: /could not look up effective user ID|administrative permissions|cannot be run as root/,
    sentence: () =>
      `PostgreSQL refuses to run as this user: it needs an ordinary account that the system knows by name. Start the server as such a user. ${EXTERNAL_DATABASE_ADVICE}`,
  },
  {
    pattern: OUT_OF_MEMORY,
    sentence: () =>
      `There is not enough free memory for PostgreSQL (it asks for about 300 MB). ${EXTERNAL_DATABASE_ADVICE}`,
  },
  {
    pattern: PERMISSION_DENIED,
    sentence: (dataDir) =>
      `No permission to use the data folder ${dataDir}. Give the folder and all in it to the user who starts the server (chown -R), or choose another folder with DATA_DIR.`,
  },
];

/**
 * Turns what PostgreSQL or the file system said into one plain sentence, the original words behind it.
 *
 * @param action what was being done, as in "PostgreSQL could not start"
 * @param output the words of the failed program or system call
 */
export function explainFailure(action: string, output: string, dataDir: string): EmbeddedPostgresError {
  const details = output.trim().slice(-QUOTED_LENGTH);
  const known = explanations.find(({ pattern }) => pattern.test(details));
  const said = details === "" ? "It said nothing." : `It said: ${details}`;
  return new EmbeddedPostgresError(
    known === undefined ? `${action}. ${said}` : `${known.sentence(dataDir)} (${action}. ${said})`,
  );
}

/** The code of a failed system call ("ENOENT"), or undefined for any other error. */
export function systemErrorCode(error: unknown): string | undefined {
  return error instanceof Error && "code" in error && typeof error.code === "string" ? error.code : undefined;
}

/**
 * A failed system call below the data folder becomes a plain sentence; anything else is a bug and stays as it is.
 */
export function explainSystemError(error: unknown, dataDir: string): unknown {
  if (error instanceof EmbeddedPostgresError || !(error instanceof Error)) return error;
  const isKnown = explanations.some(({ pattern }) => pattern.test(error.message));
  return isKnown && systemErrorCode(error) !== undefined
    ? explainFailure("The embedded PostgreSQL could not be prepared", error.message, dataDir)
    : error;
}
