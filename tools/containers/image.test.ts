// Tests that the image contains everything its commands need. Follows the COPY lines of the Dockerfile, so no container tool is required.
import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { cpSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { createInterface } from "node:readline";
import { afterAll, beforeAll, expect, test } from "vitest";
import { ROOT } from "../generate/generated-files.ts";
import { instructionsOf } from "./container-files.ts";
import { readContainerFiles } from "./read-files.ts";

const { dockerfile, ignored } = readContainerFiles();
const instructions = instructionsOf(dockerfile);
const lastStage = instructions.slice(instructions.findLastIndex(({ word }) => word === "FROM"));
const EXCLUDED = ignored.split("\n").filter((line) => line !== "" && line !== "**" && !line.startsWith("!"));
const ENVIRONMENT = Object.fromEntries(
  Object.entries(process.env).filter(([name]) => ["PATH", "NODE_COMPILE_CACHE"].includes(name)),
);
const OPERATOR_COMMANDS = ["start", "admin", "backup", "restore", "doctor"];
let image = "";

beforeAll(() => {
  image = mkdtempSync(path.join(tmpdir(), "postloft-image-"));
  for (const { word, text } of lastStage) if (word === "COPY") copy(text.split(/\s+/));
});
afterAll(() => rmSync(image, { recursive: true, force: true }));

function copy(words: readonly string[]): void {
  if (words[0] === "--from=packages") return linkPackages();
  // From the dashboard stage only the built dashboard is copied, which commands don't read.
  if (words[0] === "--from=dashboard")
    return void mkdirSync(path.join(image, words[2] ?? ""), { recursive: true });
  const target = path.join(image, words.at(-1) ?? "");
  for (const source of words.slice(0, -1))
    cpSync(path.join(ROOT, source), target.endsWith("/") ? path.join(target, source) : target, {
      recursive: true,
      filter: (file) => !EXCLUDED.some((pattern) => path.matchesGlob(path.relative(ROOT, file), pattern)),
    });
}

interface LockedPackage {
  dev?: boolean;
  link?: boolean;
  resolved?: string;
}

/** Links the packages that `npm ci --omit=dev` installs. */
function linkPackages(): void {
  const lock = JSON.parse(readFileSync(path.join(ROOT, "package-lock.json"), "utf8")) as {
    packages: Record<string, LockedPackage>;
  };
  for (const [place, { dev, link, resolved = "" }] of Object.entries(lock.packages)) {
    if (!/^node_modules\/(@[^/]+\/)?[^/]+$/.test(place) || dev === true) continue;
    // Optional packages for other systems are not installed.
    if (link !== true && !existsSync(path.join(ROOT, place))) continue;
    mkdirSync(path.dirname(path.join(image, place)), { recursive: true });
    symlinkSync(link === true ? path.join(image, resolved) : path.join(ROOT, place), path.join(image, place));
  }
}

/** Returns the arguments of `node` in a script of package.json. */
function scriptOf(name: string): string[] {
  const { scripts } = JSON.parse(readFileSync(path.join(image, "package.json"), "utf8")) as {
    scripts: Record<string, string>;
  };
  return (scripts[name] ?? "").split(" ").slice(1);
}

test.each(OPERATOR_COMMANDS)("npm run %s -- --help works in the image", (name) => {
  const { status, stdout, stderr } = spawnSync(process.execPath, [...scriptOf(name), "--help"], {
    cwd: image,
    env: ENVIRONMENT,
    encoding: "utf8",
  });
  expect({ status, stderr }).toEqual({ status: 0, stderr: "" });
  expect(stdout).toMatch(/^npm (run )?\w+/);
});

test("the server and doctor work in the image", async () => {
  const data = mkdtempSync(path.join(tmpdir(), "postloft-image-data-"));
  const [, program = ""] = JSON.parse(lastStage.find(({ word }) => word === "CMD")?.text ?? "[]") as string[];
  const env = { ...ENVIRONMENT, DATA_DIR: path.join(data, "data"), PORT: "0", NODE_ENV: "production" };
  const server = spawn(process.execPath, [program], { cwd: image, env, stdio: ["ignore", "pipe", "pipe"] });
  try {
    const said: string[] = [];
    for await (const line of createInterface(server.stdout)) {
      said.push(line);
      if (line.startsWith("Postloft is ready")) break;
    }
    expect(said.at(-1)).toMatch(/^Postloft is ready: http/);
    const doctor = [...scriptOf("doctor"), "--json"];
    const { stdout } = spawnSync(process.execPath, doctor, { cwd: image, env, encoding: "utf8" });
    const { findings } = JSON.parse(stdout) as { findings: object[] };
    expect(findings).toContainEqual(expect.objectContaining({ check: "database", state: "ok" }));
  } finally {
    server.kill("SIGTERM");
    await once(server, "exit");
    rmSync(data, { recursive: true, force: true });
  }
});
