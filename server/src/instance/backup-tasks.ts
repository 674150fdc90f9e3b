// Writes, tests and lists the backups in DATA_DIR for the installation page. The commands of `npm run backup` and `npm run restore` do the
// work in a process of their own, so that requests don't wait for it (decision 0169).
import { spawn } from "node:child_process";
import { createReadStream, type ReadStream } from "node:fs";
import { mkdir, mkdtemp, readdir, readFile, rm, stat, writeFile } from "node:fs/promises";
import { setPriority } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import type { z } from "zod";
import type * as contract from "@postloft/contract/installation-backups.ts";
import { asMessage } from "@postloft/contract/translation.ts";
import { AppError } from "../platform/app-error.ts";
import { now } from "../platform/clock.ts";

type Listed = z.output<(typeof contract.listBackups)["responses"][200]>;
type Backup = Listed["backups"][number];
export type BackupTask = NonNullable<Listed["running"]>;
type Outcome = NonNullable<Listed["failure"]>;

const COMMAND = fileURLToPath(new URL("../backup.ts", import.meta.url));
const SUFFIX = ".tar.gz";
/** Files that belong to a backup: its secret, if DATA_DIR created that, and the result of its last restore test. */
const BESIDE = { secret: ".app-secret", test: ".restore-test.json" };
const BEHIND = 10;
/** What the commands take over from this process. Their settings are those that it started with. */
const SYSTEM_VARIABLES = ["PATH", "HOME", "TMPDIR", "TEMP", "SystemRoot", "NODE_COMPILE_CACHE"];
const OUTPUT_MAX_CHARACTERS = 10_000;

export interface BackupTasks {
  list(): Promise<Listed>;
  /** @throws AppError CONFLICT while another task runs */
  create(): Promise<BackupTask>;
  /** @throws AppError CONFLICT while another task runs; RESOURCE_NOT_FOUND */
  test(name: string): Promise<BackupTask>;
  /** @throws AppError RESOURCE_NOT_FOUND */
  open(name: string): Promise<{ bytes: number; file: ReadStream }>;
  /** @throws AppError CONFLICT while it is tested; RESOURCE_NOT_FOUND */
  remove(name: string): Promise<void>;
}

/**
 * @param dataDir the folder that has or gets the folder `backups`
 * @param settings of the commands
 */
export function createBackupTasks(dataDir: string, settings: Readonly<Record<string, string>>): BackupTasks {
  const folder = join(dataDir, "backups");
  let running: BackupTask | null = null;
  let failure: Outcome | null = null;

  async function begin(
    kind: BackupTask["kind"],
    name: string,
    work: () => Promise<void>,
  ): Promise<BackupTask> {
    if (running !== null)
      throw new AppError("CONFLICT", asMessage("A backup or a restore test is running. Wait until it ends."));
    const task = { kind, name, startedAt: now().toISOString() };
    running = task;
    void work().finally(() => (running = null));
    return task;
  }

  async function write(name: string): Promise<void> {
    await mkdir(folder, { recursive: true, mode: 0o700 });
    const outcome = await run(["backup", join(folder, name)], settings);
    failure = outcome.works ? null : outcome;
  }

  /** Restores into a database of its own, which needs no rights in the database of the installation. */
  async function restore(name: string): Promise<void> {
    const scratch = await mkdtemp(join(folder, "restore-test-"));
    try {
      const { DATABASE_URL: _url, ...own } = settings;
      const outcome = await run(["restore", join(folder, name)], { ...own, DATA_DIR: scratch });
      await writeFile(join(folder, name + BESIDE.test), JSON.stringify(outcome), { mode: 0o600 });
    } finally {
      await rm(scratch, { recursive: true, force: true });
    }
  }

  return {
    async list() {
      return { folder, backups: await listFiles(folder), running, failure };
    },
    create: async () => {
      const name = `postloft-${now().toISOString().slice(0, 19).replaceAll(":", "-")}Z${SUFFIX}`;
      return begin("BACKUP", name, () => write(name));
    },
    async test(name) {
      await sizeOf(folder, name);
      return begin("RESTORE_TEST", name, () => restore(name));
    },
    async open(name) {
      const bytes = await sizeOf(folder, name);
      return { bytes, file: createReadStream(join(folder, name)) };
    },
    async remove(name) {
      await sizeOf(folder, name);
      if (running?.name === name)
        throw new AppError("CONFLICT", asMessage("This backup is being tested. Delete it after that."));
      for (const suffix of ["", ...Object.values(BESIDE)])
        await rm(join(folder, name + suffix), { force: true });
    },
  };
}

/** @throws AppError RESOURCE_NOT_FOUND */
async function sizeOf(folder: string, name: string): Promise<number> {
  try {
    return (await stat(join(folder, name))).size;
  } catch {
    throw new AppError("RESOURCE_NOT_FOUND");
  }
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
  try {
    return JSON.parse(await readFile(join(folder, name + BESIDE.test), "utf8")) as Outcome;
  } catch {
    return null;
  }
}

/** Runs a command of backup.ts, and returns its result in words. */
async function run(args: readonly string[], settings: Readonly<Record<string, string>>): Promise<Outcome> {
  const child = spawn(process.execPath, [...process.execArgv, COMMAND, ...args, "--json"], {
    env: { ...systemVariables(), ...settings },
    stdio: ["ignore", "pipe", "pipe"],
  });
  const kill = () => void child.kill();
  process.once("exit", kill);
  if (child.pid !== undefined) setPriority(child.pid, BEHIND);
  let output = "";
  for (const stream of [child.stdout, child.stderr])
    stream.setEncoding("utf8").on("data", (text: string) => {
      output = (output + text).slice(-OUTPUT_MAX_CHARACTERS);
    });
  const code = await new Promise<number | null>((resolve) => {
    child.once("close", resolve).once("error", (error) => {
      output += error.message;
      resolve(null);
    });
  });
  process.off("exit", kill);
  return { at: now().toISOString(), works: code === 0, message: messageOf(output) };
}

/** Reads the last line, which is the result of a command with --json. */
function messageOf(output: string): string {
  const last = output.trimEnd().split("\n").at(-1) ?? "";
  try {
    const { rows, tables, error } = JSON.parse(last) as {
      rows: number;
      tables: number;
      error?: { message: string };
    };
    return error?.message ?? `${rows} rows in ${tables} tables`;
  } catch {
    return last;
  }
}

function systemVariables(): Record<string, string> {
  const present = SYSTEM_VARIABLES.map((name) => [name, process.env[name]]);
  return Object.fromEntries(present.filter(([, value]) => value !== undefined)) as Record<string, string>;
}
