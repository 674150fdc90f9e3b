// The checks of `npm run check` and the tests of `npm test`, fast ones first. The first failure ends the run.
import { spawn } from "node:child_process";
import { readFileSync } from "node:fs";
import { constants } from "node:os";
import path from "node:path";
import { ROOT } from "./prepare.js";

/** `program` is a name in the package's `bin`, `script` is a file of this repository. */
const FAST_CHECKS = [
  {
    title: "format",
    packageName: "oxfmt",
    program: "oxfmt",
    args: ["--check", "."],
    advice: "`npx oxfmt .` formats the files listed above",
  },
  {
    title: "lint",
    packageName: "oxlint",
    program: "oxlint",
    args: [],
    advice: "fix the places listed above",
  },
  {
    title: "unused code",
    packageName: "knip",
    program: "knip",
    args: ["--no-progress", "--treat-config-hints-as-errors"],
    advice: "delete what is listed above, or only its export",
  },
  {
    title: "types",
    packageName: "typescript",
    program: "tsc",
    args: ["--noEmit", "-p", "."],
    advice: "fix the places listed above",
  },
  {
    title: "types of the dashboard",
    packageName: "typescript",
    program: "tsc",
    args: ["--noEmit", "-p", "dashboard"],
    advice: "fix the places listed above",
  },
  {
    title: "house rules, texts and generated files",
    packageName: "vitest",
    program: "vitest",
    args: ["run", "--project", "checks"],
    advice: "each message above says what to do",
  },
];

const TESTS = {
  title: "tests",
  packageName: "vitest",
  program: "vitest",
  args: ["run", "--project", "tests", "--project", "stories"],
  advice: "`npm test -- <file>` runs the tests of one file",
};

const STATEMENTS = {
  title: "statements",
  script: "tools/statements/check-statements.ts",
  args: ["--all"],
  advice: "the rows listed above differ from what their statements return, or no test runs them",
};

/**
 * Runs the checks that need no database.
 *
 * @param {string} node full path of the Node.js to run them with
 * @returns {Promise<number>} 0, or the exit code of the first check that failed
 */
export function runFastChecks(node) {
  return runInOrder(node, FAST_CHECKS);
}

/**
 * Runs the fast checks, then all tests.
 * @param {string} node full path of the Node.js to run them with
 * @param {() => Promise<void>} build builds the dashboard, which the tests open
 * @returns {Promise<number>} 0, or the exit code of the first failure
 */
export async function runAll(node, build) {
  const code = await runFastChecks(node);
  if (code !== 0) return code;
  await build();
  return runInOrder(node, [TESTS, STATEMENTS]);
}

/**
 * Runs only the tests of the named files.
 *
 * @param {string} node full path of the Node.js to run them with
 * @param {() => Promise<void>} build builds the dashboard, which some tests open
 * @param {string[]} args arguments of Vitest: files, `-t "title"`
 * @returns {Promise<number>} the exit code of Vitest
 */
export async function runTestsOf(node, build, args) {
  await build();
  return runInOrder(node, [{ ...TESTS, args: ["run", ...args] }]);
}

async function runInOrder(node, checks) {
  for (const check of checks) {
    process.stdout.write(`\n── ${check.title}\n`);
    const code = await runCheck(node, check);
    if (code === 0) continue;
    process.stderr.write(
      `\nStopped at "${check.title}" (${check.program ?? check.script} ended with code ${code}): ${check.advice}.\n`,
    );
    return code;
  }
  return 0;
}

/** Returns the JavaScript file itself, because those in node_modules/.bin are shell scripts on Windows and use the Node.js in PATH. */
function pathOf({ script, packageName, program }) {
  if (script !== undefined) return path.join(ROOT, script);
  const folder = path.join(ROOT, "node_modules", packageName);
  const { bin } = JSON.parse(readFileSync(path.join(folder, "package.json"), "utf8"));
  return path.join(folder, bin[program]);
}

function runCheck(node, check) {
  const child = spawn(node, [pathOf(check), ...check.args], {
    cwd: ROOT,
    stdio: "inherit",
    env: { ...process.env, PATH: `${path.dirname(node)}${path.delimiter}${process.env.PATH ?? ""}` },
  });
  // The terminal sends Ctrl-C to the check as well, so this process only waits to report.
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
