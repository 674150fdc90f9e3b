// Writes, tests and lists the backups in DATA_DIR for the installation page. The work of `npm run backup` and `npm run restore` is done in a
// process of its own, so that requests don't wait for it (decision 0169).
import { fork } from "node:child_process";
import { createReadStream, type ReadStream } from "node:fs";
import { mkdir, mkdtemp, readdir, readFile, rename, rm, stat, writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { z } from "zod";
import type * as contract from "@postloft/contract/installation-backups.ts";
import { asMessage } from "@postloft/contract/translation.ts";
import { AppError } from "../platform/app-error.ts";
import { now, nowMs } from "../platform/clock.ts";

type Listed = z.output<(typeof contract.listBackups)["responses"][200]>;
type Backup = Listed["backups"][number];
export type BackupTask = NonNullable<Listed["running"]>;
type Outcome = NonNullable<Listed["failure"]>;

/** Begins the names of folders of restore tests. */
const SCRATCH = "restore-test-";
const SUFFIX = ".tar.gz";
/** Ends the names of incomplete files. */
const [PARTIAL, TEMPORARY] = [".partial", ".new"];
/** How old an incomplete file or a folder of a test is when no process uses it any more. */
const LEFT_OVER_MS = 86_400_000;
/** Files next to a backup: its secret, if DATA_DIR created that, and the result of its last restore test. */
const BESIDE = { secret: ".app-secret", test: ".restore-test.json" };

export interface BackupOrder {
  verb: "backup" | "restore";
  file: string;
  settings: Readonly<Record<string, string>>;
}

/** The result in words. */
export interface BackupReply {
  works: boolean;
  message: string;
}

export interface BackupTasks {
  list(): Promise<Listed>;
  /** @throws AppError CONFLICT while another task runs */
  create(): BackupTask;
  /** @throws AppError CONFLICT while another task runs; RESOURCE_NOT_FOUND */
  test(name: string): Promise<BackupTask>;
  /** @throws AppError RESOURCE_NOT_FOUND */
  find(name: string): Promise<{ bytes: number; open: () => ReadStream }>;
  /** @throws AppError CONFLICT while it is tested; RESOURCE_NOT_FOUND */
  remove(name: string): Promise<void>;
}

/**
 * @param dataDir the folder that has or gets the folder `backups`
 * @param settings with which the process finds the database and the secret
 */
export function createBackupTasks(dataDir: string, settings: Readonly<Record<string, string>>): BackupTasks {
  const folder = join(dataDir, "backups");
  let running: BackupTask | null = null;
  let failure: Outcome | null = null;

  function begin(kind: BackupTask["kind"], name: string, work: () => Promise<void>): BackupTask {
    if (running !== null)
      throw new AppError("CONFLICT", asMessage("A backup or a restore test is running. Wait until it ends."));
    const task = { kind, name, startedAt: now().toISOString() };
    running = task;
    void sweep(folder)
      .then(work)
      .finally(() => {
        running = null;
      });
    return task;
  }

  async function write(name: string): Promise<void> {
    const outcome = await outcomeOf(() => runApart({ verb: "backup", file: join(folder, name), settings }));
    failure = outcome.works ? null : outcome;
  }

  async function test(name: string): Promise<void> {
    const file = join(folder, name);
    const outcome = await outcomeOf(() => restoreApart(folder, file, settings));
    // A full disk or a power cut leaves the result of an earlier test, or none.
    await writeFile(file + BESIDE.test + TEMPORARY, JSON.stringify(outcome), { mode: 0o600 })
      .then(() => rename(file + BESIDE.test + TEMPORARY, file + BESIDE.test))
      .catch(() => undefined);
  }

  return {
    async list() {
      return { folder, backups: await listFiles(folder), running, failure };
    },
    create() {
      const name = `postloft-${now().toISOString().slice(0, 19).replaceAll(":", "-")}Z${SUFFIX}`;
      return begin("BACKUP", name, () => write(name));
    },
    async test(name) {
      await sizeOf(join(folder, name));
      return begin("RESTORE_TEST", name, () => test(name));
    },
    async find(name) {
      const path = join(folder, name);
      return { bytes: await sizeOf(path), open: () => createReadStream(path) };
    },
    async remove(name) {
      const path = join(folder, name);
      await sizeOf(path);
      if (running?.name === name)
        throw new AppError("CONFLICT", asMessage("This backup is being tested. Delete it after that."));
      for (const suffix of ["", ...Object.values(BESIDE)]) await rm(path + suffix, { force: true });
    },
  };
}

/** Restores into a database of its own, because the user of the installation's database may not create one. */
async function restoreApart(
  folder: string,
  file: string,
  { DATABASE_URL: _url, ...settings }: Readonly<Record<string, string>>,
): Promise<BackupReply> {
  const scratch = await mkdtemp(join(folder, SCRATCH));
  try {
    return await runApart({ verb: "restore", file, settings: { ...settings, DATA_DIR: scratch } });
  } finally {
    await rm(scratch, { recursive: true, force: true });
  }
}

/** Creates the folder, and removes what a killed process left in it. Another process that shares the folder may use newer files. */
async function sweep(folder: string): Promise<void> {
  await mkdir(folder, { recursive: true, mode: 0o700 }).catch(() => undefined);
  for (const name of await readdir(folder).catch(() => [])) {
    if (!name.startsWith(SCRATCH) && !name.endsWith(PARTIAL) && !name.endsWith(TEMPORARY)) continue;
    const path = join(folder, name);
    const changedAt = await stat(path).catch(() => null);
    if (changedAt !== null && nowMs() - changedAt.mtimeMs > LEFT_OVER_MS)
      await rm(path, { recursive: true, force: true }).catch(() => undefined);
  }
}

async function outcomeOf(work: () => Promise<BackupReply>): Promise<Outcome> {
  try {
    return { ...(await work()), at: now().toISOString() };
  } catch (error) {
    const message = error instanceof Error ? error.message : String(error);
    return { works: false, message, at: now().toISOString() };
  }
}

/** @throws AppError RESOURCE_NOT_FOUND */
async function sizeOf(path: string): Promise<number> {
  const { size } = await stat(path).catch(() => {
    throw new AppError("RESOURCE_NOT_FOUND");
  });
  return size;
}

/** Returns complete backups, the newest first. */
async function listFiles(folder: string): Promise<Backup[]> {
  const names = await readdir(folder).catch(() => []);
  const backups = names
    .filter((name) => name.endsWith(SUFFIX))
    .toSorted()
    .toReversed();
  const found = await Promise.all(
    backups.map(async (name) => {
      // Another request may delete it meanwhile.
      const file = await stat(join(folder, name)).catch(() => null);
      if (file === null) return [];
      const restoreTest = await readTest(folder, name);
      return [{ name, bytes: file.size, createdAt: file.mtime.toISOString(), restoreTest }];
    }),
  );
  return found.flat();
}

/** Returns null also for a result that a power cut left incomplete. */
async function readTest(folder: string, name: string): Promise<Outcome | null> {
  try {
    return JSON.parse(await readFile(join(folder, name + BESIDE.test), "utf8")) as Outcome;
  } catch {
    return null;
  }
}

/** @throws Error if the process can't be started */
async function runApart(order: BackupOrder): Promise<BackupReply> {
  const child = fork(new URL("../backup/backup-process.ts", import.meta.url));
  try {
    return await new Promise<BackupReply>((resolve, reject) => {
      // A process that can't be started emits several errors, and one without a listener would end the server.
      child.on("error", reject);
      child.once("message", (reply) => resolve(reply as BackupReply));
      child.once("exit", (code, signal) =>
        resolve({ works: false, message: `The process ended with ${signal ?? `code ${code}`}.` }),
      );
      child.once("spawn", () => child.send(order, (error) => error && reject(error)));
    });
  } finally {
    if (child.connected) child.disconnect();
  }
}
