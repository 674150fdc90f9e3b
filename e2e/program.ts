// Runs the real program as a child process, as `npm start` does, on any free port.
import { spawn } from "node:child_process";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
// @ts-expect-error: plain JavaScript, because it runs before anything is installed
import { nodeArguments as argumentsFor, SERVER_ENVIRONMENT } from "../tools/bootstrap/run-server.js";
import { killAtOnce, listDescendants } from "./process-tree.ts";

export const MAIN = fileURLToPath(new URL("../server/src/main.ts", import.meta.url));
const READY_LINE = /Postloft is ready: (http\S+)\n/;
const READY_TIMEOUT_MS = 60_000;
/** Longer than the 20 s the program promises. */
const STOP_TIMEOUT_MS = 25_000;
/** Maximum length of kept output in characters. */
const KEPT_OUTPUT_LENGTH = 1024 * 1024;

export const SECRET_KEY = "sk_secret_key_of_the_first_project";
const PUBLIC_KEY = "pk_public_key_of_the_first_project";
export const ACCOUNT = { email: "owner@example.com", password: "a good password" };

/** Settings that give an empty database one account, which administers the installation, and one project with known keys. */
export const BOOTSTRAP: Readonly<Record<string, string>> = {
  BOOTSTRAP_EMAIL: ACCOUNT.email,
  BOOTSTRAP_PASSWORD: ACCOUNT.password,
  BOOTSTRAP_SECRET_KEY: SECRET_KEY,
  BOOTSTRAP_PUBLIC_KEY: PUBLIC_KEY,
  ADMIN_EMAILS: ACCOUNT.email,
  API_RATE_LIMIT_PER_MINUTE: "0",
};

export interface Program {
  /** The printed URL. Empty without the role `api`, because the program then prints no ready line. */
  readonly url: string;
  readonly pid: number;
  /** Time from process start to the ready line. */
  readonly readyMs: number;
  /** Resolves to the exit code, or null after a signal. */
  readonly ended: Promise<number | null>;
  isRunning(): boolean;
  /** The output of both streams. */
  output(): string;
  /** Sends SIGTERM and returns how the program ended, also if it has already ended. */
  stop(): Promise<{ code: number | null; tookMs: number }>;
  /** Kills the program and all of its child processes at the same instant. */
  kill(): Promise<void>;
}

/**
 * Starts the program and waits for its ready line. Only the given settings apply.
 * @param nodeArguments arguments for Node.js, such as `--cpu-prof`
 * @throws Error with the output if the program ends or stays silent before it is ready
 */
export async function startProgram(
  settings: Readonly<Record<string, string>>,
  nodeArguments: readonly string[] = [],
): Promise<Program> {
  const startedAtMs = performance.now();
  const child = spawn(process.execPath, [...argumentsFor(settings["ROLES"]), ...nodeArguments, MAIN], {
    // The channel closes when this process ends in any way, which makes the program stop.
    stdio: ["ignore", "pipe", "pipe", "ipc"],
    env: {
      PATH: process.env["PATH"],
      ...SERVER_ENVIRONMENT,
      LOG_LEVEL: "warn",
      PORT: "0",
      STATUS_PORT: "0",
      ...settings,
    },
  });
  const said = { text: "", changed: () => {} };
  for (const stream of [child.stdout, child.stderr]) {
    stream?.setEncoding("utf8").on("data", (chunk: string) => {
      said.text = (said.text + chunk).slice(-KEPT_OUTPUT_LENGTH);
      said.changed();
    });
  }
  const ended = new Promise<number | null>((resolve, reject) => {
    child.once("error", reject);
    child.once("exit", resolve);
  });
  const pid = child.pid ?? 0;
  const isRunning = () => child.exitCode === null && child.signalCode === null;
  const killTree = () => killAtOnce(isRunning() && pid > 0 ? [...listDescendants(pid), pid] : []);
  const giveUp = (error: unknown) => {
    killTree();
    throw error;
  };
  const servesHttp = (settings["ROLES"] ?? "api").split(",").includes("api");
  const url = servesHttp ? await waitForAddress(said, ended).catch(giveUp) : "";
  said.changed = () => {};
  return {
    url,
    pid,
    readyMs: performance.now() - startedAtMs,
    ended,
    isRunning,
    output: () => said.text,
    async stop() {
      const askedAtMs = performance.now();
      child.kill("SIGTERM");
      const timer = setTimeout(killTree, STOP_TIMEOUT_MS);
      const code = await ended;
      clearTimeout(timer);
      return { code, tookMs: performance.now() - askedAtMs };
    },
    async kill() {
      killTree();
      await ended;
    },
  };
}

/** Returns the URL in the ready line. @throws Error if the program ends or the time limit passes first. */
function waitForAddress(
  said: { text: string; changed: () => void },
  ended: Promise<number | null>,
): Promise<string> {
  return new Promise((resolve, reject) => {
    const fail = (why: string) => reject(new Error(`the program ${why}:\n${said.text}`));
    const timer = setTimeout(() => fail(`was not ready in ${READY_TIMEOUT_MS} ms`), READY_TIMEOUT_MS);
    said.changed = () => {
      const address = READY_LINE.exec(said.text)?.[1];
      if (address === undefined) return;
      clearTimeout(timer);
      resolve(address);
    };
    ended.then((code) => fail(`ended with code ${code}`), reject).finally(() => clearTimeout(timer));
  });
}

/** Creates an empty folder. Call `remove` after the program has ended. */
export async function makeDataFolder(): Promise<{ path: string; remove: () => Promise<void> }> {
  const path = await mkdtemp(join(tmpdir(), "postloft-program-"));
  return { path, remove: () => rm(path, { recursive: true, force: true, maxRetries: 5 }) };
}
