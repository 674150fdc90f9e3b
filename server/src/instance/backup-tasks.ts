// Writes, tests and lists the backups in DATA_DIR for the installation page. The work of `npm run backup` and `npm run restore` is done in a
// process of its own, so that requests don't wait for it (decision 0169).
import { fork } from "node:child_process";
import { once } from "node:events";
import { createReadStream, type ReadStream } from "node:fs";
import { mkdir, mkdtemp, readdir, readFile, rm, stat, writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { z } from "zod";
import type * as contract from "@postloft/contract/installation-backups.ts";
import { asMessage } from "@postloft/contract/translation.ts";
import { AppError } from "../platform/app-error.ts";
import { now } from "../platform/clock.ts";

type Listed = z.output<(typeof contract.listBackups)["responses"][200]>;
type Backup = Listed["backups"][number];
export type BackupTask = NonNullable<Listed["running"]>;
type Outcome = NonNullable<Listed["failure"]>;

/** Begins the names of folders of restore tests. */
const SCRATCH = "restore-test-";
const SUFFIX = ".tar.gz";
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
    void work()
      .catch((error: unknown) => {
        failure = outcomeOf({ works: false, message: String(error) });
      })
      .finally(() => {
        running = null;
      });
    return task;
  }

  async function write(name: string): Promise<void> {
    await mkdir(folder, { recursive: true, mode: 0o700 });
    const outcome = outcomeOf(await runApart({ verb: "backup", file: join(folder, name), settings }));
    failure = outcome.works ? null : outcome;
  }

  /** Restores into a database of its own, because the user of the installation's database may not create one. */
  async function restore(name: string): Promise<void> {
    // A server that was killed leaves its copy of the database behind.
    for (const left of (await readdir(folder)).filter((entry) => entry.startsWith(SCRATCH)))
      await rm(join(folder, left), { recursive: true, force: true });
    const scratch = await mkdtemp(join(folder, SCRATCH));
    try {
      const { DATABASE_URL: _url, ...own } = settings;
      const file = join(folder, name);
      const reply = await runApart({ verb: "restore", file, settings: { ...own, DATA_DIR: scratch } });
      await writeFile(file + BESIDE.test, JSON.stringify(outcomeOf(reply)), { mode: 0o600 });
    } finally {
      await rm(scratch, { recursive: true, force: true });
    }
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
      return begin("RESTORE_TEST", name, () => restore(name));
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

const outcomeOf = (reply: BackupReply): Outcome => ({ at: now().toISOString(), ...reply });

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
  return Promise.all(
    backups.map(async (name) => {
      const { size, mtime } = await stat(join(folder, name));
      return { name, bytes: size, createdAt: mtime.toISOString(), restoreTest: await readTest(folder, name) };
    }),
  );
}

async function readTest(folder: string, name: string): Promise<Outcome | null> {
  const text = await readFile(join(folder, name + BESIDE.test), "utf8").catch(() => null);
  return text === null ? null : (JSON.parse(text) as Outcome);
}

async function runApart(order: BackupOrder): Promise<BackupReply> {
  const child = fork(new URL("../backup/backup-process.ts", import.meta.url));
  try {
    const ended = once(child, "exit").then(([code]) => ({
      works: false,
      message: `The process ended with code ${code}.`,
    }));
    const replied = once(child, "message").then(([reply]) => reply as BackupReply);
    child.send(order);
    return await Promise.race([replied, ended]);
  } finally {
    if (child.connected) child.disconnect();
  }
}
