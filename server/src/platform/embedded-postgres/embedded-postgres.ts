// Runs the PostgreSQL that comes with the server, for installations without DATABASE_URL. main.ts starts it first and stops it last. The
// steps lock → programs → account → leftovers → cluster → postmaster have a file each.
import { mkdir, mkdtemp, readdir, realpath, rm } from "node:fs/promises";
import path from "node:path";
import { chooseAccount, listAccounts } from "./account.ts";
import { asApplication, prepareApplicationRole } from "./application-role.ts";
import { findPostgresFolder, linkLibraries } from "./binaries.ts";
import { adoptCluster, createCluster, hasCluster, readPassword, SUPERUSER } from "./cluster.ts";
import { explainFailure, explainSystemError } from "./errors.ts";
import { clearLeftovers } from "./leftovers.ts";
import { lockDataDir } from "./lock.ts";
import { HOST, launchPostmaster, type Postmaster } from "./postmaster.ts";

export { DataDirInUseError, EmbeddedPostgresError } from "./errors.ts";

/** Replaying 2 GB of WAL after a crash takes minutes on a slow disk. */
const START_TIMEOUT_MS = 600_000;

/** A restart often starts the new server while the old one is still stopping. */
const LOCK_WAIT_MS = 3_000;

/** The name of folders for one start. The next start removes those that a killed start left behind. */
const WORK_DIR_PREFIX = "postgres-new-";

export type Connection = { host: string; port: number; user: string; password: string; database: string };

export type EmbeddedPostgres = {
  /** The connection of the program, as a normal user that owns the database. */
  connection: Connection;
  /** For tests and tools that create databases, over TCP. */
  superuser: Connection;
  /** Shuts PostgreSQL down (fast, then immediately, 13 s at most) and frees the data folder. Can be called repeatedly. */
  stop(): Promise<void>;
  /** Resolves with a sentence when PostgreSQL ends without `stop()`. Call `stop()` anyway before starting again. */
  exited: Promise<string>;
};

/**
 * Starts PostgreSQL on `<dataDir>/postgres` and creates it on the first start (1 s, later starts 0.1 s). It listens only on a
 * socket in that folder and on 127.0.0.1, on a port that changes with each start. After any kill -9 the next start recovers without losing a commit.
 * @param options.log receives a sentence about everything slow or unusual
 * @param options.lockWaitMs how long another server on the folder may take to stop
 * @throws DataDirInUseError if another server runs on the folder
 * @throws EmbeddedPostgresError for every other expected reason, in plain words
 */
export async function startEmbeddedPostgres(options: {
  dataDir: string;
  log: (message: string) => void;
  startTimeoutMs?: number;
  lockWaitMs?: number;
}): Promise<EmbeddedPostgres> {
  const dataDir = await makeDataDir(options.dataDir);
  const lock = await lockDataDir(dataDir, options.lockWaitMs ?? LOCK_WAIT_MS, options.log);
  try {
    const { postmaster, password } = await startOnLockedDir(dataDir, options);
    const superuser = {
      host: HOST,
      port: postmaster.port,
      user: SUPERUSER,
      password,
      database: "postgres",
    };
    await prepareApplicationRole(superuser).catch(async (error: unknown) => {
      await postmaster.stop();
      throw error;
    });
    let stopped: Promise<void> | undefined;
    return {
      connection: asApplication({ ...superuser, host: postmaster.host }),
      superuser,
      stop: () => (stopped ??= postmaster.stop().finally(() => lock.release())),
      exited: postmaster.exited,
    };
  } catch (error) {
    lock.release();
    throw explainSystemError(error, dataDir);
  }
}

async function makeDataDir(dataDir: string): Promise<string> {
  try {
    await mkdir(dataDir, { recursive: true, mode: 0o700 });
    return await realpath(dataDir);
  } catch (error) {
    throw explainFailure("The data folder cannot be created", String(error), dataDir);
  }
}

async function startOnLockedDir(
  dataDir: string,
  { log, startTimeoutMs = START_TIMEOUT_MS }: { log: (message: string) => void; startTimeoutMs?: number },
): Promise<{ postmaster: Postmaster; password: string }> {
  const place = path.join(dataDir, "postgres");
  const found = await linkLibraries(findPostgresFolder(), dataDir);
  await removeWorkDirs(dataDir, log);
  const workDir = await mkdtemp(path.join(dataDir, WORK_DIR_PREFIX));
  try {
    const isThere = await hasCluster(place);
    // The working folders of running processes contain no symlinks.
    const clusterDir = isThere ? await realpath(place) : place;
    const { account, programs, majorVersion } = await chooseAccount({
      accounts: await listAccounts(isThere ? clusterDir : dataDir),
      dataDir,
      workDir,
      programs: found,
    });
    if (isThere) {
      await clearLeftovers(clusterDir, programs, log);
      await adoptCluster(clusterDir, account, majorVersion);
    } else {
      log(`Creating a new database in ${clusterDir}.`);
      await createCluster({ dataDir, clusterDir, workDir, programs, account });
    }
    const password = await readPassword(clusterDir);
    const launch = { dataDir, clusterDir, programs, account, startTimeoutMs, log };
    return { postmaster: await launchPostmaster(launch), password };
  } finally {
    await rm(workDir, { recursive: true, force: true });
  }
}

/** Removes the folders of killed starts. If an initdb still writes into its folder, the next start removes it. */
async function removeWorkDirs(dataDir: string, log: (message: string) => void): Promise<void> {
  for (const name of await readdir(dataDir)) {
    if (!name.startsWith(WORK_DIR_PREFIX)) continue;
    try {
      await rm(path.join(dataDir, name), { recursive: true, force: true, maxRetries: 2 });
    } catch (error) {
      log(`The unfinished folder ${name} could not be removed yet: ${String(error)}`);
    }
  }
}
