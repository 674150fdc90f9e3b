// Counts sent, rejected, bounced and complained emails per project and hour. The counters are exact because they change in the transaction
// that records each email.
import type { Database, Tx } from "../../platform/database/database.ts";
import {
  averageSendingHour,
  listMiscounts,
  listSendingProjects,
  sumSendingHours,
  upsertSendingHours,
  type Miscount,
  type SendingHourRow,
  type SendingProject,
} from "./sending-queries.ts";

export type { SendingProject } from "./sending-queries.ts";

export type Counted = "sent" | "refused" | "bounced" | "complained";

/** One email to count. */
export interface ToCount {
  projectId: string;
  /** When the email was sent, or null if the current transaction sends it. */
  at: Date | null;
  what: Counted;
}

const HOUR_MS = 3_600_000;

/**
 * Adds emails to the hourly counters of their projects. Call it at the end of a transaction, because all emails of a project share the row
 * of the current hour, which stays locked until the commit.
 */
export async function countMails(tx: Tx, mails: readonly ToCount[]): Promise<void> {
  if (mails.length === 0) return;
  const hours = new Map<string, SendingHourRow>();
  for (const { projectId, at, what } of mails) {
    const hour = at === null ? null : new Date(Math.floor(at.getTime() / HOUR_MS) * HOUR_MS);
    const key = `${projectId} ${hour?.getTime() ?? "now"}`;
    const row = hours.get(key) ?? { projectId, at: hour, sent: 0, refused: 0, bounced: 0, complained: 0 };
    row[what]++;
    hours.set(key, row);
  }
  await upsertSendingHours(tx, [...hours.values()]);
}

/** Returns how many emails a project sent per hour on average of the last 30 days. */
export async function readHourlyAverage(database: Database, projectId: string): Promise<number> {
  return averageSendingHour(database, projectId);
}

export interface SendingTotals {
  projectId: string;
  twentyFourHour: SendingCounts;
  sevenDay: SendingCounts;
  allTime: SendingCounts;
}

export interface SendingCounts {
  total: number;
  bounces: number;
  complaints: number;
}

/**
 * Returns the counts of projects in three windows, each only since the project's `from`. Windows end at the database's current time and
 * include every hour they touch.
 */
export async function readSendingTotals(
  database: Database,
  projects: ReadonlyArray<{ projectId: string; from: Date | null }>,
): Promise<SendingTotals[]> {
  const rows = await sumSendingHours(database, projects);
  const byProject = new Map(rows.map((row) => [row.projectId, row]));
  return projects.map(({ projectId }) => {
    const row = byProject.get(projectId);
    const counts = (window: "Day" | "Week" | "All"): SendingCounts => ({
      total: row?.[`total${window}`] ?? 0,
      bounces: row?.[`bounces${window}`] ?? 0,
      complaints: row?.[`complaints${window}`] ?? 0,
    });
    return {
      projectId,
      twentyFourHour: counts("Day"),
      sevenDay: counts("Week"),
      allTime: counts("All"),
    };
  });
}

/** Returns projects that are sending and have had at least `enough` bounces or complaints. */
export async function readSendingProjects(
  database: Database,
  enough: { bounces: number; complaints: number },
): Promise<SendingProject[]> {
  return listSendingProjects(database, enough);
}

/**
 * Returns hours with counters that differ from the emails, which should never happen. Reads every email, so use it in tests and audits
 * only.
 */
export async function findMiscounts(database: Database): Promise<Miscount[]> {
  return listMiscounts(database);
}
