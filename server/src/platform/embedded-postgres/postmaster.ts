// Last step of embedded-postgres.ts. Runs PostgreSQL's main process (the postmaster) from start to stop.
import type { ChildProcess } from "node:child_process";
import { closeSync, openSync, readdirSync, readSync, statSync } from "node:fs";
import { createServer } from "node:net";
import os from "node:os";
import path from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { keepTail, runAs, spawnAs, type Account } from "./account.ts";
import { programPath, type PostgresFolder } from "./binaries.ts";
import { EmbeddedPostgresError, explainFailure, systemErrorCode } from "./errors.ts";
import { readPostmasterFile } from "./leftovers.ts";

export const HOST = "127.0.0.1";

const READY_POLL_MS = 10;
const PROGRESS_EVERY_MS = 10_000;
const LAST_OUTPUT_MS = 500;

/** Together below the 20 s that a whole shutdown may take. After an immediate stop the next start recovers from the WAL without losses. */
const FAST_STOP_MS = 10_000;
const IMMEDIATE_STOP_MS = 3_000;

/** The characters with a meaning in PostgreSQL's list of folders. */
const NO_SOCKET_IN = /[,"@]/;
/** The path may be too long for a socket, and some file systems, such as those shared with a virtual machine, hold none. */
const NO_SOCKETS = /Unix-domain socket/;

/** Another program may take the free port before PostgreSQL does, and the last processes of a killed one may take a moment to end. */
const START_ATTEMPTS = 8;
const RETRY_AFTER_MS = 250;
const WORTH_RETRYING = /Address already in use|pre-existing shared memory block/;

const MIN_BUFFERS_MB = 128;
const MAX_BUFFERS_MB = 1024;

/** At most this much of each log file is quoted when a start fails. */
const QUOTED_LOG_BYTES = 8192;

const SETTINGS = {
  listen_addresses: HOST,
  max_connections: "100",
  max_wal_size: "2GB",
  wal_compression: "on",
  // Otherwise a new WAL file is first filled with zeros, which delays commits under load every second.
  wal_init_zero: "off",
  synchronous_commit: "on",
  jit: "off",
  // New index entries wait in a list, and the insert that finds it full has to sort them in. A short list limits that delay.
  gin_pending_list_limit: "1MB",
  timezone: "UTC",
  log_timezone: "UTC",
  // One file per weekday, overwritten a week later.
  logging_collector: "on",
  log_directory: "log",
  log_filename: "postgres-%a.log",
  log_rotation_age: "1d",
  log_rotation_size: "0",
  log_truncate_on_rotation: "on",
  log_line_prefix: "%m [%p] ",
  // Keeps row values out of the log, which messages, details and statements of errors contain. The program receives each error and logs it
  // without them.
  log_min_messages: "log",
  log_min_error_statement: "panic",
  log_error_verbosity: "terse",
};

export type Postmaster = {
  port: number;
  /** The folder of its socket, or its address where there is none. A statement over the socket takes a quarter less CPU than over TCP. */
  host: string;
  /** Stops it, first by letting statements roll back and pages be written, then immediately. Resolves when the process is gone. */
  stop(): Promise<void>;
  /** Resolves with a sentence when it ends without `stop()`. */
  exited: Promise<string>;
};

type Launch = {
  dataDir: string;
  clusterDir: string;
  programs: PostgresFolder;
  account: Account;
  startTimeoutMs: number;
  log: (message: string) => void;
};

/**
 * Starts PostgreSQL on the cluster and waits until it accepts connections, including crash recovery.
 * @throws EmbeddedPostgresError with PostgreSQL's own message if it ends or is not ready in time
 */
export async function launchPostmaster(launch: Launch): Promise<Postmaster> {
  let mayHaveSocket = process.platform !== "win32" && !NO_SOCKET_IN.test(launch.clusterDir);
  for (let attempt = 1; ; attempt += 1) {
    const result = await tryLaunch(launch, await findFreePort(), mayHaveSocket);
    if ("postmaster" in result) return result.postmaster;
    if (mayHaveSocket && NO_SOCKETS.test(result.output)) {
      mayHaveSocket = false;
    } else if (attempt === START_ATTEMPTS || !WORTH_RETRYING.test(result.output)) {
      throw explainFailure("PostgreSQL could not start", result.output, launch.dataDir);
    }
    await delay(RETRY_AFTER_MS);
  }
}

async function tryLaunch(
  launch: Launch,
  port: number,
  hasSocket: boolean,
): Promise<{ postmaster: Postmaster } | { output: string }> {
  const { clusterDir, programs, account, startTimeoutMs, log } = launch;
  const logSizesBefore = measureLogs(clusterDir);
  const settings = Object.entries({
    ...SETTINGS,
    // Only the account of the cluster can enter this folder.
    unix_socket_directories: hasSocket ? clusterDir : "",
    shared_buffers: sharedBuffers(),
    port: String(port),
  });
  const command = [programPath(programs, "postgres"), "-D", clusterDir];
  for (const [name, value] of settings) command.push("-c", `${name}=${value}`);
  const child = spawnAs(account, command, ["ignore", "ignore", "pipe"]);
  const postmaster = { port, host: hasSocket ? clusterDir : HOST, ...supervise(child, clusterDir, programs) };

  let output = "";
  child.stderr?.on("data", (chunk: Buffer) => (output = keepTail(output, chunk)));
  const outputEnded = new Promise((resolve) => child.once("close", resolve));
  try {
    if (await waitUntilReady(child, clusterDir, startTimeoutMs, log)) return { postmaster };
  } catch (error) {
    await postmaster.stop();
    throw error;
  }
  await Promise.race([outputEnded, delay(LAST_OUTPUT_MS)]);
  return { output: `${output}${readLogsSince(clusterDir, logSizesBefore)}${await postmaster.exited}` };
}

/** Returns a quarter of the memory within limits, as PostgreSQL recommends. Only the used part is allocated. */
function sharedBuffers(): string {
  const limitBytes = process.constrainedMemory() || Number.POSITIVE_INFINITY;
  const quarterMb = Math.min(limitBytes, os.totalmem()) / 4 / 2 ** 20;
  return `${Math.floor(Math.min(Math.max(quarterMb, MIN_BUFFERS_MB), MAX_BUFFERS_MB))}MB`;
}

/** Returns true once it accepts connections, or false if it ended before that. */
async function waitUntilReady(
  child: ChildProcess,
  clusterDir: string,
  timeoutMs: number,
  log: (message: string) => void,
): Promise<boolean> {
  const startedAt = performance.now();
  let progressAt = startedAt + PROGRESS_EVERY_MS;
  while (child.pid !== undefined && child.exitCode === null && child.signalCode === null) {
    const { pid, isReady } = readPostmasterFile(clusterDir);
    if (isReady && pid === child.pid) return true;
    const now = performance.now();
    if (now - startedAt > timeoutMs) {
      throw new EmbeddedPostgresError(
        `PostgreSQL was not ready after ${timeoutMs / 1000} s and was stopped. Its log is in ${path.join(clusterDir, "log")}.`,
      );
    }
    if (now > progressAt) {
      log("PostgreSQL is still starting (after a crash it replays its write-ahead log first).");
      progressAt = now + PROGRESS_EVERY_MS;
    }
    await delay(READY_POLL_MS);
  }
  return false;
}

function supervise(
  child: ChildProcess,
  clusterDir: string,
  programs: PostgresFolder,
): Pick<Postmaster, "stop" | "exited"> {
  let isStopping = false;
  let isGone = false;
  const { promise: gone, resolve: setGone } = Promise.withResolvers<void>();
  const { promise: exited, resolve: setExited } = Promise.withResolvers<string>();
  const end = (reason: string): void => {
    isGone = true;
    setGone();
    if (!isStopping) setExited(reason);
  };
  child.once("error", (error) => end(`PostgreSQL could not be run: ${error.message}`));
  child.once("exit", (code, signal) => {
    const how = signal === null ? `with code ${code}` : `by signal ${signal}`;
    end(`PostgreSQL (process id ${child.pid}) ended ${how}; its log is in ${path.join(clusterDir, "log")}`);
  });

  const stop = async (): Promise<void> => {
    isStopping = true;
    const steps = [
      { signal: "SIGINT", mode: "fast", boundMs: FAST_STOP_MS },
      { signal: "SIGQUIT", mode: "immediate", boundMs: IMMEDIATE_STOP_MS },
    ] as const;
    for (const { signal, mode, boundMs } of steps) {
      if (isGone) return;
      // Windows has no signals, so pg_ctl stops it there.
      if (process.platform === "win32") await stopByControl(programs, clusterDir, mode, boundMs);
      else child.kill(signal);
      await Promise.race([gone, delay(boundMs, undefined, { ref: false })]);
    }
    if (isGone) return;
    child.kill("SIGKILL");
    await gone;
  };
  return { stop, exited };
}

async function stopByControl(
  programs: PostgresFolder,
  clusterDir: string,
  mode: string,
  boundMs: number,
): Promise<void> {
  const command = [programPath(programs, "pg_ctl"), "stop", "-D", clusterDir, "-m", mode, "-W"];
  await runAs({ description: "the current user", prefix: [] }, command, boundMs);
}

/** Returns a port of the loopback interface that is free now. */
function findFreePort(): Promise<number> {
  return new Promise((resolve, reject) => {
    const server = createServer();
    server.once("error", reject);
    server.listen(0, HOST, () => {
      const address = server.address();
      if (address === null || typeof address === "string") throw new Error("a TCP server has a port");
      server.close(() => resolve(address.port));
    });
  });
}

/** Returns the size of each log file in bytes. */
function measureLogs(clusterDir: string): Map<string, number> {
  const folder = path.join(clusterDir, "log");
  try {
    return new Map(readdirSync(folder).map((name) => [name, statSync(path.join(folder, name)).size]));
  } catch (error) {
    if (systemErrorCode(error) !== "ENOENT") throw error;
    return new Map();
  }
}

/** Returns what was added to the log files since they were measured. */
function readLogsSince(clusterDir: string, sizesBefore: Map<string, number>): string {
  let text = "";
  for (const [name, sizeBytes] of measureLogs(clusterDir)) {
    const newBytes = sizeBytes - (sizesBefore.get(name) ?? 0);
    if (newBytes <= 0) continue;
    const buffer = Buffer.alloc(Math.min(newBytes, QUOTED_LOG_BYTES));
    const file = openSync(path.join(clusterDir, "log", name), "r");
    readSync(file, buffer, 0, buffer.length, sizeBytes - buffer.length);
    closeSync(file);
    text += buffer.toString();
  }
  return text;
}
