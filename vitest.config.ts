// Configures the three groups of tests: checks without a database, tests on a real PostgreSQL, and stories in a browser.
import { configDefaults, defineConfig } from "vitest/config";
import { BaseSequencer, type TestSpecification } from "vitest/node";
// @ts-expect-error: plain JavaScript, because it runs before anything is installed
import { SERVER_ENVIRONMENT } from "./tools/bootstrap/run-server.js";

// The workers inherit it, and the threads that servers start on them: a render thread starts in a third of the time.
process.env["NODE_COMPILE_CACHE"] ??= SERVER_ENVIRONMENT.NODE_COMPILE_CACHE;

/** For so many other files one of whole processes. */
const FILES_BESIDE_PROCESSES = 4;
const STORIES = "e2e/{dashboard*,accessibility}.test.ts";
/** `npm run check` runs these, so they must need neither a database nor a browser. */
const CHECKS = [
  // The measurements of regular expressions and loops in the same folder take a minute, so they are tests.
  "tools/tidy/{tidy,rules,linters}.test.ts",
  "tools/containers/containers.test.ts",
  "tools/generate/pages.test.ts",
  "dashboard/src/text/*.test.ts",
];

/** What every other test needs. */
const ON_POSTGRES = {
  globalSetup: ["tools/test-postgres.ts", "e2e/browser.ts", "tools/statements/empty-record.ts"],
  setupFiles: [
    "tools/statements/record-statements.ts",
    "tools/sharded/record-results.ts",
    "server/src/testing/patience.ts",
  ],
};

/** Tests of whole processes take longest, most of it waiting: one is always under way from the beginning, beside others that compute. */
class ProcessesBetween extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const { processes = [], rest = [] } = Object.groupBy(await super.sort(files), ({ moduleId }) =>
      moduleId.includes("/e2e/") ? "processes" : "rest",
    );
    const mixed = processes.flatMap((one, at) => [
      one,
      ...rest.slice(at * FILES_BESIDE_PROCESSES, (at + 1) * FILES_BESIDE_PROCESSES),
    ]);
    return [...mixed, ...rest.slice(processes.length * FILES_BESIDE_PROCESSES)];
  }
}

export default defineConfig({
  test: {
    // Against what hangs, not against what is slow: each wait in a test gives up after 30 s and names what it waited for.
    testTimeout: 120_000,
    hookTimeout: 120_000,
    expect: { poll: { timeout: 30_000 } },
    // What is imported stays for the next file of a worker; a test that arms or moves something of a module puts it back.
    isolate: false,
    forbidOnly: true,
    sequence: { sequencer: ProcessesBetween },
    projects: [
      { extends: true, test: { name: "checks", include: CHECKS, maxWorkers: 4 } },
      {
        extends: true,
        test: {
          ...ON_POSTGRES,
          name: "tests",
          include: ["{contract,dashboard,server,tools,e2e,bench}/**/*.test.ts"],
          exclude: [...configDefaults.exclude, ...CHECKS, STORIES],
          maxWorkers: 4,
        },
      },
      {
        extends: true,
        test: {
          ...ON_POSTGRES,
          name: "stories",
          include: [STORIES],
          // A browser takes all the machine has, so its stories come last: beside them a start is not as fast as it is.
          sequence: { groupOrder: 1 },
          maxWorkers: 3,
        },
      },
    ],
  },
});
