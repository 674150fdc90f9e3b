// How `vitest run` finds and runs the tests: real PostgreSQL from the global setup, two workers.
import { defineConfig } from "vitest/config";

export default defineConfig({
  test: {
    include: ["{contract,server,tools,e2e,bench}/**/*.test.ts"],
    globalSetup: ["tools/test-postgres.ts"],
    testTimeout: 20_000,
    hookTimeout: 60_000,
    maxWorkers: 2,
    forbidOnly: true,
  },
});
