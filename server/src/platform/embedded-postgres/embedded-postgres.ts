// The PostgreSQL that comes with the server, for installations without one of their own (no DATABASE_URL). main.ts starts it before
// anything else and stops it last. The steps: lock → programs → account → leftovers → cluster → postmaster, a file each.
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

/** Replaying 2 GB of log after a crash on a slow disk takes minutes. */
const START_TIMEOUT_MS = 600_000;

/** Who restarts a server often starts the new one while the old one still ends. */
const LOCK_WAIT_MS = 3_000;

/** Folders for one start; whatever a killed start left under this name is removed by the next. */
const WORK_DIR_PREFIX = "postgres-new-";

export type Connection = { host: string; port: number; user: string; password: string; database: string };

export type EmbeddedPostgres = {
  /** As the program works: an ordinary user, who owns the database. */
  connection: Connection;
  /** For tests and tools that make databases. */
  superuser: Connection;
  /** Shuts it down (fast, then at once; 13 s at most) and gives the data folder free. May be called again. */
  stop(): Promise<void>;
  /** Resolves with a sentence when PostgreSQL ends without `stop()`. Call `stop()` all the same before starting again. */
  exited: Promise<string>;
};

/**
 * Starts PostgreSQL on `<dataDir>/postgres`, making it on the first start (1 s; later starts 0.1 s). It listens on 127.0.0.1 only,
 * on a port that differs from start to start. After a kill -9 of anything the next start puts all in order; no commit is lost.
 *
 * @param options.log gets a sentence for what takes time or is unusual
 * @param options.lockWaitMs how long another server on the folder may still take to end
 * @throws DataDirInUseError when another server runs on the folder
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
      connection: asApplication(superuser),
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
    throw explainFailure("The data folder cannot be made", String(error), dataDir);
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
    // Running processes show the folder without symlinks.
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
      log(`Making a new database in ${clusterDir}.`);
      await createCluster({ dataDir, clusterDir, workDir, programs, account });
    }
    const password = await readPassword(clusterDir);
    const launch = { dataDir, clusterDir, programs, account, startTimeoutMs, log };
    return { postmaster: await launchPostmaster(launch), password };
  } finally {
    await rm(workDir, { recursive: true, force: true });
  }
}

/** A killed start's initdb may still write into its folder; then it is removed next time. */
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
