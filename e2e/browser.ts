// Starts Chromium for browser tests: the one in CHROMIUM_PATH, the system's, or the npm package, which needs no installation on Linux.
import { existsSync } from "node:fs";
import chromiumFromNpm from "@sparticuz/chromium";
import { chromium, type Browser, type BrowserContext, type Page } from "playwright-core";

const PLACES = ["/usr/bin/chromium", "/usr/bin/chromium-browser", "/usr/bin/google-chrome"];

const installed = () => process.env.CHROMIUM_PATH ?? PLACES.find((path) => existsSync(path));

/** Starts a headless browser. */
export async function startBrowser(): Promise<Browser> {
  const executablePath = installed() ?? (await chromiumFromNpm.executablePath());
  // Do not use the npm package's arguments, because they run all pages in one process, and closing one page would end the others.
  return chromium.launch({ executablePath, args: ["--no-sandbox", "--disable-gpu"] });
}

/** Unpacks the npm package before tests run in parallel, because a second one would start a half-unpacked binary. */
export async function setup(): Promise<void> {
  if (installed() === undefined) await chromiumFromNpm.executablePath();
}

/** Removes the APIs that browsers lack on plain http, except on localhost. */
export async function simulatePlainHttp(context: BrowserContext): Promise<void> {
  await context.addInitScript("delete Crypto.prototype.randomUUID; delete Navigator.prototype.clipboard;");
}

/** The HTML editor of the dashboard. */
export const htmlOf = (page: Page) => page.getByRole("textbox", { name: "HTML" });

/** Replaces the HTML in the editor, as if pasted. */
export async function writeHtml(page: Page, html: string): Promise<void> {
  await htmlOf(page).click();
  await page.keyboard.press("Control+a");
  await page.keyboard.insertText(html);
}
