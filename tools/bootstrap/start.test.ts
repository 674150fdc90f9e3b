// Tests `npm start` in a temporary tree, with fakes for npm, which writes node_modules, and for the server.
import { spawn, spawnSync, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import {
  appendFileSync,
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { afterEach, beforeEach, expect, test } from "vitest";

const WAIT_MS = 30_000;

const NPM = `
  import { appendFileSync, existsSync, mkdirSync, writeFileSync } from "node:fs";
  appendFileSync("npm-calls", process.pid + "\\n");
  if (existsSync("no-network")) {
    console.error("npm error code ENOTFOUND");
    process.exit(1);
  }
  if (existsSync("slow")) await new Promise((resolve) => setTimeout(resolve, 60_000));
  mkdirSync("node_modules", { recursive: true });`;

// Handles signals before printing, because the test sends one as soon as it reads the output.
const SERVER = `
  if (process.argv[2] === "stay") {
    let signals = 0;
    process.on("SIGTERM", () => process.stdout.write("signal " + (signals += 1) + "\\n"));
    process.on("disconnect", () => process.stdout.write("disconnect\\n", () => process.exit(0)));
    // Late enough for a second signal, were there one, to arrive.
    process.stdin.on("end", () => setTimeout(() => process.exit(7), 100)).resume();
  } else process.exitCode = 5;
  process.stdout.write("args " + process.argv.slice(2) + "\\n");
  if (process.argv[2] === "sizes") process.stdout.write(process.execArgv.filter((arg) => /space/.test(arg)).join(" "));`;

let root = "";
let children: ChildProcess[] = [];
beforeEach(() => {
  root = mkdtempSync(path.join(tmpdir(), "bootstrap-"));
  cpSync(import.meta.dirname, path.join(root, "tools", "bootstrap"), { recursive: true });
  mkdirSync(path.join(root, "server", "src"), { recursive: true });
  writeFileSync(path.join(root, "package.json"), '{"type":"module"}');
  writeFileSync(path.join(root, "package-lock.json"), "{}");
  writeFileSync(path.join(root, "npm-cli.js"), NPM);
  writeFileSync(path.join(root, "server", "src", "main.ts"), SERVER);
  children = [];
});
afterEach(() => {
  for (const child of children) child.kill("SIGKILL");
  rmSync(root, { recursive: true, force: true });
});

type Start = { child: ChildProcess; said: () => string; ended: Promise<number | null> };

function start(
  args: readonly string[] = [],
  environment: Readonly<Record<string, string>> = {},
  script = "start.js",
): Start {
  const child = spawn(process.execPath, [path.join(root, "tools", "bootstrap", script), ...args], {
    env: { PATH: "/usr/bin:/bin", npm_execpath: path.join(root, "npm-cli.js"), ...environment },
    stdio: ["pipe", "pipe", "pipe"],
  });
  children.push(child);
  let output = "";
  child.stdout.on("data", (chunk: Buffer) => (output += chunk.toString()));
  child.stderr.on("data", (chunk: Buffer) => (output += chunk.toString()));
  return { child, said: () => output, ended: once(child, "close").then(([code]) => code) };
}

/** Returns the process ids of npm calls so far. */
function npmCalls(): string[] {
  const file = path.join(root, "npm-calls");
  return existsSync(file) ? readFileSync(file, "utf8").trim().split("\n") : [];
}

async function waitFor(look: () => boolean): Promise<void> {
  const deadline = performance.now() + WAIT_MS;
  while (!look()) {
    if (performance.now() > deadline) throw new Error("waited in vain");
    await delay(5);
  }
}

test("installs packages once, then skips silently, and reinstalls when the lock file changes", async () => {
  const first = start(["a", "b"]);
  expect(await first.ended).toBe(5);
  expect(first.said()).toMatch(/^Installing packages.*Packages installed in \d s\.\nargs a,b\n$/s);
  const second = start();
  expect(await second.ended).toBe(5);
  expect(second.said()).toBe("args \n");
  expect(npmCalls()).toHaveLength(1);
  appendFileSync(path.join(root, "package-lock.json"), " ");
  expect(await start().ended).toBe(5);
  expect(npmCalls()).toHaveLength(2);
});

/** Returns the heap options the server was started with. */
async function sizes(environment: Readonly<Record<string, string>> = {}): Promise<string | undefined> {
  const started = start(["sizes"], environment);
  await started.ended;
  return started.said().trim().split("\n").at(-1);
}

test("a worker gets a small young generation wherever ROLES is set, and NODE_OPTIONS wins", async () => {
  expect(await sizes()).toMatch(/^--max-semi-space-size=32 --max-old-space-size=\d{3,4}$/);
  expect(await sizes({ ROLES: "worker" })).toMatch(/^--max-semi-space-size=8 /);
  expect(await sizes({ NODE_OPTIONS: "--max-old-space-size=300" })).toBe("--max-semi-space-size=32");
  writeFileSync(path.join(root, ".env"), "ROLES=worker,smtp\n");
  expect(await sizes()).toMatch(/^--max-semi-space-size=8 /);
  expect(await sizes({ ROLES: "api,worker" })).toMatch(/^--max-semi-space-size=32 /);
});

test("one of three simultaneous starts installs, and all run", async () => {
  const starts = [start(), start(), start()];
  expect(await Promise.all(starts.map(({ ended }) => ended))).toEqual([5, 5, 5]);
  expect(npmCalls()).toHaveLength(1);
});

test("a failed installation prints one sentence, exits with code 1, and is retried next time", async () => {
  writeFileSync(path.join(root, "no-network"), "");
  const failed = start();
  expect(await failed.ended).toBe(1);
  expect(failed.said()).toContain("Installing packages failed. npm cannot reach its registry");
  rmSync(path.join(root, "no-network"));
  expect(await start().ended).toBe(5);
});

test("kill -9 during an installation also ends npm, and the next start installs again", async () => {
  writeFileSync(path.join(root, "slow"), "");
  const killed = start();
  await waitFor(() => killed.said().includes("Installing"));
  await waitFor(() => npmCalls().length === 1);
  killed.child.kill("SIGKILL");
  await killed.ended;
  const [npm = ""] = npmCalls();
  await waitFor(() =>
    /^(Z.*)?$/.test(spawnSync("ps", ["-o", "stat=", "-p", npm], { encoding: "utf8" }).stdout.trim()),
  );
  rmSync(path.join(root, "slow"));
  const next = start();
  expect(await next.ended).toBe(5);
  expect(next.said()).not.toContain("Another start");
});

test("the server gets a signal once, keeps its standard input, and its exit code is returned", async () => {
  const { child, said, ended } = start(["stay"]);
  await waitFor(() => said().includes("args stay"));
  child.kill("SIGTERM");
  await waitFor(() => said().includes("signal 1"));
  child.kill("SIGTERM");
  child.stdin?.end();
  expect(await ended).toBe(7);
  expect(said()).not.toContain("signal 2");
});

test("the server notices that its parent was killed with kill -9", async () => {
  const { child, said, ended } = start(["stay"]);
  await waitFor(() => said().includes("args stay"));
  child.kill("SIGKILL");
  await ended;
  expect(said()).toContain("disconnect");
});

test("every command of package.json works without a Node.js that reads TypeScript", () => {
  const manifest = readFileSync(path.join(import.meta.dirname, "..", "..", "package.json"), "utf8");
  const { scripts } = JSON.parse(manifest) as { scripts: Record<string, string> };
  for (const script of Object.values(scripts)) expect(script).toMatch(/^node tools\/bootstrap\/\w+\.js\b/);
});

test("runs a file with the installed Node.js and its arguments, and returns its exit code", async () => {
  writeFileSync(
    path.join(root, "told.ts"),
    "const said: string = process.argv.slice(2).join(); process.stdout.write(said); process.exitCode = 9;",
  );
  const { said, ended } = start(["told.ts", "--size", "small"], {}, "run.js");
  expect(await ended).toBe(9);
  expect(said()).toContain("--size,small");
});

const DEV_SERVER = `
  for (const reason of ["SIGTERM", "disconnect"]) process.on(reason, () => process.exit(0));
  setInterval(() => {}, 60_000);
  process.stdout.write("server at " + process.env.PORT + " for " + process.env.BASE_URL + " in " + process.env.DATA_DIR + "\\n");`;

const VITE = `
  process.on("SIGTERM", () => process.exit(0));
  process.stdout.write("vite " + process.argv.slice(2).join(" ") + " for " + process.env.POSTLOFT_SERVER + "\\n");
  if (process.argv.includes("80")) process.exit(4);
  setInterval(() => {}, 60_000);`;

function prepareDev(): string {
  const main = path.join(root, "server", "src", "main.ts");
  for (const folder of ["server/migrations", "contract/src", "node_modules/vite/bin"])
    mkdirSync(path.join(root, folder), { recursive: true });
  writeFileSync(path.join(root, "node_modules/vite/bin/vite.js"), VITE);
  writeFileSync(main, DEV_SERVER);
  return main;
}

test("npm run dev restarts the server after changes and errors, and ends both processes", async () => {
  const main = prepareDev();
  const { child, said, ended } = start([], { PORT: "4567" }, "dev.js");
  const starts = () => [...said().matchAll(/^server at (\d+) for (\S+) in (.*)$/gm)];
  await waitFor(() => starts().length === 1 && said().includes("vite "));
  const [, port, url, folder] = starts()[0] ?? [];
  expect([url, folder]).toEqual(["http://localhost:4567", path.join(root, ".data-dev")]);
  expect(said()).toMatch(new RegExp(`^vite .* --port 4567 .*for http://127.0.0.1:${port}$`, "m"));
  writeFileSync(path.join(root, "contract/src/changed.ts"), "");
  await waitFor(() => starts().length === 2);
  writeFileSync(main, "process.exit(3);");
  await waitFor(() => said().includes("The server ended with code 3."));
  writeFileSync(main, DEV_SERVER);
  await waitFor(() => starts().length === 3);
  child.kill("SIGTERM");
  expect(await ended).toBe(0);
});

test("npm run dev ends with the exit code of Vite when its port is taken", async () => {
  prepareDev();
  expect(await start([], { PORT: "80" }, "dev.js").ended).toBe(4);
});
