// Second half of `npm test`: every check in order, the quick ones first; the first that fails ends it.
import { spawn } from "node:child_process";
import { readFileSync } from "node:fs";
import { constants } from "node:os";
import path from "node:path";
import { ROOT } from "./prepare.js";

/** `program` is a name in the `bin` of the package; `script` is a file of ours. */
const CHECKS = [
  {
    title: "format",
    packageName: "oxfmt",
    program: "oxfmt",
    args: ["--check", "."],
    advice: "`npx oxfmt .` formats the files named above",
  },
  { title: "lint", packageName: "oxlint", program: "oxlint", args: [], advice: "the places are named above" },
  {
    title: "types",
    packageName: "typescript",
    program: "tsc",
    args: ["--noEmit", "-p", "."],
    advice: "the places are named above",
  },
  {
    title: "types of the dashboard",
    packageName: "typescript",
    program: "tsc",
    args: ["--noEmit", "-p", "dashboard"],
    advice: "the places are named above",
  },
  {
    title: "tests",
    packageName: "vitest",
    program: "vitest",
    args: ["run"],
    takesArguments: true,
    advice: "`npm test -- <file>` runs the tests of one file",
  },
  {
    title: "statements",
    script: "tools/statements/check-statements.ts",
    args: [],
    advice: "the rows named above are not what their statements return, or no test runs them",
  },
];

/**
 * Runs all checks.
 *
 * @param {string} node full path of the Node.js to run them with
 * @param {string[]} args passed on to the tests
 * @returns {Promise<number>} 0, or the exit code of the first check that failed
 */
export async function runChecks(node, args) {
  for (const check of CHECKS) {
    process.stdout.write(`\n── ${check.title}\n`);
    const isWhole = args.length === 0;
    const more =
      check.takesArguments === true ? args : check.script !== undefined && isWhole ? ["--all"] : [];
    const code = await runCheck(node, check, more);
    if (code === 0) continue;
    process.stderr.write(
      `\nStopped at "${check.title}" (${check.program ?? check.script} ended with code ${code}): ${check.advice}.\n`,
    );
    return code;
  }
  return 0;
}

/** The JavaScript itself: the files in node_modules/.bin are shell scripts on Windows, and ask PATH for a Node.js elsewhere. */
function pathOf({ script, packageName, program }) {
  if (script !== undefined) return path.join(ROOT, script);
  const folder = path.join(ROOT, "node_modules", packageName);
  const { bin } = JSON.parse(readFileSync(path.join(folder, "package.json"), "utf8"));
  return path.join(folder, bin[program]);
}

function runCheck(node, check, moreArgs) {
  const child = spawn(node, [pathOf(check), ...check.args, ...moreArgs], {
    cwd: ROOT,
    stdio: "inherit",
    env: { ...process.env, PATH: `${path.dirname(node)}${path.delimiter}${process.env.PATH ?? ""}` },
  });
  // The terminal's Ctrl-C reaches the check by itself; this parent stays to report.
  const pass = () => child.kill("SIGTERM");
  process.on("SIGINT", doNothing);
  process.on("SIGTERM", pass);
  return new Promise((resolve, reject) => {
    child.on("error", reject);
    child.on("exit", (code, signal) => {
      process.off("SIGINT", doNothing);
      process.off("SIGTERM", pass);
      resolve(signal === null ? code : 128 + constants.signals[signal]);
    });
  });
}

function doNothing() {}
