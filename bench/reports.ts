// `npm run bench reports -- <events> <mails> <small projects> [--ground <folder>]`: every report and page of the feed of one large project, warm, beside
// hand-written SQL on the same counts; what the counts take, and what it takes to keep them.
// Before it: bench.ts. After it: tables; docs/benchmarks.md holds what was seen.
import { parseArgs } from "node:util";
import { sql, type RawBuilder } from "kysely";
import type { Dimension } from "@postloft/contract/report-queries.ts";
import { createDatabase, createPool, type Database } from "../server/src/platform/database.ts";
import { createLog } from "../server/src/platform/log.ts";
import { readPage } from "../server/src/platform/page.ts";
import { DIMENSION_NUMBERS } from "../server/src/events/counts.ts";
import { countRecentActivity, listActivity, listUpcoming } from "../server/src/reports/activity.ts";
import * as analytics from "../server/src/reports/analytics.ts";
import { readPeriod, spanOf } from "../server/src/reports/period.ts";
import { countAll } from "./counting.ts";
import { percentile } from "./latency.ts";
import { unlimited } from "./outbox.ts";
import { readNumbers } from "./read-numbers.ts";
import {
  addNews,
  DAYS_OF_GROUND,
  makeReportGround,
  startGround,
  type ReportProject,
  type ReportSize,
} from "./reports-ground.ts";
import { oneDecimal, print, printTable, progress, whole } from "./table.ts";

const DEFAULT_SIZES = [500_000, 200_000, 1_000];
const REPEATS = 40;
const WARM_UP = 5;
/** Came in the seconds that are not counted yet: a hundred a second. */
const NEWS = 1_000;
const ZONE = "Europe/Berlin";
const BAR_MS = 100;

interface Question {
  name: string;
  ask: () => Promise<unknown>;
  /** The plainest SQL on the same counts; null where no count is read. */
  plain: RawBuilder<unknown> | null;
}

const MAIL_SUMS = sql`sum(sent) as sent, sum(delivered) as delivered, sum(opened) as opened, sum(clicked) as clicked,
  sum(machine_opened) as machine_opened, sum(machine_clicked) as machine_clicked, sum(bounced) as bounced,
  sum(soft_bounced) as soft_bounced, sum(complained) as complained`;
const LOCAL_DAY = sql`(quarter at time zone ${sql.lit(ZONE)})::date`;

/** The questions about numbers, for the last `days` days. */
function analyticsQuestions(database: Database, project: ReportProject, days: number): Question[] {
  const { id, campaignId } = project;
  const startDate = new Date(Date.now() - (days - 1) * 86_400_000).toISOString().slice(0, 10);
  const period = readPeriod({ startDate, tz: ZONE }, new Date());
  const { from, to } = spanOf(period);
  const all = { dimension: "kind", value: null } as const;
  const ofCampaign = { dimension: "campaign", value: campaignId } as const;
  const within = (start: Date) => sql`project_id = ${id} and quarter >= ${start} and quarter < ${to}`;
  const mails = (dimension: Dimension, by: RawBuilder<unknown>, start = from) =>
    sql`select ${by} as by, ${MAIL_SUMS} from mail_counts
      where ${within(start)} and dimension = ${DIMENSION_NUMBERS[dimension]} group by 1`;
  const mailsByValue = (dimension: Dimension) =>
    sql`select v.value as by, g.* from (${mails(dimension, sql`value`)}) g join count_values v
      on v.project_id = ${id} and v.dimension = ${DIMENSION_NUMBERS[dimension]} and v.id = g.by`;
  const events = (by: RawBuilder<unknown>, start = from) =>
    sql`select ${by} as by, sum(count) as count from event_counts where ${within(start)} group by 1`;
  const twice = new Date(from.getTime() - (to.getTime() - from.getTime()));
  const isNow = sql`quarter >= ${from}`;
  const breakdown = (dimension: Dimension): Question => ({
    name: `breakdown by ${dimension}`,
    ask: () => analytics.getBreakdown(database, id, dimension, period),
    plain: mailsByValue(dimension),
  });
  return [
    {
      name: "timeseries",
      ask: () => analytics.getTimeseries(database, id, all, period),
      plain: mails("kind", LOCAL_DAY),
    },
    {
      name: "timeseries of a campaign",
      ask: () => analytics.getTimeseries(database, id, ofCampaign, period),
      plain: sql`select ${LOCAL_DAY} as by, ${MAIL_SUMS} from mail_counts
        where ${within(from)} and dimension = ${DIMENSION_NUMBERS.campaign} and value = (
          select id from count_values where project_id = ${id} and dimension = ${DIMENSION_NUMBERS.campaign} and value = ${campaignId}
        ) group by 1`,
    },
    {
      name: "summary, with the period before",
      ask: () => analytics.getSummary(database, id, all, period),
      plain: mails("kind", isNow, twice),
    },
    ...(["kind", "provider", "campaign", "workflow"] as const).map(breakdown),
    {
      name: "top campaigns",
      ask: () => analytics.listTopCampaigns(database, id, {}, period),
      plain: mailsByValue("campaign"),
    },
    {
      name: "campaign stats",
      ask: () => analytics.getCampaignTotals(database, id, period),
      plain: mailsByValue("campaign"),
    },
    {
      name: "top events, with the period before",
      ask: () => analytics.listTopEvents(database, id, undefined, period),
      plain: sql`select name, sum(count) filter (where ${isNow}), sum(count) filter (where not ${isNow})
        from event_counts where ${within(twice)} group by 1 order by 2 desc limit 10`,
    },
    {
      name: "audience",
      ask: () => analytics.getAudience(database, id, period),
      plain: sql`select ${LOCAL_DAY} as by, name, detail, sum(count) from event_counts
        where ${within(from)} and name in ('contact.subscribed', 'contact.unsubscribed') group by 1, 2, 3`,
    },
    {
      name: "weekdays and hours",
      ask: () => analytics.getHours(database, id, all, period),
      plain: mails("kind", sql`date_trunc('hour', quarter at time zone ${sql.lit(ZONE)})`),
    },
    {
      name: "activity stats",
      ask: () => analytics.getActivityStats(database, id, period),
      plain: sql`select m.*, (select sum(count) from (${events(sql`name`)}) e) from (${mails("kind", isNow, twice)}) m`,
    },
  ];
}

