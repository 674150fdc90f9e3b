// Runs Stryker on pure modules: it makes every small mistake that it knows, and runs the tests of the module.
import { spawn } from "node:child_process";
import { existsSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";
import { ROOT } from "./patches.ts";
import { PURE_MODULES } from "./pure-modules.ts";
import { createScratch } from "./scratch.ts";

/** A separate folder, because nothing else needs these packages. */
const HOME = join(ROOT, "tools/mutations/stryker");
/** The least share of mistakes that the tests must notice, in percent. */
const LEAST_CAUGHT = 92;
const CONFIG = "stryker.config.json";
const VITEST_CONFIG = "vitest.pure.config.mjs";

/** Runs Stryker and prints the survivors and a table. Returns its exit code, which isn't 0 if too many mistakes survive. */
export async function runPure(): Promise<number> {
  if (!existsSync(join(HOME, "node_modules"))) await run("npm", ["ci", "--ignore-scripts"], HOME);
  const { resolve } = createRequire(join(HOME, "package.json"));
  const scratch = createScratch();
  try {
    const test = { include: PURE_MODULES.map((module) => `${module}.test.ts`), isolate: false };
    writeFileSync(join(scratch.path, VITEST_CONFIG), `export default ${JSON.stringify({ test })};\n`);
    writeFileSync(
      join(scratch.path, CONFIG),
      JSON.stringify(configOf(resolve("@stryker-mutator/vitest-runner"))),
    );
    return await run(
      process.execPath,
      [join(HOME, "node_modules/@stryker-mutator/core/bin/stryker.js"), "run", CONFIG],
      scratch.path,
    );
  } finally {
    scratch.remove();
  }
}

function configOf(runner: string) {
  return {
    testRunner: "vitest",
    plugins: [runner],
    vitest: { configFile: VITEST_CONFIG },
    mutate: PURE_MODULES.map((module) => `${module}.ts`),
    // The scratch checkout is the sandbox. In a copy, Stryker would rewrite tsconfig.json with a function that TypeScript 7 lacks.
    inPlace: true,
    // Each mistake in a constant runs all tests, and most of them change a text.
    ignoreStatic: true,
    disableTypeChecks: false,
    concurrency: 1,
    reporters: ["clear-text"],
    clearTextReporter: { allowColor: false, allowEmojis: false, logTests: false, reportTests: false },
    thresholds: { high: 100, low: LEAST_CAUGHT, break: LEAST_CAUGHT },
  };
}

async function run(program: string, args: readonly string[], cwd: string): Promise<number> {
  const child = spawn(program, args, {
    cwd,
    stdio: "inherit",
    shell: program === "npm" && process.platform === "win32",
  });
  return new Promise((resolve, reject) => {
    child.on("error", reject);
    child.on("close", (code) => resolve(code ?? 1));
  });
}
