// What was sent in the week before, mailed on Mondays to the members who asked for it.
// Before it: worker.ts starts the loop. After it: analytics.ts counts; projects/members/notifications.ts mails.
import { startLoop, type Loop } from "../platform/background.ts";
import { now } from "../platform/clock.ts";
import { transaction, type Database } from "../platform/database.ts";
import type { Log } from "../platform/log.ts";
import type { Metrics } from "../platform/metrics.ts";
import { layOutSystemMail, type SystemMailText } from "../emails/system-mail-layout.ts";
import { listDueForKind, takeDue, tellMembers } from "../projects/members/notifications.ts";
import { getSummary, readMailFilter } from "./analytics.ts";
import { readPeriod } from "./period.ts";

const LOOK_EVERY_MS = 600_000;
const AT_ONCE = 50;
const DAY_MS = 86_400_000;
/** In UTC: early in Europe, the evening before in America. */
const HOUR = 6;
const KIND = "weekly-summary";

/** The last Monday at that hour. */
export function lastMonday(at: Date): Date {
  const monday = new Date(Date.UTC(at.getUTCFullYear(), at.getUTCMonth(), at.getUTCDate(), HOUR));
  monday.setUTCDate(monday.getUTCDate() - ((monday.getUTCDay() + 6) % 7));
  return monday > at ? new Date(monday.getTime() - 7 * DAY_MS) : monday;
}

type Counts = Awaited<ReturnType<typeof getSummary>>["current"];

const number = (count: number) => count.toLocaleString("en");

/** Pure. */
export function summaryMail(
  { id, name }: { id: string; name: string },
  { current, previous }: { current: Counts; previous: Counts },
  baseUrl: string,
): SystemMailText {
  return layOutSystemMail({
    subject: `${name}: ${number(current.emails)} mails last week`,
    blocks: [
      `From ${current.startDate} to ${current.endDate}, with the week before in brackets:`,
      {
        points: [
          `Sent: ${number(current.emails)} (${number(previous.emails)})`,
          `Opened by people: ${current.openRate} % (${previous.openRate} %)`,
          `Clicked: ${current.clickRate} % (${previous.clickRate} %)`,
          `Bounced: ${current.bounceRate} % (${previous.bounceRate} %)`,
          `Complaints: ${number(current.complaints)} (${number(previous.complaints)})`,
        ],
      },
    ],
    action: { label: "Open the reports", url: `${baseUrl}/app/${id}/reports?days=7` },
    footer:
      "You asked for this mail; in the settings of the project, under Notifications, you switch it off.",
  });
}

/** Mails what is due now. Returns how many projects it was. */
export async function tellSummaries(
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
        await tellMembers(
          tx,
          { projectId: project.id, kind: KIND },
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
  wakeSender: () => void;
  log: Log;
  metrics: Metrics;
}): Loop {
  const { wakeSender, log, metrics } = options;
  return startLoop({
    name: "weekly summaries",
    runOnce: async () => {
      const told = await tellSummaries(options);
      if (told > 0) wakeSender();
      return told === AT_ONCE ? 0 : LOOK_EVERY_MS;
    },
    everyMs: LOOK_EVERY_MS,
    log,
    metrics,
  });
}
