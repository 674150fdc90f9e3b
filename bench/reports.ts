// `npm run bench reports -- <events> <mails> <small projects> [--ground <folder>]`: measures every report and feed page of one large
// project, warm. Compares with hand-written SQL on the same counts, with and without uncounted events, and measures the cost of the counts.
import { parseArgs } from "node:util";
import { sql } from "kysely";
import { createDatabase, createPool, type Database } from "../server/src/platform/database/database.ts";
import { NO_ID } from "../server/src/platform/ids.ts";
import { createLog } from "../server/src/platform/log.ts";
import { countAll } from "./counting.ts";
import { percentile } from "./latency.ts";
import { unlimited } from "./outbox.ts";
import { readNumbers } from "./read-numbers.ts";
import { analyticsQuestions, feedQuestions, ZONE, type Question } from "./report-questions.ts";
import {
  addNews,
  DAYS_OF_FIXTURE,
  createReportData,
  startReportDatabase,
  type ReportSize,
} from "./reports-fixture.ts";
import { oneDecimal, print, printTable, progress, whole } from "./table.ts";

const DEFAULT_SIZES = [500_000, 200_000, 1_000];
const REPEATS = 40;
const WARM_UP = 5;
/** Events in the seconds not counted yet, at a hundred a second. */
const NEWS = 1_000;
const BAR_MS = 100;

async function timeOf(work: () => Promise<unknown>): Promise<number> {
  const startedMs = performance.now();
  await work();
  return performance.now() - startedMs;
}

/** Measures warm. Our query, plain SQL on the counts, and plain SQL for the same numbers alternate. */
async function measure(
  database: Database,
  projectId: string,
  { name, ask, plain }: Question,
): Promise<string[]> {
  const countedAlone = async () => void (await plain?.counted.execute(database));
  const sameNumbers = async () => {
    const position = await readPosition(database, projectId);
    await countedAlone();
    for (const rest of plain?.since(position) ?? []) await rest.execute(database);
  };
  const tries = [ask, ...(plain === null ? [] : [countedAlone, sameNumbers])].map((work) => ({
    work,
    tookMs: [] as number[],
  }));
  for (let at = 0; at < WARM_UP + REPEATS; at++)
    for (const { work, tookMs } of tries) {
      const took = await timeOf(work);
      if (at >= WARM_UP) tookMs.push(took);
    }
  const [ours = 0, ...plains] = tries.map(({ tookMs }) => percentile(tookMs, 0.5));
  const most = percentile(tries[0]?.tookMs ?? [], 0.95);
  const compared = plains.flatMap((middle) => [oneDecimal(middle), (ours / middle).toFixed(2)]);
  return [
    name,
    oneDecimal(ours),
    oneDecimal(most),
    ...(plain === null ? Array<string>(4).fill("–") : compared),
    most <= BAR_MS ? "yes" : "no",
  ];
}

async function readPosition(database: Database, projectId: string): Promise<string> {
  const { rows } = await sql<{ position: string }>`
    select position from count_positions where project_id = ${projectId}`.execute(database);
  return rows[0]?.position ?? NO_ID;
}

async function printCosts(database: Database, tookMs: number): Promise<void> {
  const { rows } = await sql<{ mails: number; events: number; mailBytes: number; eventBytes: number }>`
    select (select count(*) from emails) as mails, (select count(*) from events) as events,
      pg_total_relation_size('mail_counts') + pg_total_relation_size('count_values') as mail_bytes, pg_total_relation_size('event_counts') as event_bytes`.execute(
    database,
  );
  const found = rows[0] ?? { mails: 0, events: 0, mailBytes: 0, eventBytes: 0 };
  const counted = found.mails + found.events;
  printTable(
    [
      "mails",
      "events",
      "count bytes per email",
      "event count bytes per row",
      "µs to count one",
      "counted a second",
    ],
    [
      [
        whole(found.mails),
        whole(found.events),
        oneDecimal(found.mailBytes / found.mails),
        oneDecimal(found.eventBytes / found.events),
        oneDecimal((tookMs * 1_000) / counted),
        whole((counted * 1_000) / tookMs),
      ],
    ],
  );
}

/** Creates and counts the data, or reuses it from an earlier run. */
async function prepareReportData(
  database: Database,
  fixture: Awaited<ReturnType<typeof startReportDatabase>>,
  size: ReportSize,
) {
  const known = await fixture.read(size);
  if (known?.countedMs != null) {
    // Count the new events of the previous run.
    await unlimited(database, countAll);
    return { ...known, countedMs: known.countedMs };
  }
  if (known === null) await fixture.write({ size });
  const project = known?.project ?? (await unlimited(database, (one) => createReportData(one, size)));
  await fixture.write({ size, project, countedMs: null });
  progress("counting");
  const countedMs = await unlimited(database, countAll);
  await unlimited(database, async (one) => {
    await sql`vacuum (analyze) mail_counts, event_counts`.execute(one);
    await sql`checkpoint`.execute(one);
  });
  const made = { size, project, countedMs };
  await fixture.write(made);
  return made;
}

export async function benchReports(): Promise<void> {
  const { values, positionals } = parseArgs({
    args: process.argv.slice(3),
    options: { ground: { type: "string" } },
    allowPositionals: true,
  });
  const [events = 0, mails = 0, neighbours = 0] = readNumbers(DEFAULT_SIZES, positionals);
  const fixture = await startReportDatabase(values.ground ?? null);
  const log = createLog({ level: "silent" });
  const pool = createPool({ connection: fixture.connection, maxConnections: 4, log });
  const database = createDatabase(pool);
  try {
    const { project, countedMs } = await prepareReportData(database, fixture, { mails, events, neighbours });
    await printCosts(database, countedMs);
    await addNews(database, project.id, NEWS);
    const head = ["p50 ms", "p95 ms", "counts ms", "ratio", "same numbers ms", "ratio", `≤ ${BAR_MS} ms`];
    for (const days of [30, DAYS_OF_FIXTURE]) {
      const rows: string[][] = [];
      for (const question of analyticsQuestions(database, project, days))
        rows.push(await measure(database, project.id, question));
      print("");
      printTable([`${days} days in ${ZONE}`, ...head], rows);
    }
    const rows: string[][] = [];
    for (const question of await feedQuestions(database, project))
      rows.push(await measure(database, project.id, question));
    print("");
    printTable(["activity", ...head], rows);
  } finally {
    await database.destroy();
    await fixture.stop();
  }
}
