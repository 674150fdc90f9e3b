// A real Chromium for stories: the one that is named, the system's, or the one from npm, which runs on Linux and needs no installing.
import { existsSync } from "node:fs";
import chromiumFromNpm from "@sparticuz/chromium";
import { chromium, type Browser } from "playwright-core";

const PLACES = ["/usr/bin/chromium", "/usr/bin/chromium-browser", "/usr/bin/google-chrome"];

/** Starts one without a window. CHROMIUM_PATH names another than the system's. */
export async function startBrowser(): Promise<Browser> {
  const installed = process.env.CHROMIUM_PATH ?? PLACES.find((path) => existsSync(path));
  if (installed !== undefined) return chromium.launch({ executablePath: installed, args: ["--no-sandbox"] });
  return chromium.launch({
    executablePath: await chromiumFromNpm.executablePath(),
    args: chromiumFromNpm.args,
  });
}
