// The real program as a child process, as `npm start` runs it: started on any free port, asked to stop, or killed.
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
/** The program promises 20 s. */
const STOP_TIMEOUT_MS = 25_000;
/** Of what it says the end is kept, characters. */
const KEPT_OUTPUT_LENGTH = 1024 * 1024;

export const SECRET_KEY = "sk_secret_key_of_the_first_project";
export const PUBLIC_KEY = "pk_public_key_of_the_first_project";
export const ACCOUNT = { email: "owner@example.com", password: "a good password" };

/** What an empty database becomes without a click: one account, one project, keys that are known beforehand. */
export const BOOTSTRAP: Readonly<Record<string, string>> = {
  BOOTSTRAP_EMAIL: ACCOUNT.email,
  BOOTSTRAP_PASSWORD: ACCOUNT.password,
  BOOTSTRAP_SECRET_KEY: SECRET_KEY,
  BOOTSTRAP_PUBLIC_KEY: PUBLIC_KEY,
  API_RATE_LIMIT_PER_MINUTE: "0",
};

export interface Program {
  /** The address it printed; empty for one without the role `api`, which does not say when it is ready. */
  readonly url: string;
  readonly pid: number;
  /** From the start of the process to its ready line. */
  readonly readyMs: number;
  /** The code it ended with; null when a signal ended it. */
  readonly ended: Promise<number | null>;
  isRunning(): boolean;
  /** What it said, both streams. */
  output(): string;
  /** SIGTERM; answers how it ended. After the end it answers the same. */
  stop(): Promise<{ code: number | null; tookMs: number }>;
  /** SIGKILL to it and to every process below it, all in the same instant. */
  kill(): Promise<void>;
}

/**
 * Starts the program and waits for its ready line. It inherits no setting: only those given count.
 *
 * @param nodeArguments for Node.js itself, such as `--cpu-prof`
 * @throws Error with what it said when it ends, or says nothing, before it is ready
 */
export async function startProgram(
  settings: Readonly<Record<string, string>>,
  nodeArguments: readonly string[] = [],
): Promise<Program> {
  const startedAtMs = performance.now();
  const child = spawn(process.execPath, [...argumentsFor(settings["ROLES"]), ...nodeArguments, MAIN], {
    // The channel ends with us, however we end; then the program stops by itself.
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

/** The address in the ready line. @throws Error when the program ends or the time is over before it comes. */
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

/** A new, empty folder; `remove` it after the program has ended. */
export async function makeDataFolder(): Promise<{ path: string; remove: () => Promise<void> }> {
  const path = await mkdtemp(join(tmpdir(), "postloft-program-"));
  return { path, remove: () => rm(path, { recursive: true, force: true, maxRetries: 5 }) };
}
