// The activity feed of emails, contacts, campaigns and workflows, newest first (decisions §10).
import type * as contract from "@postloft/contract/activity.ts";
import { ACTIVITY_TYPES, type ActivityType } from "@postloft/contract/activity.ts";
import { LIMITS } from "@postloft/contract/limits/limits.ts";
import type { z } from "zod";
import { now } from "../platform/clock.ts";
import type { Database } from "../platform/database/database.ts";
import { idTimeMs } from "../platform/ids.ts";
import { cursorOf, fittingLimit, type Page, type PageRequest } from "../platform/http/page.ts";
import {
  boundSource,
  campaigns,
  countActivityRows,
  executions,
  listActivityRows,
  recordedEvents,
  sentMails,
  type ActivityFilter,
  type ActivityRow,
  type Source,
} from "./activity-queries.ts";
import { listUpcomingRows } from "./feed-queries.ts";
import { requireExisting } from "./refuse-missing.ts";

const LIST = "activity";
const AFTER_ALL_IDS = "ffffffff-ffff-ffff-ffff-ffffffffffff";

export interface ActivityQuery {
  types?: readonly ActivityType[] | undefined;
  contactId?: string | undefined;
  campaignId?: string | undefined;
  workflowId?: string | undefined;
  eventName?: string | undefined;
  since?: Date | undefined;
  until?: Date | undefined;
}

export type ActivityView = z.output<typeof contract.activity>;

/** Returns the lowest id (UUIDv7) at a time, or the lowest of all before 1970. */
function firstIdAt(at: Date): string {
  const hex = Math.max(at.getTime(), 0).toString(16).padStart(12, "0");
  return `${hex.slice(0, 8)}-${hex.slice(8)}-0000-0000-000000000000`;
}

const lesser = (one: string, other: string) => (one < other ? one : other);

function readFilter(asked: ActivityQuery, before: string | null): ActivityFilter {
  const { types = ACTIVITY_TYPES, contactId, campaignId, workflowId, eventName, since, until } = asked;
  const end = until === undefined ? AFTER_ALL_IDS : firstIdAt(until);
  return {
    types: new Set(types),
    contactId,
    campaignId,
    workflowId,
    eventName,
    since: firstIdAt(since ?? new Date(0)),
    before: before === null ? end : lesser(before, end),
  };
}

async function sourcesOf(database: Database, projectId: string, filter: ActivityFilter): Promise<Source[]> {
  const events = await recordedEvents(database, projectId, filter);
  const mails = sentMails(projectId, filter);
  return [
    ...(events === null ? [] : [events]),
    ...(mails === null ? [] : [mails]),
    ...campaigns(projectId, filter),
    ...executions(projectId, filter),
  ];
}

/**
 * Returns a page of the feed. It ends where one of its sources reached the scan limit of a page, so that the feed has no gap. The next page
 * continues there.
 * @throws AppError CONTACT_NOT_FOUND, CAMPAIGN_NOT_FOUND, WORKFLOW_NOT_FOUND for ids outside the project
 */
export async function listActivity(
  database: Database,
  projectId: string,
  asked: ActivityQuery,
  request: PageRequest,
): Promise<Page<ActivityView>> {
  await requireExisting(database, projectId, asked);
  const filter = readFilter(asked, request.before);
  const found = await sourcesOf(database, projectId, filter);
  const sources = await Promise.all(found.map((source) => boundSource(database, source, filter)));
  const rows = await listActivityRows(database, projectId, { sources, filter, limit: request.limit });
  const limit = fittingLimit(request.limit, rows);
  // Below the highest floor at least one source has not been read.
  const floor = sources.reduce<string>((highest, one) => greater(highest, one.floor ?? ""), "");
  const known = rows.filter(({ id }) => id >= floor);
  const shown = known.slice(0, limit);
  const isFull = known.length > limit;
  const last = isFull ? shown.at(-1)?.id : floor === "" ? undefined : floor;
  return {
    data: shown.map(present),
    cursor: last === undefined ? null : cursorOf(LIST, last),
    hasMore: last !== undefined,
  };
}

const greater = (one: string, other: string) => (one < other ? other : one);

function present(row: ActivityRow): ActivityView {
  return {
    id: row.id,
    type: row.type,
    timestamp: new Date(idTimeMs(row.id)).toISOString(),
    contactEmail: row.email,
    contactId: row.contactId,
    metadata: row.metadata,
  };
}

const DEFAULT_MINUTES = 5;

/** Counts the activities of the last minutes, per kind of row up to the scan limit of a page. */
export async function countRecentActivity(database: Database, projectId: string, minutes = DEFAULT_MINUTES) {
  const filter = readFilter({ since: new Date(now().getTime() - minutes * 60_000) }, null);
  const sources = await sourcesOf(database, projectId, filter);
  const most = LIMITS.activityScan.value;
  const counts = await countActivityRows(database, { sources, filter, most });
  const isMore = counts.some((count) => count > most);
  const count = counts.reduce((sum, one) => sum + Math.min(one, most), 0);
  return { count, minutes, isMore };
}

/** Returns scheduled campaigns and waiting executions, soonest first. */
export async function listUpcoming(database: Database, projectId: string) {
  const rows = await listUpcomingRows(database, projectId, LIMITS.upcomingActivities.value);
  return {
    activities: rows.map((row) => ({
      id: row.id,
      type: row.type,
      timestamp: row.at.toISOString(),
      contactEmail: row.email,
      contactId: row.contactId,
      metadata: row.metadata,
    })),
  };
}
