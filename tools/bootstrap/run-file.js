// Second half of run.js: one of the repository's programs until it ends, with the Node.js that was brought.
import { spawn } from "node:child_process";
import { constants } from "node:os";
import path from "node:path";
import { ROOT } from "./prepare.js";

/**
 * Runs a file of the repository.
 *
 * @param {string} node full path of the Node.js to run it with
 * @param {string[]} command the file, from the root of the repository, and what it is told
 * @returns {Promise<number>} its exit code; 128 + number of the signal that ended it
 */
export function runFile(node, [file, ...args]) {
  const child = spawn(node, [path.join(ROOT, file), ...args], {
    cwd: ROOT,
    stdio: "inherit",
    env: { ...process.env, PATH: `${path.dirname(node)}${path.delimiter}${process.env.PATH ?? ""}` },
  });
  // The terminal's Ctrl-C reaches it by itself; this parent stays to report.
  process.on("SIGINT", () => {});
  process.on("SIGTERM", () => child.kill("SIGTERM"));
  return new Promise((resolve, reject) => {
    child.on("error", reject);
    child.on("exit", (code, signal) => resolve(signal === null ? code : 128 + constants.signals[signal]));
  });
}
