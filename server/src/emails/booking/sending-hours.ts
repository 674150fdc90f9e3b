// How much mail of each project left in each hour and what of it came back: exact counters, kept in the transaction that books it.
import type { Database, Tx } from "../../platform/database.ts";
import {
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

/** One mail that counts. */
export interface ToCount {
  projectId: string;
  /** When the mail left; null: this is happening in the present transaction. */
  at: Date | null;
  what: Counted;
}

const HOUR_MS = 3_600_000;

/**
 * Adds mails to the hours of their projects. It belongs at the end of a transaction: the row of the running hour is one
 * for all mails of a project, and whoever holds it lets the others wait.
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
 * The counts of projects in three windows; `from` (per project) leaves out everything before it. Windows end now by the
 * clock of the database and hold every hour that they touch.
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

/** Projects that send, of whose mail at least so much has come back. */
export async function readSendingProjects(
  database: Database,
  enough: { bounces: number; complaints: number },
): Promise<SendingProject[]> {
  return listSendingProjects(database, enough);
}

/** Hours whose counters say something else than the mails themselves: none, ever. Reads every mail: for tests and audits. */
export async function findMiscounts(database: Database): Promise<Miscount[]> {
  return listMiscounts(database);
}