/** The questions about the feed; they read no counts. */
async function feedQuestions(database: Database, project: ReportProject): Promise<Question[]> {
  const { id, campaignId, contactId } = project;
  const page = (asked: Parameters<typeof listActivity>[2], cursor?: string) =>
    listActivity(database, id, asked, readPage("activity", { limit: 50, cursor }));
  const month = new Date(Date.now() - 30 * 86_400_000);
  const deep = (await page({ until: month })).cursor ?? undefined;
  const asks: ReadonlyArray<[string, () => Promise<unknown>]> = [
    ["feed: a page of all", () => page({})],
    ["feed: a page a month ago", () => page({}, deep)],
    ["feed: of a contact", () => page({ contactId })],
    ["feed: of a campaign", () => page({ campaignId })],
    ["feed: clicks", () => page({ types: ["email.clicked"] })],
    ["feed: sent mails", () => page({ types: ["email.sent"] })],
    ["feed: of an event name", () => page({ eventName: "purchase" })],
    ["feed: of an event name that never came", () => page({ eventName: "none" })],
    ["how much happened lately", () => countRecentActivity(database, id)],
    ["what comes next", () => listUpcoming(database, id)],
  ];
  return asks.map(([name, ask]) => ({ name, ask, plain: null }));
}

async function timeOf(work: () => Promise<unknown>): Promise<number> {
  const startedMs = performance.now();
  await work();
  return performance.now() - startedMs;
}

/** Warm; ours and the plain SQL take turns. */
async function measure(database: Database, { name, ask, plain }: Question): Promise<string[]> {
  const [ours, theirs]: [number[], number[]] = [[], []];
  for (let at = 0; at < WARM_UP + REPEATS; at++) {
    const took = await timeOf(ask);
    const plainTook = plain === null ? 0 : await timeOf(() => plain.execute(database));
    if (at < WARM_UP) continue;
    ours.push(took);
    theirs.push(plainTook);
  }
  const [middle, most] = [percentile(ours, 0.5), percentile(ours, 0.95)];
  const plainMiddle = percentile(theirs, 0.5);
  return [
    name,
    oneDecimal(middle),
    oneDecimal(most),
    plain === null ? "–" : oneDecimal(plainMiddle),
    plain === null ? "–" : (middle / plainMiddle).toFixed(2),
    most <= BAR_MS ? "yes" : "no",
  ];
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
      "bytes of counts a mail",
      "of events, a row",
      "µs to count one of either",
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

/** The ground, made and counted now or in an earlier run. */
async function prepareGround(
  database: Database,
  ground: Awaited<ReturnType<typeof startGround>>,
  size: ReportSize,
) {
  const known = await ground.read(size);
  if (known?.countedMs != null) {
    // The news of the run before.
    await unlimited(database, countAll);
    return { ...known, countedMs: known.countedMs };
  }
  if (known === null) await ground.write({ size });
  const project = known?.project ?? (await unlimited(database, (one) => makeReportGround(one, size)));
  await ground.write({ size, project, countedMs: null });
  progress("counting");
  const countedMs = await unlimited(database, countAll);
  await unlimited(database, async (one) => {
    await sql`vacuum (analyze) mail_counts, event_counts`.execute(one);
    await sql`checkpoint`.execute(one);
  });
  const made = { size, project, countedMs };
  await ground.write(made);
  return made;
}

export async function benchReports(): Promise<void> {
  const { values, positionals } = parseArgs({
    args: process.argv.slice(3),
    options: { ground: { type: "string" } },
    allowPositionals: true,
  });
  const [events = 0, mails = 0, neighbours = 0] = readNumbers(DEFAULT_SIZES, positionals);
  const ground = await startGround(values.ground ?? null);
  const log = createLog({ level: "silent" });
  const pool = createPool({ connection: ground.connection, maxConnections: 4, log });
  const database = createDatabase(pool);
  try {
    const { project, countedMs } = await prepareGround(database, ground, { mails, events, neighbours });
    await printCosts(database, countedMs);
    await addNews(database, project.id, NEWS);
    const head = ["p50 ms", "p95 ms", "plain SQL ms", "ratio", `≤ ${BAR_MS} ms`];
    for (const days of [30, DAYS_OF_GROUND]) {
      const rows: string[][] = [];
      for (const question of analyticsQuestions(database, project, days))
        rows.push(await measure(database, question));
      print("");
      printTable([`${days} days in ${ZONE}`, ...head], rows);
    }
    const rows: string[][] = [];
    for (const question of await feedQuestions(database, project))
      rows.push(await measure(database, question));
    print("");
    printTable(["activity", ...head], rows);
  } finally {
    await database.destroy();
    await ground.stop();
  }
}
