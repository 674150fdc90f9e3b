// Provides a second checkout of the current commit for mutations, so that no mistake touches the files you work on.
import { execFileSync, spawn } from "node:child_process";
import { mkdtempSync, mkdirSync, readdirSync, rmSync, symlinkSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { ROOT } from "./patches.ts";

/** The packages of the repository, which the scratch checkout must resolve to its own files. */
const OWN_PACKAGES = "@postloft";
/** A mistake that makes a test hang counts as caught. */
const TIMEOUT_MS = 5 * 60_000;

export interface Scratch {
  path: string;
  /** Runs test files until the first failure. Returns whether all passed, with the output. */
  runTests(files: readonly string[]): Promise<{ passed: boolean; output: string }>;
  remove(): void;
}

/** Creates the checkout. It shares the installed packages. */
export function createScratch(): Scratch {
  const parent = mkdtempSync(join(tmpdir(), "postloft-mutations-"));
  const path = join(parent, "checkout");
  execFileSync("git", ["worktree", "add", "--detach", path, "HEAD"], { cwd: ROOT, stdio: "pipe" });
  linkPackages(path);
  return {
    path,
    runTests: (files) => runTests(path, files),
    remove() {
      execFileSync("git", ["worktree", "remove", "--force", path], { cwd: ROOT, stdio: "pipe" });
      rmSync(parent, { recursive: true, force: true });
    },
  };
}

function linkPackages(path: string): void {
  const [from, to] = [join(ROOT, "node_modules"), join(path, "node_modules")];
  mkdirSync(join(to, OWN_PACKAGES), { recursive: true });
  for (const name of readdirSync(from))
    if (name !== OWN_PACKAGES && name !== ".statements")
      symlinkSync(join(from, name), join(to, name), "junction");
  for (const name of readdirSync(join(from, OWN_PACKAGES)))
    symlinkSync(join(path, name), join(to, OWN_PACKAGES, name), "junction");
}

function runTests(path: string, files: readonly string[]): Promise<{ passed: boolean; output: string }> {
  const vitest = join(path, "node_modules/vitest/vitest.mjs");
  const child = spawn(process.execPath, [vitest, "run", "--bail", "1", ...files], {
    cwd: path,
    env: { ...process.env, NO_COLOR: "1" },
    timeout: TIMEOUT_MS,
  });
  const chunks: Buffer[] = [];
  child.stdout.on("data", (chunk: Buffer) => chunks.push(chunk));
  child.stderr.on("data", (chunk: Buffer) => chunks.push(chunk));
  return new Promise((resolve, reject) => {
    child.on("error", reject);
    child.on("close", (code) =>
      resolve({ passed: code === 0, output: Buffer.concat(chunks).toString("utf8") }),
    );
  });
}
