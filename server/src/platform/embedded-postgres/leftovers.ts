// Fourth step of embedded-postgres.ts. Cleans up after a killed server. We hold the lock of the data folder, so any PostgreSQL on it is an
// orphan and is stopped cleanly (0.3 s). A lock file with a dead or foreign pid is deleted.
import { readFileSync } from "node:fs";
import { readdir, readFile, readlink, rm } from "node:fs/promises";
import path from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { runAs, type Account } from "./account.ts";
import { programPath, type PostgresFolder } from "./binaries.ts";
import { EmbeddedPostgresError, systemErrorCode } from "./errors.ts";

/** A clean stop writes all changed pages, which takes a while on a slow disk. */
const CLEAN_STOP_MS = 60_000;
const IMMEDIATE_STOP_MS = 10_000;
const POLL_MS = 20;
const PROCESS_LIST_TIMEOUT_MS = 10_000;

const OURSELVES: Account = { description: "the current user", prefix: [] };

/**
 * Ends every PostgreSQL process that uses the cluster and deletes its sockets and its `postmaster.pid`.
 * @param clusterDir full path without symlinks
 * @throws EmbeddedPostgresError if a process does not end or belongs to another user
 */
export async function clearLeftovers(
  clusterDir: string,
  programs: PostgresFolder,
  log: (message: string) => void,
): Promise<void> {
  const { pid } = readPostmasterFile(clusterDir);
  if (pid === undefined) return;
  if (process.platform === "win32") return stopOnWindows(clusterDir, programs, log);
  const find = process.platform === "linux" ? findServerProcessesInProc : findServerProcessesByList;
  const running = await find(clusterDir);
  if (running.includes(pid)) {
    log(
      `A PostgreSQL from an earlier start is still running on ${clusterDir} (process id ${pid}). Stopping it.`,
    );
    await endProcesses([pid], "SIGINT", CLEAN_STOP_MS, () => find(clusterDir));
  }
  // Either the stop above took too long, or the postmaster was killed and left its children running.
  const remaining = await find(clusterDir);
  if (remaining.length > 0) {
    await endProcesses(remaining, "SIGQUIT", IMMEDIATE_STOP_MS, () => find(clusterDir));
  }
  const stubborn = await find(clusterDir);
  if (stubborn.length > 0) {
    throw new EmbeddedPostgresError(
      `PostgreSQL processes from an earlier start still use ${clusterDir} and could not be stopped: ${stubborn.join(", ")}. End them, then start again.`,
    );
  }
  for (const name of await readdir(clusterDir))
    if (name.startsWith(".s.PGSQL.")) await rm(path.join(clusterDir, name), { force: true });
  await rm(path.join(clusterDir, "postmaster.pid"), { force: true });
}

/** Reads the lock file of a postmaster: line 1 is the pid, 4 the port, 8 the status ("ready" once it accepts connections). */
export function readPostmasterFile(clusterDir: string): { pid?: number; isReady: boolean } {
  try {
    const lines = readFileSync(path.join(clusterDir, "postmaster.pid"), "utf8").split("\n");
    return { pid: Math.abs(Number.parseInt(lines[0] ?? "", 10)) || 0, isReady: lines[7]?.trim() === "ready" };
  } catch (error) {
    if (systemErrorCode(error) !== "ENOENT") throw error;
    return { isReady: false };
  }
}

async function endProcesses(
  pids: number[],
  signal: NodeJS.Signals,
  boundMs: number,
  find: () => Promise<number[]>,
): Promise<void> {
  for (const pid of pids) {
    try {
      process.kill(pid, signal);
    } catch (error) {
      if (systemErrorCode(error) === "ESRCH") continue;
      throw new EmbeddedPostgresError(
        `PostgreSQL (process id ${pid}) is already running on this data folder and belongs to another user. Stop it, or start the server as that user.`,
      );
    }
  }
  const deadline = performance.now() + boundMs;
  while (performance.now() < deadline && (await find()).length > 0) await delay(POLL_MS);
}

/**
 * Finds processes by their working folder, which is the cluster for every PostgreSQL process. Zombies have none, and a foreign process that
 * reused the pid of an old postmaster has another one.
 */
async function findServerProcessesInProc(clusterDir: string): Promise<number[]> {
  const pids = (await readdir("/proc")).filter((name) => /^\d+$/.test(name));
  const found = await Promise.all(
    pids.map(async (pid) => {
      try {
        if ((await readlink(`/proc/${pid}/cwd`)) !== clusterDir) return undefined;
        return (await readFile(`/proc/${pid}/comm`, "utf8")).startsWith("postgres") ? Number(pid) : undefined;
      } catch (error) {
        if (systemErrorCode(error) === undefined) throw error;
        // The process ended in between or belongs to another user.
        return undefined;
      }
    }),
  );
  return found.filter((pid) => pid !== undefined);
}

/** Finds the postmaster by its command line if there is no /proc. Its children end on their own without it. */
export async function findServerProcessesByList(clusterDir: string): Promise<number[]> {
  const { code, stdout, output } = await runAs(
    OURSELVES,
    ["ps", "-axww", "-o", "pid=,stat=,command="],
    PROCESS_LIST_TIMEOUT_MS,
  );
  if (code !== 0) throw new EmbeddedPostgresError(`The list of processes (ps) cannot be read: ${output}`);
  return stdout
    .split("\n")
    .map((line) => /^\s*(\d+)\s+(\S+)\s+(.*)$/.exec(line) ?? [])
    .filter(
      ([, , state, command]) => !state?.startsWith("Z") && command?.includes(`/postgres -D ${clusterDir} `),
    )
    .map(([, pid]) => Number(pid));
}

async function stopOnWindows(
  clusterDir: string,
  programs: PostgresFolder,
  log: (message: string) => void,
): Promise<void> {
  const control = programPath(programs, "pg_ctl");
  const status = await runAs(OURSELVES, [control, "status", "-D", clusterDir], PROCESS_LIST_TIMEOUT_MS);
  if (status.code === 0) {
    log(`A PostgreSQL from an earlier start is still running on ${clusterDir}. Stopping it.`);
    const seconds = String(CLEAN_STOP_MS / 1000);
    const stop = await runAs(
      OURSELVES,
      [control, "stop", "-D", clusterDir, "-m", "fast", "-t", seconds],
      CLEAN_STOP_MS + IMMEDIATE_STOP_MS,
    );
    if (stop.code !== 0) {
      throw new EmbeddedPostgresError(
        `A PostgreSQL from an earlier start could not be stopped: ${stop.output}`,
      );
    }
  }
  await rm(path.join(clusterDir, "postmaster.pid"), { force: true });
}
