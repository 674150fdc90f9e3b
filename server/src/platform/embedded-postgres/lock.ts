// First step of embedded-postgres.ts. Allows one live process per data folder with SQLite's file lock (fcntl, LockFileEx on Windows). The
// kernel releases it when the process ends in any way, so there are no stale locks or pids, and it works between containers that share the
// folder.
import { chownSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import path from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { DatabaseSync } from "node:sqlite";
import { DataDirInUseError, explainFailure, systemErrorCode } from "./errors.ts";

const LOCK_FILE = "server.lock";
const PID_FILE = "server.pid";

/** SQLite waits this long, so that two simultaneous tries do not both fail. */
const SQLITE_WAIT_MS = 50;
const RETRY_EVERY_MS = 50;

const SQLITE_BUSY = 5;

export type DataDirLock = { release(): void };

/**
 * Locks the data folder for this process until `release()` or the end of the process.
 * @param waitMs how long a stopping server may keep the lock
 * @throws DataDirInUseError if another process, or another start in this one, keeps it for longer
 */
export async function lockDataDir(
  dataDir: string,
  waitMs: number,
  log: (message: string) => void,
): Promise<DataDirLock> {
  const deadline = performance.now() + waitMs;
  let hasWarned = false;
  for (;;) {
    const lock = tryToLock(dataDir);
    if (lock !== undefined) return lock;
    const holder = readHolder(path.join(dataDir, PID_FILE));
    if (performance.now() >= deadline) throw inUse(dataDir, holder);
    if (!hasWarned)
      log(`Another server (process id ${holder}) is still using ${dataDir}. Waiting for it to stop.`);
    hasWarned = true;
    await delay(RETRY_EVERY_MS);
  }
}

/** Returns undefined if the lock is taken. */
function tryToLock(dataDir: string): DataDirLock | undefined {
  const lockFile = path.join(dataDir, LOCK_FILE);
  const pidFile = path.join(dataDir, PID_FILE);
  const database = openLockFile(lockFile, dataDir);
  try {
    // Nothing is ever written, so a journal file is not needed.
    database.exec("PRAGMA journal_mode = MEMORY; BEGIN EXCLUSIVE");
    // Only for the message to others, because the lock needs no pid.
    writeFileSync(pidFile, `${process.pid}\n`);
    giveToOwnerOfFolder(dataDir, [lockFile, pidFile]);
  } catch (error) {
    database.close();
    if (isBusy(error)) return undefined;
    throw explainFailure(`The lock file ${lockFile} cannot be locked`, String(error), dataDir);
  }
  return {
    release() {
      if (!database.isOpen) return;
      rmSync(pidFile, { force: true });
      database.close();
    },
  };
}

function openLockFile(lockFile: string, dataDir: string): DatabaseSync {
  try {
    // Opens the file ourselves first, because SQLite's errors do not mention a missing permission or a full disk.
    writeFileSync(lockFile, "", { flag: "a" });
    return new DatabaseSync(lockFile, { timeout: SQLITE_WAIT_MS });
  } catch (error) {
    throw explainFailure(`The lock file ${lockFile} cannot be opened`, String(error), dataDir);
  }
}

function isBusy(error: unknown): boolean {
  return (
    error instanceof Error &&
    "errcode" in error &&
    typeof error.errcode === "number" &&
    (error.errcode & 0xff) === SQLITE_BUSY
  );
}

function readHolder(pidFile: string): string {
  try {
    return readFileSync(pidFile, "utf8").trim() || "unknown";
  } catch (error) {
    if (systemErrorCode(error) === undefined) throw error;
    return "unknown";
  }
}

function inUse(dataDir: string, holder: string): DataDirInUseError {
  return new DataDirInUseError(
    `Another server is running on the data folder ${dataDir} (process id ${holder}). ` +
      "Stop that one first, or give this one its own folder with DATA_DIR.",
  );
}

/** Gives files to the owner of the folder, so that a start with sudo does not prevent later starts without it. */
export function giveToOwnerOfFolder(dataDir: string, files: string[]): void {
  if (process.getuid?.() !== 0) return;
  const { uid, gid } = statSync(dataDir);
  for (const file of files) chownSync(file, uid, gid);
}
