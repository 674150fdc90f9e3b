// Runs the server as a child process, because Node.js cannot replace itself with another program. Signals are passed on to the server,
// its exit code is returned, and when this parent is killed the server notices that its IPC channel closed.
import { spawn } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import { availableParallelism, constants, totalmem } from "node:os";
import path from "node:path";
import util from "node:util";
import { ROOT } from "./prepare.js";

/** Ctrl-C reaches us twice, from the terminal and from npm; the same signal within this time is the same wish. */
const SAME_WISH_MS = 1000;

/** How soon the death of npm, or of the shell between npm and us, is noticed. */
const PARENT_LOOK_EVERY_MS = 100;

/**
 * What Node.js itself is told. Young objects of a server that answers requests get half of what they take on large machines: that
 * makes nothing slower and the process 70 MB smaller (with half of that again `/v1/track` is slower by a twelfth). A process that
 * only sends makes its messages elsewhere, and is 60 MB smaller with a quarter of that. With room for more than 2 GB of old ones
 * it would let a hundred more megabytes of garbage lie before it collects them; no server of ours needs them. Whoever sets these
 * himself in NODE_OPTIONS is heard.
 *
 * @param {string | undefined} roles the setting ROLES
 */
export function nodeArguments(roles) {
  const answersRequests = roles === undefined || roles.includes("api");
  // Half of the memory, or of what a container may have, is what Node.js itself takes.
  const memoryBytes = Math.min(totalmem(), process.constrainedMemory() || Number.POSITIVE_INFINITY);
  const oldMegabytes = Math.min(2000, Math.floor(memoryBytes / 2 / 2 ** 20));
  const sizes = { "--max-semi-space-size": answersRequests ? 32 : 8, "--max-old-space-size": oldMegabytes };
  return Object.entries(sizes).flatMap(([name, megabytes]) =>
    process.env.NODE_OPTIONS?.includes(name) ? [] : [`${name}=${megabytes}`],
  );
}

/**
 * What glibc's malloc is told, where there is one: messages are large and short-lived, and left to itself it keeps what was
 * freed. With it a sending process is a tenth smaller. Whoever sets these himself is heard.
 */
const MALLOC_SETTINGS = { MALLOC_ARENA_MAX: "2", MALLOC_TRIM_THRESHOLD_: "131072" };

/**
 * The threads that sign, hash passwords and look up names: Node.js takes four. On two cores two of them only get in the way of the
 * rest, and a sender is a twentieth slower.
 */
const POOL_THREADS = Math.min(4, Math.max(2, availableParallelism()));

/** The environment below what the user sets. Compiled modules are kept: the next start takes half the time. */
export const SERVER_ENVIRONMENT = {
  ...MALLOC_SETTINGS,
  UV_THREADPOOL_SIZE: String(POOL_THREADS),
  NODE_COMPILE_CACHE: path.join(ROOT, ".runtime", "compiled"),
};

const IS_WINDOWS = process.platform === "win32";

/**
 * Starts a program of server/src.
 *
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
    // A process group of its own, so that a signal of the terminal reaches the server only once, through this process.
    detached: !IS_WINDOWS,
  });
}

/**
 * Runs a program of server/src until it ends, by default the server itself.
 *
 * @param {string} node full path of the Node.js to run it with
 * @param {string[]} args passed on
 * @param {string} program its file
 * @returns {Promise<number>} its exit code; 128 + number of the signal that ended it
 */
export async function runServer(node, args, program = "main.ts") {
  // Settings may be in a file; the environment takes precedence.
  const file = path.join(ROOT, ".env");
  const inFile = existsSync(file) ? util.parseEnv?.(readFileSync(file, "utf8")) : undefined;
  const options = [
    ...nodeArguments(process.env.ROLES ?? inFile?.ROLES),
    ...(existsSync(file) ? [`--env-file=${file}`] : []),
  ];
  const child = startServer(node, { args, program, options });
  forwardSignals((signal) => child.kill(signal));
  watchParents(() => child.kill("SIGTERM"));
  return exitCodeOf(child);
}

/**
 * Waits for the end of a child process.
 *
 * @param {import("node:child_process").ChildProcess} child
 * @returns {Promise<number>} its exit code; 128 + number of the signal that ended it
 */
export function exitCodeOf(child) {
  return new Promise((resolve, reject) => {
    child.on("error", reject);
    child.on("exit", (code, signal) => resolve(signal === null ? code : 128 + constants.signals[signal]));
  });
}

/**
 * Calls `send` once for each signal that asks this process to end.
 *
 * @param {(signal: NodeJS.Signals) => void} send
 */
export function forwardSignals(send) {
  const sentAt = new Map();
  for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"]) {
    process.on(signal, () => {
      // On Windows Ctrl-C reaches the server by itself, and a signal from us would end it at once.
      if (IS_WINDOWS || performance.now() - (sentAt.get(signal) ?? -SAME_WISH_MS) < SAME_WISH_MS) return;
      sentAt.set(signal, performance.now());
      // A closed terminal means the same as a polite request to end.
      send(signal === "SIGHUP" ? "SIGTERM" : signal);
    });
  }
}

/**
 * Calls `onDeath` when the npm that started this process, or its shell, is gone. npm sends SIGTERM to its shell only, the shell dies without
 * passing it on, and kill -9 of npm reaches nobody.
 *
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

/** Process id of a shell's parent; undefined for any other program, and where there is no /proc to ask. */
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
