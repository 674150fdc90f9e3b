// `npm run screens`: takes screenshots of every dashboard screen in both themes, wide and narrow, with sample data, into docs/screens/.
import { mkdir, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { parseArgs } from "node:util";
import type { Browser } from "playwright-core";
// @ts-expect-error plain JavaScript, which has no declaration
import { buildDashboard } from "../bootstrap/build-dashboard.js";
import { startBrowser } from "../../e2e/browser.ts";
import { BOOTSTRAP, makeDataFolder, startProgram } from "../../e2e/program.ts";
import { furnish, openScreen, openWindow, type Screen, type View } from "../../e2e/screens.ts";

const FOLDER = join(import.meta.dirname, "../../docs/screens");
const SIZES = [
  { width: 1440, height: 900 },
  { width: 390, height: 844 },
];
const VIEWS: readonly View[] = (["light", "dark"] as const).flatMap((theme) =>
  SIZES.map((size) => ({ theme, ...size })),
);
const USAGE = `npm run screens -- [--only <part of a name>] [--folder docs/screens]

Starts the program on an empty database, fills it with made-up data, and pictures every screen of the dashboard
in both themes at ${SIZES.map(({ width }) => width).join(" and ")} px.
`;

const fileOf = ({ name }: Screen, { theme, width }: View) => `${name}-${theme}-${width}.jpg`;

async function picture(browser: Browser, url: string, screens: readonly Screen[], folder: string) {
  for (const view of VIEWS)
    for (const isOutside of [true, false]) {
      const context = await openWindow(browser, url, view, isOutside);
      const page = await context.newPage();
      for (const screen of screens.filter((one) => (one.isOutside ?? false) === isOutside)) {
        await openScreen(page, screen);
        await page.screenshot({ path: join(folder, fileOf(screen, view)), type: "jpeg", quality: 60 });
      }
      await context.close();
    }
}

/** Returns a page with all screenshots, each screen once per theme, wide next to narrow. */
function pageOf(screens: readonly Screen[]): string {
  const rows = screens.map((screen) => {
    const images = VIEWS.map((view) => {
      const label = `${screen.name}, ${view.theme}, ${view.width} px`;
      return `<img src="${fileOf(screen, view)}" alt="${label}" width="${view.width > 1_000 ? 480 : 130}">`;
    });
    return `## ${screen.name}\n\n${images.join(" ")}\n`;
  });
  return `# Screens of the dashboard\n\nMade by \`npm run screens\` from made-up data.\n\n${rows.join("\n")}`;
}

async function main(): Promise<void> {
  const text = { type: "string" } as const;
  const { values } = parseArgs({ options: { only: text, folder: text, help: { type: "boolean" } } });
  if (values.help === true) return void process.stdout.write(USAGE);
  const folder = values.folder ?? FOLDER;
  const isWhole = values.only === undefined;
  await buildDashboard(process.execPath);
  const data = await makeDataFolder();
  const program = await startProgram({ ...BOOTSTRAP, DATA_DIR: data.path });
  const browser = await startBrowser();
  try {
    const screens = (await furnish(program.url)).filter(({ name }) => name.includes(values.only ?? ""));
    if (isWhole) await rm(folder, { recursive: true, force: true });
    await mkdir(folder, { recursive: true });
    await picture(browser, program.url, screens, folder);
    if (isWhole) await writeFile(join(folder, "README.md"), pageOf(screens));
    process.stdout.write(
      `${screens.length} screens, ${screens.length * VIEWS.length} pictures in ${folder}\n`,
    );
  } finally {
    await browser.close();
    await program.stop();
    await data.remove();
  }
}

await main();
