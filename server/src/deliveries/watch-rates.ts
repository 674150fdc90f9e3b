// Judges projects while their mail goes out: the mail that makes enough of them, so that a rate counts, need not be one that comes back.
import { startLoop, type Loop } from "../platform/background/background.ts";
import { transaction, type Database } from "../platform/database/database.ts";
import type { Log } from "../platform/log.ts";
import type { Metrics } from "../platform/metrics.ts";
import { LIMITS } from "@postloft/contract/limits/limits.ts";
import { readSendingProjects, type SendingProject } from "../emails/booking/sending-hours.ts";
import type { Guard } from "./reputation.ts";
import { DISABLING } from "./reputation-rules.ts";

export interface WatchOptions {
  database: Database;
  guard: Guard;
}

/** While mail goes out of which enough came back, and while none does. */
const BUSY_POLL_MS = 1_000;
const POLL_MS = 5_000;
/** Projects that are judged in one transaction. */
const JUDGED_AT_ONCE = 100;

/** What was seen of projects when they were judged last. */
export type Judged = Map<string, SendingProject>;

/**
 * Judges those of whose mail enough came back and whose counts have changed so that it matters. `judged` is kept from look to
 * look. Returns how many there are of whose mail enough came back.
 */
export async function judgeSending({ database, guard }: WatchOptions, judged: Judged): Promise<number> {
  const sending = await readSendingProjects(database, DISABLING);
  const due = sending.filter((now) => isDue(judged.get(now.projectId), now));
  for (let at = 0; at < due.length; at += JUDGED_AT_ONCE) {
    const some = due.slice(at, at + JUDGED_AT_ONCE);
    await transaction(database, (tx) =>
      guard(
        tx,
        some.map(({ projectId }) => projectId),
      ),
    );
    for (const one of some) judged.set(one.projectId, one);
  }
  const present = new Set(sending.map(({ projectId }) => projectId));
  for (const projectId of judged.keys()) if (!present.has(projectId)) judged.delete(projectId);
  return present.size;
}

/** With a hundred mails behind it a rate counts; more of them that leave well only lower it, until the hour and with it the windows move. */
function isDue(before: SendingProject | undefined, now: SendingProject): boolean {
  if (before === undefined || before.hour.getTime() !== now.hour.getTime()) return true;
  return before.mails < LIMITS.ratedMails.value && before.mails !== now.mails;
}

/** Looks every second while there is something to judge, until it is stopped; any number of processes may. */
export function startWatchingRates(options: WatchOptions & { log: Log; metrics: Metrics }): Loop {
  const { log, metrics } = options;
  const judged: Judged = new Map();
  return startLoop({
    name: "rates",
    runOnce: async () => ((await judgeSending(options, judged)) > 0 ? BUSY_POLL_MS : POLL_MS),
    everyMs: POLL_MS,
    log,
    metrics,
  });
}
