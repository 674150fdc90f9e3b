// How `vitest run` finds and runs the tests: real PostgreSQL and a browser from the global setup, three workers: tests wait a third of their time.
import { defineConfig } from "vitest/config";
import { BaseSequencer, type TestSpecification } from "vitest/node";
// @ts-expect-error: plain JavaScript, because it runs before anything is installed
import { SERVER_ENVIRONMENT } from "./tools/bootstrap/run-server.js";

// The workers inherit it, and the threads that servers start on them: a render thread starts in a third of the time.
process.env["NODE_COMPILE_CACHE"] ??= SERVER_ENVIRONMENT.NODE_COMPILE_CACHE;

/** For so many other files one of whole processes. */
const FILES_BESIDE_PROCESSES = 4;

/**
 * Tests of whole processes take longest, most of it waiting: one is always under way from the beginning, beside others that compute. A
 * browser takes all the machine has, so its stories come last: beside them a start is not as fast as it is.
 */
class ProcessesBetween extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const {
      processes = [],
      browsers = [],
      rest = [],
    } = Object.groupBy(await super.sort(files), ({ moduleId }) => {
      if (!moduleId.includes("/e2e/")) return "rest";
      return /dashboard|accessibility/.test(moduleId) ? "browsers" : "processes";
    });
    const mixed = processes.flatMap((one, at) => [
      one,
      ...rest.slice(at * FILES_BESIDE_PROCESSES, (at + 1) * FILES_BESIDE_PROCESSES),
    ]);
    return [...mixed, ...rest.slice(processes.length * FILES_BESIDE_PROCESSES), ...browsers];
  }
}

export default defineConfig({
  test: {
    include: ["{contract,dashboard,server,tools,e2e,bench}/**/*.test.ts"],
    globalSetup: ["tools/test-postgres.ts", "e2e/browser.ts", "tools/statements/empty-record.ts"],
    setupFiles: ["tools/statements/record-statements.ts"],
    // Against what hangs, not against what is slow: a browser gives up after 30 s and names what it waited for.
    testTimeout: 60_000,
    hookTimeout: 60_000,
    expect: { poll: { timeout: 15_000 } },
    maxWorkers: 3,
    // What is imported stays for the next file of a worker; a test that arms or moves something of a module puts it back.
    isolate: false,
    forbidOnly: true,
    sequence: { sequencer: ProcessesBetween },
  },
});
