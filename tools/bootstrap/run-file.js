// Used by run.js: runs one of the repository's programs with the installed Node.js until it ends.
import { spawn } from "node:child_process";
import { constants } from "node:os";
import path from "node:path";
import { ROOT } from "./prepare.js";

/**
 * Runs a file of the repository.
 * @param {string} node full path of the Node.js to run it with
 * @param {string[]} command the file, relative to the repository, and its arguments
 * @returns {Promise<number>} its exit code; 128 + signal number if a signal ended it
 */
export function runFile(node, [file, ...args]) {
  const child = spawn(node, [path.join(ROOT, file), ...args], {
    cwd: ROOT,
    stdio: "inherit",
    env: { ...process.env, PATH: `${path.dirname(node)}${path.delimiter}${process.env.PATH ?? ""}` },
  });
  // The terminal sends Ctrl-C to the child directly, so this process only waits to report.
  process.on("SIGINT", () => {});
  process.on("SIGTERM", () => child.kill("SIGTERM"));
  return new Promise((resolve, reject) => {
    child.on("error", reject);
    child.on("exit", (code, signal) => resolve(signal === null ? code : 128 + constants.signals[signal]));
  });
}
