// Emails a summary of the previous week on Mondays to the members who chose it.
import { startLoop, type Loop } from "../platform/background/background.ts";
import { now } from "../platform/clock.ts";
import { transaction, type Database } from "../platform/database/database.ts";
import type { Log } from "../platform/log.ts";
import type { Metrics } from "../platform/metrics.ts";
import type { WeekCounts } from "../projects/members/notification-facts.ts";
import { nameForStrangers } from "../emails/platform-email/name-for-strangers.ts";
import { notificationMail, type MailInLanguage } from "../projects/members/notification-mails.ts";
import { listDueForKind, takeDue, notifyMembers } from "../projects/members/notifications.ts";
import { getSummary, readMailFilter } from "./analytics.ts";
import { readPeriod } from "./period.ts";

const POLL_MS = 600_000;
const AT_ONCE = 50;
const DAY_MS = 86_400_000;
/** UTC, which is early morning in Europe and the evening before in America. */
const HOUR = 6;
const KIND = "weekly-summary";

/** Returns the last Monday at that hour. */
export function lastMonday(at: Date): Date {
  const monday = new Date(Date.UTC(at.getUTCFullYear(), at.getUTCMonth(), at.getUTCDate(), HOUR));
  monday.setUTCDate(monday.getUTCDate() - ((monday.getUTCDay() + 6) % 7));
  return monday > at ? new Date(monday.getTime() - 7 * DAY_MS) : monday;
}

type Counts = Awaited<ReturnType<typeof getSummary>>["current"];

/** Returns the notification email. Pure. */
function summaryMail(
  { id, name }: { id: string; name: string },
  { current, previous }: { current: Counts; previous: Counts },
  baseUrl: string,
): MailInLanguage {
  const facts = { project: nameForStrangers(name), current: weekOf(current), previous: weekOf(previous) };
  return notificationMail((texts) => texts.week(facts), `${baseUrl}/app/${id}/reports?days=7`);
}

function weekOf({ startDate = "", endDate = "", ...counts }: Counts): WeekCounts {
  return { ...counts, startDate, endDate };
}

/** Returns the same numbers for webhooks. */
function factsOf({ current }: { current: Counts }) {
  const { startDate, endDate, emails, opens, clicks, bounces, complaints } = current;
  return {
    startDate: startDate ?? null,
    endDate: endDate ?? null,
    emails,
    opens,
    clicks,
    bounces,
    complaints,
  };
}

/** Emails due summaries. Returns the number of projects. */
export async function notifySummaries(
  { database, baseUrl }: { database: Database; baseUrl: () => string },
  at = now(),
): Promise<number> {
  const since = lastMonday(at);
  const projects = await listDueForKind(database, KIND, since, AT_ONCE);
  for (const project of projects) {
    const end = new Date(Math.floor(since.getTime() / DAY_MS) * DAY_MS - DAY_MS);
    const days = { startDate: dayOf(new Date(end.getTime() - 6 * DAY_MS)), endDate: dayOf(end) };
    const filter = await readMailFilter(database, project.id, {});
    const summary = await getSummary(database, project.id, filter, readPeriod(days, at));
    await transaction(database, async (tx) => {
      const due = await takeDue(tx, { projectIds: [project.id], kind: KIND, since });
      if (due.has(project.id))
        await notifyMembers(
          tx,
          { projectId: project.id, kind: KIND, facts: factsOf(summary) },
          summaryMail(project, summary, baseUrl()),
        );
    });
  }
  return projects.length;
}

const dayOf = (at: Date) => at.toISOString().slice(0, 10);

export function startWeeklySummaries(options: {
  database: Database;
  baseUrl: () => string;
  log: Log;
  metrics: Metrics;
}): Loop {
  const { log, metrics } = options;
  return startLoop({
    name: "weekly summaries",
    runOnce: async () => ((await notifySummaries(options)) === AT_ONCE ? 0 : POLL_MS),
    everyMs: POLL_MS,
    log,
    metrics,
  });
}
