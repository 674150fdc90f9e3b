// A real Chromium for stories: the one that is named, the system's, or the one from npm, which runs on Linux and needs no installing.
import { existsSync } from "node:fs";
import chromiumFromNpm from "@sparticuz/chromium";
import { chromium, type Browser, type BrowserContext, type Page } from "playwright-core";

const PLACES = ["/usr/bin/chromium", "/usr/bin/chromium-browser", "/usr/bin/google-chrome"];

const installed = () => process.env.CHROMIUM_PATH ?? PLACES.find((path) => existsSync(path));

/** Starts one without a window. CHROMIUM_PATH names another than the system's. */
export async function startBrowser(): Promise<Browser> {
  const executablePath = installed() ?? (await chromiumFromNpm.executablePath());
  // Not the arguments that come with the one from npm: they put all pages into one process, where one that closes ends the others.
  return chromium.launch({ executablePath, args: ["--no-sandbox"] });
}

/** Unpacks the one from npm before several tests want it at once: whoever came second would start half of it. */
export async function setup(): Promise<void> {
  if (installed() === undefined) await chromiumFromNpm.executablePath();
}

/** Takes away what browsers lack on plain http, at every host but localhost. */
export async function asOnPlainHttp(context: BrowserContext): Promise<void> {
  await context.addInitScript("delete Crypto.prototype.randomUUID; delete Navigator.prototype.clipboard;");
}

/** The code of a mail in the dashboard. */
export const htmlOf = (page: Page) => page.getByRole("textbox", { name: "HTML" });

/** Writes it anew, as a person pastes it. */
export async function writeHtml(page: Page, html: string): Promise<void> {
  await htmlOf(page).click();
  await page.keyboard.press("Control+a");
  await page.keyboard.insertText(html);
}
