// Notifies members when a cap is near and when it is reached, each once a month.
import { CAP_CATEGORIES, type CapCategory } from "@postloft/contract/limits/billing.ts";
import { startLoop, type Loop } from "../platform/background/background.ts";
import { now } from "../platform/clock.ts";
import { transaction, type Database } from "../platform/database/database.ts";
import type { Log } from "../platform/log.ts";
import type { Metrics } from "../platform/metrics.ts";
import { nameForStrangers } from "../emails/platform-email/name-for-strangers.ts";
import { notificationMail, type MailInLanguage } from "../projects/members/notification-mails.ts";
import { takeDue, notifyMembers } from "../projects/members/notifications.ts";
import { listCappedProjects } from "./caps-queries.ts";
import { monthOf, readCaps } from "./caps.ts";

const CHECK_EVERY_MS = 300_000;
const AT_ONCE = 100;
const KIND = "cap-near";

/** Appended to `KIND` in the record of notifications about a reached cap. */
const REACHED = "reached";

type Caps = Awaited<ReturnType<typeof readCaps>>;

/** Returns the notification about reached caps, or else about near ones. Null if there are none. Pure. */
function capMail(
  { id, name }: { id: string; name: string },
  caps: Caps,
  baseUrl: string,
): { mail: MailInLanguage; categories: CapCategory[]; isReached: boolean } | null {
  const reached = CAP_CATEGORIES.filter((category) => caps[category].isBlocked);
  const isReached = reached.length > 0;
  const categories = isReached ? reached : CAP_CATEGORIES.filter((category) => caps[category].isWarning);
  if (categories.length === 0) return null;
  const reported = categories.map((category) => {
    const { usage, limit, percentage } = caps[category];
    return { category, usage, limit: limit ?? 0, percentage: percentage ?? 0 };
  });
  const project = nameForStrangers(name);
  const mail = notificationMail(
    (texts) => texts[isReached ? "capsReached" : "capsNear"]({ project, caps: reported }),
    `${baseUrl}/app/${id}/settings?tab=usage`,
  );
  return { mail, categories, isReached };
}

interface NotifyOptions {
  database: Database;
  baseUrl: () => string;
}

/** Notifies the members of capped projects that were not notified this month of a reached cap. Returns the number of queued emails. */
export async function notifyCaps({ database, baseUrl }: NotifyOptions): Promise<number> {
  const since = monthOf(now()).start;
  let reported = 0;
  for (let after: string | null = null; ;) {
    const projects: Array<{ id: string; name: string }> = await listCappedProjects(database, {
      after,
      untold: { kind: `${KIND} ${REACHED}`, since },
      limit: AT_ONCE,
    });
    for (const project of projects) {
      const caps = await readCaps(database, project.id);
      const found = capMail(project, caps, baseUrl());
      if (found === null) continue;
      const { mail, categories, isReached } = found;
      reported += await transaction(database, async (tx) => {
        const one = { projectIds: [project.id], kind: KIND, since } as const;
        // Also recorded for a reached cap, after which a near cap is no longer news.
        const isNear = (await takeDue(tx, one)).has(project.id);
        const isDue = isReached ? (await takeDue(tx, { ...one, of: REACHED })).has(project.id) : isNear;
        if (!isDue) return 0;
        const facts = { categories, reached: isReached ? "yes" : "no" };
        return notifyMembers(tx, { projectId: project.id, kind: KIND, facts }, mail);
      });
    }
    after = projects.at(-1)?.id ?? null;
    if (projects.length < AT_ONCE) return reported;
  }
}

export function startNotifyingCaps(options: NotifyOptions & { log: Log; metrics: Metrics }): Loop {
  const { log, metrics } = options;
  return startLoop({
    name: "caps",
    runOnce: async () => void (await notifyCaps(options)),
    everyMs: CHECK_EVERY_MS,
    log,
    metrics,
  });
}
