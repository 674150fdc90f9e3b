// `npm run bench dashboard -- <contacts> <events>`: the lists of the dashboard over many contacts and events, in a browser, warm: what each
// request takes, how soon the screen answers a press, how much moves by itself. `-- --folder <path>` looks at a DATA_DIR that `npm run
// seed` filled before.
import { parseArgs } from "node:util";
import type { Page, Request } from "playwright-core";
import { SYSTEM_PROJECT_ID } from "../server/src/emails/rows/system-project.ts";
import { countNews } from "../server/src/events/counts.ts";
import { createDatabase, createPool } from "../server/src/platform/database/database.ts";
import { findDatabase } from "../server/src/platform/embedded-postgres/open-database.ts";
import { createLog } from "../server/src/platform/log.ts";
// @ts-expect-error plain JavaScript, which has no declaration
import { buildDashboard } from "../tools/bootstrap/build-dashboard.js";
import { seedProject } from "../tools/seed/seed-project.ts";
import { createApiClient } from "../e2e/api-client.ts";
import { startBrowser } from "../e2e/browser.ts";
import { BOOTSTRAP, makeDataFolder, startProgram } from "../e2e/program.ts";
import { openWindow } from "../e2e/screens.ts";
import { stepsOf, type Step } from "./dashboard-steps.ts";
import { percentile } from "./latency.ts";
import { readNumbers } from "./read-numbers.ts";
import { oneDecimal, print, printTable, progress, whole } from "./table.ts";

const DEFAULT_SIZES = [100_000, 500_000];
const ROUNDS = 5;
const WARM_UPS = 1;
const BAR_MS = 150;
const VIEW = { theme: "light", width: 1440, height: 900 } as const;
/** No request for so long: a step is over. What is typed is asked for after a pause of 400 ms at most. */
const QUIET_MS = 500;
const STEP_WITHIN_MS = 60_000;

interface Seen {
  step: string;
  what: string;
  ms: number;
  bytes: number;
}

/** Asked of the API for a page: neither a file of the dashboard nor the line that stays open. */
const isCounted = (request: Request) => request.resourceType() === "fetch" && !isStream(request);
const isStream = (request: Request) => request.url().endsWith("/activity/stream");

/** Listens to a page; `take` waits until it is quiet and returns what was asked since. */
function listen(page: Page) {
  let asked: Request[] = [];
  let underWay = 0;
  let lastAtMs = performance.now();
  const note = (change: number) => (request: Request) => {
    // Files of the dashboard lead to requests: a page that loads them is not at rest.
    if (isStream(request)) return;
    underWay += change;
    lastAtMs = performance.now();
    if (change < 0 && isCounted(request)) asked.push(request);
  };
  page.on("request", note(1));
  page.on("requestfinished", note(-1));
  page.on("requestfailed", note(-1));
  return async (): Promise<Request[]> => {
    // From the step on: what it leads to is not asked in the same moment.
    lastAtMs = performance.now();
    const untilMs = lastAtMs + STEP_WITHIN_MS;
    while (underWay > 0 || performance.now() - lastAtMs < QUIET_MS) {
      if (performance.now() > untilMs) throw new Error("The page does not come to rest.");
      await page.waitForTimeout(QUIET_MS / 5);
    }
    const taken = asked;
    asked = [];
    return taken;
  };
}

const shapeOf = (request: Request) =>
  `${request.method()} ${new URL(request.url()).pathname.replaceAll(/[0-9a-f-]{36}/g, ":id")}`;

async function seenOf(requests: readonly Request[], { screen, what }: Step): Promise<Seen[]> {
  const seen: Seen[] = [];
  for (const request of requests) {
    const response = await request.response();
    if (response === null) continue;
    const { requestStart, responseEnd } = request.timing();
    const { responseBodySize, responseHeadersSize } = await request.sizes();
    seen.push({
      step: `${screen}: ${what}`,
      what: shapeOf(request),
      ms: responseEnd - requestStart,
      bytes: responseBodySize + responseHeadersSize,
    });
  }
  return seen;
}

/** Keeps what the browser says of presses and of what moves, from the beginning of each page. */
const WATCH = `window.seen = { presses: [], shift: 0 };
new PerformanceObserver((list) => { for (const e of list.getEntries()) if (e.interactionId > 0) window.seen.presses.push(e.duration); })
  .observe({ type: "event", durationThreshold: 16, buffered: true });
new PerformanceObserver((list) => { for (const e of list.getEntries()) if (!e.hadRecentInput) window.seen.shift += e.value; })
  .observe({ type: "layout-shift", buffered: true });`;

interface Felt {
  presses: number[];
  shift: number;
}

