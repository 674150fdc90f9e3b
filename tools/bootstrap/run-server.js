// Runs the server as a child process, because Node.js cannot replace itself with another program. Passes on signals and the exit code. If
// this parent is killed, the server notices its closed IPC channel.
import { spawn } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import { availableParallelism, constants, totalmem } from "node:os";
import path from "node:path";
import util from "node:util";
import { ROOT } from "./prepare.js";

/** Ctrl-C reaches us twice, from the terminal and from npm. Within this time the same signal counts once. */
const SAME_WISH_MS = 1000;

/** Interval for checking whether npm, or the shell between npm and us, has died. */
const PARENT_LOOK_EVERY_MS = 100;

/**
 * Returns memory options for Node.js. A server with the API gets half of the default young generation of large machines, which saves 70 MB
 * and costs no speed. Another halving would slow `/v1/track` by a twelfth. A process that only sends builds messages elsewhere, so a
 * quarter of that saves another 60 MB. More than 2 GB of old space would only delay garbage collection by 100 MB, and our servers never
 * need it. NODE_OPTIONS takes precedence.
 * @param {string | undefined} roles the setting ROLES
 */
export function nodeArguments(roles) {
  const answersRequests = roles === undefined || roles.includes("api");
  // By default Node.js uses half of the memory, or half of the container's limit.
  const memoryBytes = Math.min(totalmem(), process.constrainedMemory() || Number.POSITIVE_INFINITY);
  const oldMegabytes = Math.min(2000, Math.floor(memoryBytes / 2 / 2 ** 20));
  const sizes = { "--max-semi-space-size": answersRequests ? 32 : 8, "--max-old-space-size": oldMegabytes };
  return Object.entries(sizes).flatMap(([name, megabytes]) =>
    process.env.NODE_OPTIONS?.includes(name) ? [] : [`${name}=${megabytes}`],
  );
}

/**
 * Settings for glibc's malloc, which otherwise keeps freed memory, because messages are large and short-lived. They make a sending process
 * a tenth smaller. Values set by the user take precedence.
 */
const MALLOC_SETTINGS = { MALLOC_ARENA_MAX: "2", MALLOC_TRIM_THRESHOLD_: "131072" };

/**
 * Size of the libuv thread pool, which signs, hashes passwords and resolves names. With Node.js's four threads on two cores a sender is a
 * twentieth slower.
 */
const POOL_THREADS = Math.min(4, Math.max(2, availableParallelism()));

/** Defaults for the environment; the user's values take precedence. The compile cache halves the time of the next start. */
export const SERVER_ENVIRONMENT = {
  ...MALLOC_SETTINGS,
  UV_THREADPOOL_SIZE: String(POOL_THREADS),
  NODE_COMPILE_CACHE: path.join(ROOT, ".runtime", "compiled"),
};

const IS_WINDOWS = process.platform === "win32";

/**
 * Starts a program of server/src.
 * @param {string} node full path of the Node.js to run it with
 * @param {{ args?: string[], program?: string, options?: string[], environment?: NodeJS.ProcessEnv }} given `options` are for Node.js
 * @returns {import("node:child_process").ChildProcess} ends on SIGTERM, and when this process ends
 */
export function startServer(
  node,
  { args = [], program = "main.ts", options = [], environment = process.env },
) {
  return spawn(node, [...options, path.join(ROOT, "server", "src", program), ...args], {
    cwd: ROOT,
    env: { ...SERVER_ENVIRONMENT, ...environment },
    stdio: ["inherit", "inherit", "inherit", "ipc"],
    // Use a separate process group, so that a signal from the terminal reaches the server only once, through this process.
    detached: !IS_WINDOWS,
  });
}

/**
 * Runs a program of server/src until it ends, by default the server itself.
 * @param {string} node full path of the Node.js to run it with
 * @param {string[]} args passed on
 * @param {string} program its file
 * @returns {Promise<number>} its exit code; 128 + signal number if a signal ended it
 */
export async function runServer(node, args, program = "main.ts") {
  // Settings may be in a file; the environment takes precedence.
  const file = path.join(ROOT, ".env");
  const inFile = existsSync(file) ? util.parseEnv?.(readFileSync(file, "utf8")) : undefined;
  const options = [
    ...nodeArguments(process.env.ROLES ?? inFile?.ROLES),
    ...(existsSync(file) ? [`--env-file=${file}`] : []),
  ];
  // The handlers come first, because a signal before them would end this process and not the server.
  forwardSignals((signal) => child.kill(signal));
  const child = startServer(node, { args, program, options });
  watchParents(() => child.kill("SIGTERM"));
  return exitCodeOf(child);
}

/**
 * Waits for a child process to end.
 * @param {import("node:child_process").ChildProcess} child
 * @returns {Promise<number>} its exit code; 128 + signal number if a signal ended it
 */
export function exitCodeOf(child) {
  return new Promise((resolve, reject) => {
    child.on("error", reject);
    child.on("exit", (code, signal) => resolve(signal === null ? code : 128 + constants.signals[signal]));
  });
}

/**
 * Calls `send` once for each signal that asks this process to end.
 * @param {(signal: NodeJS.Signals) => void} send
 */
export function forwardSignals(send) {
  const sentAt = new Map();
  for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"]) {
    process.on(signal, () => {
      // On Windows Ctrl-C reaches the server directly, and a forwarded signal would kill it immediately.
      if (IS_WINDOWS || performance.now() - (sentAt.get(signal) ?? -SAME_WISH_MS) < SAME_WISH_MS) return;
      sentAt.set(signal, performance.now());
      // A closed terminal is treated like a request to end.
      send(signal === "SIGHUP" ? "SIGTERM" : signal);
    });
  }
}

/**
 * Calls `onDeath` when the npm that started this process, or its shell, has ended. npm sends SIGTERM only to its shell, which dies without
 * forwarding the signal. kill -9 of npm reaches no other process.
 * @param {() => void} onDeath
 */
export function watchParents(onDeath) {
  if (process.env.npm_lifecycle_event === undefined) return;
  const parent = process.ppid;
  const npm = findParentOfShell(parent);
  const looking = setInterval(() => {
    if (process.ppid === parent && findParentOfShell(parent) === npm) return;
    clearInterval(looking);
    onDeath();
  }, PARENT_LOOK_EVERY_MS);
  looking.unref();
}

/** Returns the parent pid of a shell, or undefined for other programs and without /proc. */
function findParentOfShell(pid) {
  if (process.platform !== "linux") return undefined;
  try {
    const [, name, parent] = /^\d+ \((.*)\) \S (\d+)/s.exec(readFileSync(`/proc/${pid}/stat`, "utf8"));
    return /^(sh|dash|bash|ash|zsh|ksh)$/.test(name) ? Number(parent) : undefined;
  } catch (error) {
    if (error.code === "ENOENT" || error.code === "ESRCH" || error.code === "EACCES") return undefined;
    throw error;
  }
}
