// Provides a browser for one test file, and builds the dashboard first.
import type { Browser, BrowserContext } from "playwright-core";
import { afterAll, beforeAll, onTestFinished } from "vitest";
// @ts-expect-error plain JavaScript, which has no declaration
import { buildDashboard } from "../tools/bootstrap/build-dashboard.js";
import { startBrowser } from "./browser.ts";

/** Starts a browser before the tests and closes it afterwards. Pages opened by a test are closed with it, and captured if it failed. */
export function useBrowser(): Pick<Browser, "newContext"> {
  let browser: Browser | undefined;
  beforeAll(async () => {
    await buildDashboard(process.execPath);
    browser = await startBrowser();
  });
  afterAll(() => browser?.close());
  return {
    newContext: async (options) => {
      if (browser === undefined) throw new Error("The browser starts in beforeAll.");
      const context = await browser.newContext(options);
      const faults = faultsOf(context);
      onTestFinished(async ({ task }) => {
        if (task.result?.state === "fail") await show(context, faults);
        await context.close();
      });
      return context;
    },
  };
}

/** Collects failed requests and responses. */
function faultsOf(context: BrowserContext): string[] {
  const faults: string[] = [];
  context.on("response", (response) => {
    if (response.status() >= 400) faults.push(`${response.status()} ${response.url()}`);
  });
  context.on("requestfailed", (request) =>
    faults.push(`${request.failure()?.errorText ?? "failed"} ${request.url()}`),
  );
  context.on("weberror", (error) => faults.push(String(error.error())));
  return faults;
}

async function show(context: BrowserContext, faults: readonly string[]): Promise<void> {
  for (const page of context.pages()) {
    const text = await page
      .locator("body")
      .innerText({ timeout: 5_000 })
      .catch((error: unknown) => String(error));
    process.stderr.write(`\nThe page at ${page.url()}:\n${text}\n`);
  }
  process.stderr.write(`\nFailed requests:\n${faults.join("\n")}\n`);
}
