// Checks the rates of projects while they send, because an email that never bounces may be the one that makes a rate count.
import { startLoop, type Loop } from "../platform/background/background.ts";
import { transaction, type Database } from "../platform/database/database.ts";
import type { Log } from "../platform/log.ts";
import type { Metrics } from "../platform/metrics.ts";
import { LIMITS } from "@postloft/contract/limits/limits.ts";
import { readSendingProjects, type SendingProject } from "../emails/results/sending-hours.ts";
import type { Guard } from "./reputation.ts";
import { DISABLING } from "./reputation-rules.ts";

export interface WatchOptions {
  database: Database;
  guard: Guard;
}

/** Poll interval while a project that sends has enough bounces, and while none has. */
const BUSY_POLL_MS = 1_000;
const POLL_MS = 5_000;
/** Projects checked in one transaction. */
const CHECKED_PER_TRANSACTION = 100;

/** The counts of each project when it was last checked. */
export type CheckedProjects = Map<string, SendingProject>;

/**
 * Checks projects with enough bounces or complaints whose counts changed in a way that matters. `judged` carries state between polls.
 * Returns the number of projects with enough bounces or complaints.
 */
export async function checkSendingProjects(
  { database, guard }: WatchOptions,
  evaluated: CheckedProjects,
): Promise<number> {
  const sending = await readSendingProjects(database, DISABLING);
  const due = sending.filter((now) => isDue(evaluated.get(now.projectId), now));
  for (let at = 0; at < due.length; at += CHECKED_PER_TRANSACTION) {
    const some = due.slice(at, at + CHECKED_PER_TRANSACTION);
    await transaction(database, (tx) =>
      guard(
        tx,
        some.map(({ projectId }) => projectId),
      ),
    );
    for (const one of some) evaluated.set(one.projectId, one);
  }
  const present = new Set(sending.map(({ projectId }) => projectId));
  for (const projectId of evaluated.keys()) if (!present.has(projectId)) evaluated.delete(projectId);
  return present.size;
}

/** A rate counts from a hundred emails on. More emails only lower it until the hour changes, which moves the windows. */
function isDue(before: SendingProject | undefined, now: SendingProject): boolean {
  if (before === undefined || before.hour.getTime() !== now.hour.getTime()) return true;
  return before.mails < LIMITS.ratedMails.value && before.mails !== now.mails;
}

/** Polls every second while there are projects to check, until stopped. Any number of processes may run this. */
export function startWatchingRates(options: WatchOptions & { log: Log; metrics: Metrics }): Loop {
  const { log, metrics } = options;
  const evaluated: CheckedProjects = new Map();
  return startLoop({
    name: "rates",
    runOnce: async () => ((await checkSendingProjects(options, evaluated)) > 0 ? BUSY_POLL_MS : POLL_MS),
    everyMs: POLL_MS,
    log,
    metrics,
  });
}
