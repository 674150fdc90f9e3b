// Queues opens and clicks, records them in batches, and retries while the database is unavailable. Requests don't wait for it.
import { retryUntilDone } from "../../platform/background/background.ts";
import { asUnavailable, transaction, type Database } from "../../platform/database/database.ts";
import { createGroupCommit } from "../../platform/background/group-commit.ts";
import type { Log } from "../../platform/log.ts";
import { AppError } from "../../platform/app-error.ts";
import { recordActivities, type Activity } from "./record-activity.ts";
import { createClickHold, type HeldClick } from "./hold-clicks.ts";

/** An activity before the other clicks of its email are known. */
type Noted = Omit<Activity, "otherLinkMs" | "isLast">;

export interface ActivityQueue {
  /** Queues an activity and returns immediately. */
  note(activity: Noted): void;
  /** Resolves when all queued activities are recorded, or dropped because the database is unavailable. */
  close(): Promise<void>;
}

const MAX_BATCH = 500;
/** Limit for queued activities while the database is unavailable. Others are dropped. */
const WAITING_MAX = 50_000;
/** How long an activity is retried while the database is unavailable. */
const KEPT_MS = 10 * 60_000;
/** Tries for other errors, such as a conflict or a bug. */
const OTHER_TRIES_MAX = 3;

type Click = HeldClick & { activity: Noted };

// oxlint-disable-next-line max-lines-per-function -- the inner functions share its state
export function createActivityQueue({ database, log }: { database: Database; log: Log }): ActivityQueue {
  const commits = createGroupCommit<Activity, boolean>({
    // One batch at a time, because concurrent batches would wait for each other's counters.
    shards: 1,
    shardOf: () => 0,
    maxItems: MAX_BATCH,
    async run(activities) {
      const early = await transaction(database, (tx) => recordActivities(tx, activities));
      return activities.map((activity) => early.has(activity));
    },
  });
  const clicks = createClickHold<Click>((click, otherLinkMs, isLast) => {
    void book({ ...click.activity, otherLinkMs, isLast: isLast || closing.signal.aborted }, click);
  });
  let waiting = 0;
  let lost = 0;
  const closing = new AbortController();
  let isClosed: (() => void) | null = null;

  async function book(activity: Activity, click?: Click): Promise<void> {
    if (waiting >= WAITING_MAX) return lose(new Error("Too many wait for the database."));
    waiting += 1;
    try {
      const isEarly = await recordPatiently(activity);
      if (isEarly && closing.signal.aborted) await recordPatiently({ ...activity, isLast: true });
      else if (isEarly && click !== undefined) clicks.holdOn(click);
    } catch (error) {
      lose(error);
    } finally {
      waiting -= 1;
      if (waiting === 0) settle();
    }
  }

  /** Logs only the first loss and the total, so that an outage does not fill the log. */
  function lose(error: unknown): void {
    lost += 1;
    if (lost === 1) log.warn({ err: error }, "failed to record an open or click");
  }

  function settle(): void {
    if (lost > 1) log.warn({ lost }, "failed to record opens and clicks");
    lost = 0;
    isClosed?.();
  }

  async function recordPatiently(activity: Activity): Promise<boolean> {
    return retryUntilDone(() => commits.submit(activity), {
      forMs: KEPT_MS,
      mayRepeat: (error, tries) => asUnavailable(error) instanceof AppError || tries < OTHER_TRIES_MAX,
      signal: closing.signal,
    });
  }

  return {
    note(activity) {
      const { projectId, emailId, number, link, at } = activity;
      if (activity.kind === "open")
        void book({ ...activity, otherLinkMs: Number.POSITIVE_INFINITY, isLast: true });
      else
        clicks.add({
          mail: `${projectId} ${emailId}`,
          link: `${number} ${link}`,
          atMs: at.getTime(),
          activity,
        });
    },
    async close() {
      closing.abort();
      clicks.flush();
      if (waiting > 0) await new Promise<void>((resolve) => (isClosed = resolve));
    },
  };
}
