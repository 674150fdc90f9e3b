// HTTP routes of statistics over a period.
import * as contract from "@postloft/contract/analytics.ts";
import { LIMITS } from "@postloft/contract/limits/limits.ts";
import type { Dimension } from "@postloft/contract/report-queries.ts";
import { now } from "../platform/clock.ts";
import type { Database } from "../platform/database/database.ts";
import { ok, route, type HttpResponse, type Route } from "../platform/http/route.ts";
import { writeRow } from "../contacts/cell-text.ts";
import {
  getActivityStats,
  getAudience,
  getBreakdown,
  getCampaignTotals,
  getHours,
  getSummary,
  getTimeseries,
  listTopCampaigns,
  listTopEvents,
  emptyRowOf,
  readMailFilter,
  type AskedMails,
} from "./analytics.ts";
import { readPeriod } from "./period.ts";

type PeriodQuery = Parameters<typeof readPeriod>[0];
type ReportName = (typeof contract.REPORTS)[number];
interface ReportQuery extends PeriodQuery, AskedMails {
  dimension?: Dimension | undefined;
  metric?: (typeof contract.CAMPAIGN_METRICS)[number] | undefined;
  limit?: number | undefined;
}
type Row = Readonly<Record<string, unknown>>;

const MOST = LIMITS.pageSizeMaximum.value;

/** The reports by the names under which they can be exported. */
const REPORTS = {
  async timeseries(database, projectId, query) {
    const period = readPeriod(query, now());
    return getTimeseries(database, projectId, await readMailFilter(database, projectId, query), period);
  },
  async summary(database, projectId, query) {
    const { current, previous } = await readSummary(database, projectId, query);
    return [
      { period: "current", ...current },
      { period: "previous", ...previous },
    ];
  },
  breakdown: (database, projectId, query) =>
    getBreakdown(database, projectId, query.dimension ?? "kind", readPeriod(query, now())),
  "top-campaigns": (database, projectId, query) =>
    listTopCampaigns(database, projectId, { ...query, limit: query.limit ?? MOST }, readPeriod(query, now())),
  "campaign-stats": async (database, projectId, query) => [
    await getCampaignTotals(database, projectId, readPeriod(query, now())),
  ],
  "top-events": (database, projectId, query) =>
    listTopEvents(database, projectId, query.limit ?? MOST, readPeriod(query, now())),
  audience: (database, projectId, query) => getAudience(database, projectId, readPeriod(query, now())),
  async hours(database, projectId, query) {
    const period = readPeriod(query, now());
    return getHours(database, projectId, await readMailFilter(database, projectId, query), period);
  },
} as const satisfies Readonly<
  Record<ReportName, (database: Database, projectId: string, query: ReportQuery) => Promise<readonly Row[]>>
>;

async function readSummary(database: Database, projectId: string, query: ReportQuery) {
  const period = readPeriod(query, now());
  return getSummary(database, projectId, await readMailFilter(database, projectId, query), period);
}

/** The columns of reports that may have no row to derive them from. */
const COLUMNS: Partial<Record<ReportName, readonly string[]>> = {
  breakdown: Object.keys(emptyRowOf("")),
  "top-campaigns": Object.keys(contract.listTopCampaigns.responses[200].element.shape),
  "top-events": Object.keys(contract.listTopEvents.responses[200].element.shape),
};

export function analyticsRoutes({ database }: { database: Database }): Route[] {
  return [
    route(contract.getTimeseries, async ({ projectId, query }) =>
      ok(await REPORTS.timeseries(database, projectId, query)),
    ),
    route(contract.getSummary, async ({ projectId, query }) =>
      ok(await readSummary(database, projectId, query)),
    ),
    route(contract.getBreakdown, async ({ projectId, query }) =>
      ok(await REPORTS.breakdown(database, projectId, query)),
    ),
    route(contract.listTopCampaigns, async ({ projectId, query }) =>
      ok(await listTopCampaigns(database, projectId, query, readPeriod(query, now()))),
    ),
    route(contract.getCampaignTotals, async ({ projectId, query }) =>
      ok(await getCampaignTotals(database, projectId, readPeriod(query, now()))),
    ),
    route(contract.listTopEvents, async ({ projectId, query }) =>
      ok(await listTopEvents(database, projectId, query.limit, readPeriod(query, now()))),
    ),
    route(contract.getAudience, async ({ projectId, query }) =>
      ok(await REPORTS.audience(database, projectId, query)),
    ),
    route(contract.getHours, async ({ projectId, query }) =>
      ok(await REPORTS.hours(database, projectId, query)),
    ),
    route(contract.exportReport, async ({ projectId, query }) =>
      csvOf(query.report, await REPORTS[query.report](database, projectId, query)),
    ),
    route(contract.getActivityStats, async ({ projectId, query }) =>
      ok(await getActivityStats(database, projectId, readPeriod(query, now()))),
    ),
  ];
}

/** Returns a report as CSV with a header row. */
function csvOf(report: ReportName, rows: readonly Row[]): HttpResponse<200, string> {
  const columns = COLUMNS[report] ?? Object.keys(rows[0] ?? {});
  const lines = rows.map((row) => writeRow(columns.map((column) => row[column])));
  return {
    ...ok([writeRow(columns), ...lines].join("")),
    headers: {
      "content-type": "text/csv; charset=utf-8; header=present",
      "content-disposition": `attachment; filename="${report}.csv"`,
    },
  };
}