async function measure(page: Page, steps: readonly Step[]) {
  await page.addInitScript(WATCH);
  const take = listen(page);
  const seen: Seen[] = [];
  const felt = new Map<string, Felt>();
  for (let round = 0; round < WARM_UPS + ROUNDS; round++) {
    progress(`round ${round + 1} of ${WARM_UPS + ROUNDS}`);
    for (const [at, step] of steps.entries()) {
      await step.act(page);
      const requests = await take();
      if (round < WARM_UPS) continue;
      seen.push(...(await seenOf(requests, step)));
      const isFirst = steps[at - 1]?.screen !== step.screen;
      const isLast = steps[at + 1]?.screen !== step.screen;
      if (!isFirst && !isLast) continue;
      const { presses, shift } = (await page.evaluate("window.seen")) as Felt;
      const before = felt.get(step.screen) ?? { presses: [], shift: 0 };
      felt.set(step.screen, {
        presses: isLast ? [...before.presses, ...presses] : before.presses,
        // What moves once somebody asks for other rows has been asked for.
        shift: isFirst ? Math.max(before.shift, shift) : before.shift,
      });
    }
  }
  return { seen, felt };
}

function printRequests(seen: readonly Seen[]): void {
  const keys = [...new Set(seen.map(({ step, what }) => `${step}\t${what}`))];
  printTable(
    ["step", "request", "p50 ms", "p95 ms", "longest ms", "KB"],
    keys.map((key) => {
      const these = seen.filter(({ step, what }) => `${step}\t${what}` === key);
      const ms = these.map((one) => one.ms);
      const [step = "", what = ""] = key.split("\t");
      return [
        step,
        what,
        oneDecimal(percentile(ms, 0.5)),
        oneDecimal(percentile(ms, 0.95)),
        oneDecimal(percentile(ms, 1)),
        oneDecimal(
          percentile(
            these.map(({ bytes }) => bytes),
            0.5,
          ) / 1024,
        ),
      ];
    }),
  );
  const late = seen.filter(({ ms }) => ms > BAR_MS);
  print(`\n${late.length} of ${seen.length} requests took more than ${BAR_MS} ms.\n`);
}

function printFelt(felt: ReadonlyMap<string, Felt>): void {
  printTable(
    ["screen", "presses", "to the next paint: p50 ms", "longest ms", "layout shift, opening"],
    [...felt].map(([screen, { presses, shift }]) => [
      screen,
      whole(presses.length),
      whole(percentile(presses, 0.5)),
      whole(percentile(presses, 1)),
      shift.toFixed(3),
    ]),
  );
}

function quietly(): void {}

const PLANS = ["free", "pro", "team"];

/** Contacts and events as `npm run seed` makes them, unless they are there, and a few segments over them. */
async function fill(dataDir: string, url: string, size: Size | null): Promise<string> {
  const opened = await findDatabase({ databaseUrl: undefined, dataDir, log: () => undefined });
  const log = createLog({ level: "error" });
  const pool = createPool({ connection: opened.connection, maxConnections: 2, log });
  try {
    const { rows } = await pool.query<{ id: string }>("select id from projects where id <> $1", [
      SYSTEM_PROJECT_ID,
    ]);
    const projectId = rows[0]?.id ?? "";
    if (size !== null) await seedProject(pool, { projectId, ...size, seed: 1, onProgress: quietly });
    // What the program counts behind the events, it has counted long before somebody looks.
    for (let hasMore = true; hasMore;) hasMore = await countNews(createDatabase(pool), { lagSeconds: 0 });
    await pool.query("vacuum analyze");
    const api = createApiClient(url);
    const made = (await api.get<Array<{ name: string }>>("/segments")).map(({ name }) => name);
    for (const plan of PLANS.filter((one) => !made.includes(`On ${one}`)))
      await api.post("/segments", {
        name: `On ${plan}`,
        filters: { operator: "AND", conditions: [{ field: "data.plan", operator: "equals", value: plan }] },
      });
    return projectId;
  } finally {
    await pool.end();
    await opened.close();
  }
}

interface Size {
  contacts: number;
  events: number;
}

/** The folder that is filled already, or how much is to be made in one of its own. */
async function readGround(): Promise<{ size: Size | null; path: string; remove: () => Promise<void> }> {
  const { values } = parseArgs({
    args: process.argv.slice(3),
    options: { folder: { type: "string" } },
    strict: false,
  });
  if (typeof values["folder"] === "string")
    return { size: null, path: values["folder"], remove: async () => undefined };
  const [contacts = 0, events = 0] = readNumbers(DEFAULT_SIZES);
  return { size: { contacts, events }, ...(await makeDataFolder()) };
}

export async function benchDashboard(): Promise<void> {
  const data = await readGround();
  await buildDashboard(process.execPath);
  const program = await startProgram({ ...BOOTSTRAP, DATA_DIR: data.path });
  const browser = await startBrowser();
  try {
    progress("the ground");
    const project = await fill(data.path, program.url, data.size);
    const context = await openWindow(browser, program.url, VIEW);
    const page = await context.newPage();
    const { seen, felt } = await measure(page, stepsOf(project));
    printRequests(seen);
    printFelt(felt);
  } finally {
    await browser.close();
    await program.stop();
    await data.remove();
  }
}
