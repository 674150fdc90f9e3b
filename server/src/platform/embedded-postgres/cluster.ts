// Fifth step of embedded-postgres.ts. Makes sure that the cluster (PostgreSQL's data folder) exists, is complete, has our major version and
// belongs to the account. A new one is created elsewhere and moved when it is complete, so a crash leaves no partial cluster.
import { randomBytes } from "node:crypto";
import {
  chmod,
  chown,
  lchown,
  open,
  opendir,
  readdir,
  readFile,
  rename,
  rmdir,
  stat,
  writeFile,
} from "node:fs/promises";
import path from "node:path";
import { runAs, type Account } from "./account.ts";
import { programPath, type PostgresFolder } from "./binaries.ts";
import {
  EmbeddedPostgresError,
  EXTERNAL_DATABASE_ADVICE,
  explainFailure,
  systemErrorCode,
} from "./errors.ts";

/** The user that created the cluster. The program uses another one (application-role.ts). */
export const SUPERUSER = "postloft";

/** Inside the cluster, so that a copy of the cluster is complete. Mode 0600. */
const PASSWORD_FILE = "superuser-password";
const PASSWORD_BYTES = 24;
const INITDB_TIMEOUT_MS = 180_000;

const INITDB_OPTIONS = [
  `--username=${SUPERUSER}`,
  "--auth=scram-sha-256",
  "--encoding=UTF8",
  // PostgreSQL's own C.UTF-8 has the same sort order and case on every machine, regardless of its libc or ICU.
  "--locale=C",
  "--locale-provider=builtin",
  "--builtin-locale=C.UTF-8",
  "--data-checksums",
  "--no-instructions",
];

/**
 * Returns whether a complete cluster exists, or false if the folder is missing or empty.
 * @throws EmbeddedPostgresError for any other content, which may be valuable data
 */
export async function hasCluster(clusterDir: string): Promise<boolean> {
  const names = await listNames(clusterDir);
  if (names.length === 0) return false;
  const globals = await listNames(path.join(clusterDir, "global"));
  if (names.includes("PG_VERSION") && globals.includes("pg_control")) return true;
  throw new EmbeddedPostgresError(
    `${clusterDir} is not empty and not a complete PostgreSQL data folder (PG_VERSION or global/pg_control is missing). ` +
      "Nothing was changed. Restore a backup in its place, or move it away to start with an empty database.",
  );
}

async function listNames(folder: string): Promise<string[]> {
  try {
    return await readdir(folder);
  } catch (error) {
    if (systemErrorCode(error) === "ENOENT") return [];
    throw error;
  }
}

/**
 * Checks an existing cluster and makes the account the owner of its files.
 * @param majorVersion of the programs ("18")
 * @throws EmbeddedPostgresError if another major version created it
 */
export async function adoptCluster(
  clusterDir: string,
  account: Account,
  majorVersion: string,
): Promise<void> {
  const made = (await readFile(path.join(clusterDir, "PG_VERSION"), "utf8")).trim();
  if (made !== majorVersion) {
    throw new EmbeddedPostgresError(
      `The database in ${clusterDir} was created by PostgreSQL ${made}. This version of the server includes PostgreSQL ${majorVersion}, which cannot read it. ` +
        `Nothing was changed. Start the version of the server that created it, dump the database, and load it into a new data folder. ${EXTERNAL_DATABASE_ADVICE}`,
    );
  }
  const { mode, uid } = await stat(clusterDir);
  // PostgreSQL rejects a folder that is open to other users, as copies from backups often are.
  if (process.platform !== "win32" && (mode & 0o027) !== 0) await chmod(clusterDir, 0o700);
  const { owner } = account;
  if (owner !== undefined && owner.uid !== uid) await giveTree(clusterDir, owner);
}

/** Changes the owner of the folder last, so that it shows whether everything below is done. */
async function giveTree(folder: string, owner: { uid: number; gid: number }): Promise<void> {
  for await (const entry of await opendir(folder)) {
    const entryPath = path.join(folder, entry.name);
    if (entry.isDirectory()) await giveTree(entryPath, owner);
    else await lchown(entryPath, owner.uid, owner.gid);
  }
  await chown(folder, owner.uid, owner.gid);
}

/**
 * Creates a cluster in `workDir` and moves it to `clusterDir` when it is complete and on disk.
 * @param workDir an empty folder on the same file system, owned by the account
 */
export async function createCluster(places: {
  dataDir: string;
  clusterDir: string;
  workDir: string;
  programs: PostgresFolder;
  account: Account;
}): Promise<void> {
  const { dataDir, clusterDir, workDir, programs, account } = places;
  const passwordFile = path.join(workDir, "password");
  const newCluster = path.join(workDir, "cluster");
  await writeFile(passwordFile, randomBytes(PASSWORD_BYTES).toString("base64url"), {
    mode: 0o600,
    flush: true,
  });
  if (account.owner !== undefined) await chown(passwordFile, account.owner.uid, account.owner.gid);
  const outcome = await runAs(
    account,
    [programPath(programs, "initdb"), "-D", newCluster, `--pwfile=${passwordFile}`, ...INITDB_OPTIONS],
    INITDB_TIMEOUT_MS,
  );
  if (outcome.code !== 0) throw explainFailure("initdb failed", outcome.output, dataDir);
  await rename(passwordFile, path.join(newCluster, PASSWORD_FILE));
  await flushFolder(newCluster);
  if ((await listNames(dataDir)).includes(path.basename(clusterDir))) await rmdir(clusterDir);
  await rename(newCluster, clusterDir);
  // The new name must survive a power failure before the first commit is confirmed.
  await flushFolder(dataDir);
}

/** Makes the names in a folder survive a power failure. */
export async function flushFolder(folder: string): Promise<void> {
  // Windows cannot open folders and flushes names automatically.
  if (process.platform === "win32") return;
  const handle = await open(folder, "r");
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}

/** Returns the password of SUPERUSER. */
export async function readPassword(clusterDir: string): Promise<string> {
  const file = path.join(clusterDir, PASSWORD_FILE);
  try {
    return (await readFile(file, "utf8")).trim();
  } catch (error) {
    if (systemErrorCode(error) !== "ENOENT") throw error;
    throw new EmbeddedPostgresError(
      `${file} is missing. It contains the password of the database user ${SUPERUSER}. Restore it from a backup of the data folder.`,
    );
  }
}
