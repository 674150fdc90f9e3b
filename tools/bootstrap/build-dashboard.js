// Part of `npm start` and `npm test`, after prepare.js: builds the dashboard if its sources have changed. A published package contains the
// built dashboard and no sources, so nothing is built.
import { spawnSync } from "node:child_process";
import { createHash } from "node:crypto";
import { existsSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import path from "node:path";
import { withInstallLock } from "./install-lock.js";
import { ROOT } from "./prepare.js";

const FOLDER = path.join(ROOT, "dashboard");
const BUILT = path.join(FOLDER, "dist");
const STAMP = path.join(BUILT, ".postloft-built");
const RUNTIME_DIR = path.join(ROOT, ".runtime");
const NOT_SOURCES = new Set(["dist", "node_modules"]);
const LONGEST_BUILD_MS = 5 * 60_000;

/**
 * Makes sure that dashboard/dist matches the sources. A failed build is only reported, because email is sent without the dashboard.
 * @param {string} node full path of the Node.js to build with
 * @returns {Promise<void>}
 */
export async function buildDashboard(node) {
  if (!existsSync(path.join(FOLDER, "src")) || isBuilt()) return;
  try {
    await withInstallLock(RUNTIME_DIR, say, async () => {
      if (!isBuilt()) build(node);
    });
  } catch (error) {
    process.stderr.write(`The dashboard could not be built, so /app does not work: ${error.message}\n`);
  }
}

function build(node) {
  const startedAt = performance.now();
  const fingerprint = fingerprintOf();
  // Build into a separate folder, so that pages loaded during the build get the complete old version.
  const fresh = path.join(RUNTIME_DIR, `dashboard-${process.pid}`);
  const vite = path.join(ROOT, "node_modules", "vite", "bin", "vite.js");
  const args = [vite, "build", FOLDER, "--outDir", fresh, "--emptyOutDir", "--logLevel", "warn"];
  try {
    const { status, stderr, error } = spawnSync(node, args, {
      encoding: "utf8",
      timeout: LONGEST_BUILD_MS,
      // Tests set another NODE_ENV, which would produce a development build.
      env: { ...process.env, NODE_ENV: "production" },
    });
    if (error !== undefined) throw error;
    if (status !== 0) throw new Error(stderr.trim());
    writeFileSync(path.join(fresh, path.basename(STAMP)), fingerprint);
    rmSync(BUILT, { recursive: true, force: true });
    renameSync(fresh, BUILT);
  } finally {
    rmSync(fresh, { recursive: true, force: true });
  }
  say(`Dashboard built in ${((performance.now() - startedAt) / 1000).toFixed(1)} s.`);
}

function isBuilt() {
  return existsSync(STAMP) && readFileSync(STAMP, "utf8") === fingerprintOf();
}

/** Returns a hash of every input of the build: the sources and the locked packages. */
function fingerprintOf() {
  const hash = createHash("sha256").update(readFileSync(path.join(ROOT, "package-lock.json")));
  const pending = [FOLDER];
  for (let folder = pending.pop(); folder !== undefined; folder = pending.pop()) {
    const entries = readdirSync(folder, { withFileTypes: true });
    for (const entry of entries.sort((a, b) => (a.name < b.name ? -1 : 1))) {
      const file = path.join(folder, entry.name);
      if (entry.isFile()) hash.update(`${path.relative(FOLDER, file)}\0`).update(readFileSync(file));
      else if (!NOT_SOURCES.has(entry.name)) pending.push(file);
    }
  }
  return hash.digest("hex");
}

function say(message) {
  process.stdout.write(`${message}\n`);
}
