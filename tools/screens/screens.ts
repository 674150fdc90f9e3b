// `npm run screens`: takes pictures of the most telling screens in both themes, wide and narrow, of a lively project, into docs/screens/.
import { mkdir, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { parseArgs } from "node:util";
import type { Browser, Page } from "playwright-core";
// @ts-expect-error plain JavaScript, which has no declaration
import { buildDashboard } from "../bootstrap/build-dashboard.js";
import { startBrowser } from "../../e2e/browser.ts";
import { BOOTSTRAP, makeDataFolder, startProgram } from "../../e2e/program.ts";
import { waitUntil } from "../../e2e/wait-until.ts";
import { createApiClient } from "../../e2e/api-client.ts";
import { findProject, openScreen, openWindow, type Screen, type View } from "../../e2e/screens.ts";
import { countNews } from "../../server/src/events/counts.ts";
import { createDatabase, createPool } from "../../server/src/platform/database/database.ts";
import { findDatabase } from "../../server/src/platform/embedded-postgres/open-database.ts";
import { createLog } from "../../server/src/platform/log.ts";
import { fillLively } from "../seed/lively/lively-project.ts";
import { listScreens, type PicturedScreen } from "./lively-screens.ts";

/** The box for a picture of an email in a list, before it has one. */
const EMPTY_THUMBNAIL = "span[aria-hidden].overflow-hidden.rounded-sm:visible:not(:has(iframe))";
/** Longer than the rest after which lists load their pictures and editors check the email, also on a busy machine. */
const QUIET_MS = 1_500;
const LOADED_WITHIN_MS = 15_000;
const SEED = 1;
const NAME = "Nordlicht";
const FOLDER = join(import.meta.dirname, "../../docs/screens");
const SIZES = [
  { width: 1440, height: 900 },
  { width: 390, height: 844 },
];
const VIEWS: readonly View[] = (["light", "dark"] as const).flatMap((theme) =>
  SIZES.map((size) => ({ theme, ...size })),
);
const USAGE = `npm run screens -- [--only <part of a name>] [--folder docs/screens]

Starts the program on an empty database, fills it with the history of npm run seed, and pictures the most telling screens
in both themes at ${SIZES.map(({ width }) => width).join(" and ")} px.
`;

const fileOf = ({ name }: Screen, { theme, width }: View) => `${name}-${theme}-${width}.jpg`;

/** Returns a function that says whether the page has requested nothing for a while, so that pictures in lists are complete. */
function watchRequests(page: Page): () => boolean {
  let lastMs = performance.now();
  page.on("request", () => {
    lastMs = performance.now();
  });
  return () => performance.now() - lastMs > QUIET_MS;
}

async function picture(browser: Browser, url: string, screens: readonly PicturedScreen[], folder: string) {
  for (const view of VIEWS)
    for (const isOutside of [true, false]) {
      const context = await openWindow(browser, url, view, isOutside);
      const page = await context.newPage();
      const isQuiet = watchRequests(page);
      for (const screen of screens.filter((one) => (one.isOutside ?? false) === isOutside)) {
        await openScreen(page, screen);
        if (screen.press !== undefined) await page.getByText(screen.press, { exact: true }).click();
        const missing = page.locator(EMPTY_THUMBNAIL);
        await waitUntil(
          "the thumbnails and the last request",
          LOADED_WITHIN_MS,
          async () => (await missing.count()) === 0 && isQuiet(),
        );
        await page.screenshot({ path: join(folder, fileOf(screen, view)), type: "jpeg", quality: 60 });
      }
      await context.close();
    }
}

/** Returns a page with all screenshots, each screen once per theme, wide next to narrow. */
function pageOf(screens: readonly PicturedScreen[]): string {
  const rows = screens.map((screen) => {
    const images = VIEWS.map((view) => {
      const label = `${screen.name}, ${view.theme}, ${view.width} px`;
      return `<img src="${fileOf(screen, view)}" alt="${label}" width="${view.width > 1_000 ? 480 : 130}">`;
    });
    return `## ${screen.name}\n\n${images.join(" ")}\n`;
  });
  return `# Screens\n\nMade by \`npm run screens\` from the data of \`npm run seed\`.\n\n${rows.join("\n")}`;
}

/** Fills the first project. Returns the screens. */
async function prepare(url: string, dataDir: string): Promise<PicturedScreen[]> {
  const found = await findDatabase({ databaseUrl: undefined, dataDir, log: () => undefined });
  const pool = createPool({
    connection: found.connection,
    maxConnections: 2,
    log: createLog({ level: "error" }),
  });
  try {
    const database = createDatabase(pool);
    const api = createApiClient(url);
    const projectId = await findProject(url);
    const lively = await fillLively({ database, api, projectId, seed: SEED });
    if (lively === null) throw new Error("The first project is not empty.");
    await pool.query("update projects set name = $2 where id = $1", [projectId, NAME]);
    while (await countNews(database, { lagSeconds: 0 }));
    return await listScreens(api, projectId, lively);
  } finally {
    await pool.end();
    await found.close();
  }
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
    const screens = (await prepare(program.url, data.path)).filter(({ name }) =>
      name.includes(values.only ?? ""),
    );
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
