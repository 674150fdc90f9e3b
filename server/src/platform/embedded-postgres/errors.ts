// Contains the messages for people when the embedded PostgreSQL cannot start, with the cause and what to do. Thrown by every step of
// embedded-postgres.ts and printed by main.ts.

/** An expected failure of the embedded database. The message is complete and meant for the person who starts the server. */
export class EmbeddedPostgresError extends Error {
  override name = "EmbeddedPostgresError";
}

/** Another live process runs its server on the same data folder. Two servers on one folder would destroy it. */
export class DataDirInUseError extends EmbeddedPostgresError {
  override name = "DataDirInUseError";
}

export const EXTERNAL_DATABASE_ADVICE =
  "Or use a PostgreSQL of your own (version 15 or newer): set DATABASE_URL=postgres://user:password@host:5432/database.";

const PERMISSION_DENIED =
  /EACCES|EPERM|EROFS|Permission denied|Operation not permitted|Read-only file system/;
const DISK_FULL = /ENOSPC|EDQUOT|No space left on device|Disk quota exceeded/;
const OUT_OF_MEMORY = /Cannot allocate memory|ENOMEM|could not map anonymous shared memory/;

/** Longer messages of a program are cut at the front, because the cause is at the end. */
const QUOTED_LENGTH = 2000;

const explanations: { pattern: RegExp; sentence: (dataDir: string) => string }[] = [
  {
    pattern: DISK_FULL,
    sentence: (dataDir) =>
      `The disk that holds the data folder ${dataDir} is full (or its quota is used up). Free some space and start again. Stored data is not lost.`,
  },
  {
    pattern: /could not look up effective user ID|administrative permissions|cannot be run as root/,
    sentence: () =>
      `PostgreSQL does not run as this user. It needs a non-root account with a name. Start the server as such a user. ${EXTERNAL_DATABASE_ADVICE}`,
  },
  {
    pattern: OUT_OF_MEMORY,
    sentence: () =>
      `There is not enough free memory for PostgreSQL (it asks for about 300 MB). ${EXTERNAL_DATABASE_ADVICE}`,
  },
  {
    pattern: PERMISSION_DENIED,
    sentence: (dataDir) =>
      `No permission to use the data folder ${dataDir}. Make the user who starts the server the owner of the folder and its content (chown -R), or choose another folder with DATA_DIR.`,
  },
];

/**
 * Converts an error of PostgreSQL or the file system to one plain sentence, followed by the original message.
 * @param action the failed action, such as "PostgreSQL could not start"
 * @param output the message of the failed program or system call
 */
export function explainFailure(action: string, output: string, dataDir: string): EmbeddedPostgresError {
  const details = output.trim().slice(-QUOTED_LENGTH);
  const known = explanations.find(({ pattern }) => pattern.test(details));
  const said = details === "" ? "There was no output." : `Output: ${details}`;
  return new EmbeddedPostgresError(
    known === undefined ? `${action}. ${said}` : `${known.sentence(dataDir)} (${action}. ${said})`,
  );
}

/** Returns the code of a failed system call ("ENOENT"), or undefined for any other error. */
export function systemErrorCode(error: unknown): string | undefined {
  return error instanceof Error && "code" in error && typeof error.code === "string" ? error.code : undefined;
}

/** Converts a failed system call in the data folder to a plain sentence. Returns other errors unchanged, because they are bugs. */
export function explainSystemError(error: unknown, dataDir: string): unknown {
  if (error instanceof EmbeddedPostgresError || !(error instanceof Error)) return error;
  const isKnown = explanations.some(({ pattern }) => pattern.test(error.message));
  return isKnown && systemErrorCode(error) !== undefined
    ? explainFailure("The embedded PostgreSQL could not be prepared", error.message, dataDir)
    : error;
}
