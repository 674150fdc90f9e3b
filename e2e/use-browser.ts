// A browser for the stories of one file, and the dashboard built before it starts.
// Before it: browser.ts, tools/bootstrap/. After it: dashboard*.test.ts.
import type { Browser } from "playwright-core";
import { afterAll, beforeAll } from "vitest";
// @ts-expect-error plain JavaScript, which has no declaration
import { buildDashboard } from "../tools/bootstrap/build-dashboard.js";
import { startBrowser } from "./browser.ts";

/** Starts before the tests of a file and is closed after them. */
export function useBrowser(): Pick<Browser, "newContext"> {
  let browser: Browser | undefined;
  beforeAll(async () => {
    await buildDashboard(process.execPath);
    browser = await startBrowser();
  });
  afterAll(() => browser?.close());
  return {
    newContext: async (options) => {
      if (browser === undefined) throw new Error("The browser runs from beforeAll on.");
      return browser.newContext(options);
    },
  };
}
