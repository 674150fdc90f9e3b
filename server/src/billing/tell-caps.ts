// Tells members that a cap of their project is near, once a month: before mail is refused for it.
// Before it: worker.ts starts the loop. After it: caps.ts counts; projects/members/notifications.ts mails.
import { CAP_CATEGORIES } from "@postloft/contract/billing-limits.ts";
import { startLoop, type Loop } from "../platform/background.ts";
import { now } from "../platform/clock.ts";
import { transaction, type Database } from "../platform/database.ts";
import type { Log } from "../platform/log.ts";
import type { Metrics } from "../platform/metrics.ts";
import { layOutSystemMail, type SystemMailText } from "../emails/system-mail-layout.ts";
import { takeDue, tellMembers } from "../projects/members/notifications.ts";
import { listCappedProjects } from "./caps-queries.ts";
import { monthOf, NAME_OF, readCaps } from "./caps.ts";

const LOOK_EVERY_MS = 300_000;
const AT_ONCE = 100;
const KIND = "cap-near";

type Caps = Awaited<ReturnType<typeof readCaps>>;

/** Pure. Null where no cap is near. */
export function capMail(
  { id, name }: { id: string; name: string },
  caps: Caps,
  baseUrl: string,
): SystemMailText | null {
  const near = CAP_CATEGORIES.filter((category) => caps[category].isWarning);
  if (near.length === 0) return null;
  return layOutSystemMail({
    subject: `${name}: a cap of this month is nearly reached`,
    blocks: [
      "Over a cap mail is refused until the next month begins, or the cap is raised:",
      {
        points: near.map((category) => {
          const { usage, limit, percentage } = caps[category];
          return `${usage.toLocaleString("en")} of ${(limit ?? 0).toLocaleString("en")} ${NAME_OF[category]} (${percentage} %)`;
        }),
      },
    ],
    action: { label: "Look at the caps", url: `${baseUrl}/app/${id}/settings?tab=usage` },
    footer: "Told once a month; in the settings of the project, under Notifications, you switch it off.",
  });
}

interface TellOptions {
  database: Database;
  baseUrl: () => string;
}

/** Goes through all projects with a cap that were not told this month. Returns how many mails it queued. */
export async function tellCaps({ database, baseUrl }: TellOptions): Promise<number> {
  const since = monthOf(now()).start;
  let told = 0;
  for (let after: string | null = null; ;) {
    const projects: Array<{ id: string; name: string }> = await listCappedProjects(database, {
      after,
      untold: { kind: KIND, since },
      limit: AT_ONCE,
    });
    for (const project of projects) {
      const mail = capMail(project, await readCaps(database, project.id), baseUrl());
      if (mail === null) continue;
      told += await transaction(database, async (tx) => {
        const due = await takeDue(tx, { projectIds: [project.id], kind: KIND, since });
        return due.has(project.id) ? tellMembers(tx, { projectId: project.id, kind: KIND }, mail) : 0;
      });
    }
    after = projects.at(-1)?.id ?? null;
    if (projects.length < AT_ONCE) return told;
  }
}

export function startTellingCaps(
  options: TellOptions & { wakeSender: () => void; log: Log; metrics: Metrics },
): Loop {
  const { wakeSender, log, metrics } = options;
  return startLoop({
    name: "caps",
    runOnce: async () => {
      if ((await tellCaps(options)) > 0) wakeSender();
    },
    everyMs: LOOK_EVERY_MS,
    log,
    metrics,
  });
}
