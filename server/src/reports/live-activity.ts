// Who follows the activity of a project as it happens (server-sent events, HTML Standard §9.2): one reader for each project that is
// followed, however many follow it. It reads the last seconds again and again and passes on what it has not seen: ids follow time,
// but a row can be committed after one that is younger.
// Before it: activity-routes.ts. After it: activity.ts reads.
import { Readable } from "node:stream";
import { LIMITS } from "@postloft/contract/limits.ts";
import { nowMs } from "../platform/clock.ts";
import type { Database } from "../platform/database.ts";
import { idTimeMs } from "../platform/ids.ts";
import type { Log } from "../platform/log.ts";
import { Refusal } from "../platform/refusal.ts";
import { listActivity, type ActivityView } from "./activity.ts";

const READ_EVERY_MS = 1_000;
/** What commits so long after its time is not told. */
const LATE_MS = 10_000;
/** Keeps proxies from taking silence for the end. */
const COMMENT_EVERY_MS = 20_000;
/** Of a client that does not read: it is let go, and asks again. */
const MAX_BUFFERED_BYTES = 1_000_000;
const CLIENT_WAITS_MS = 2_000;

export interface LiveActivity {
  /**
   * A stream that never ends by itself within LIMITS.liveStreamSeconds. `after`: the id told last over a connection before.
   * @throws Refusal RATE_LIMIT_EXCEEDED
   */
  follow(projectId: string, after: string | null): Readable;
  /** Ends all of them. */
  close(): void;
}

interface Follower {
  stream: Readable;
  /** What it has not got over its connection before; null: what happens from now on. */
  after: string | null;
  endsAt: number;
  /** Ends it: nothing may be pushed after its end. */
  end: () => void;
}

interface Tail {
  followers: Set<Follower>;
  /** What was told, with the time it may be forgotten; null until it was read once. */
  told: Map<string, number> | null;
  timer: NodeJS.Timeout | undefined;
}

const keyOf = ({ id, type }: ActivityView) => `${type} ${id}`;
const written = (one: ActivityView) => `event: activity\nid: ${one.id}\ndata: ${JSON.stringify(one)}\n\n`;
const MORE = "event: more\ndata: {}\n\n";

export function createLiveActivity({ database, log }: { database: Database; log: Log }): LiveActivity {
  const tails = new Map<string, Tail>();
  let followed = 0;

  function drop(projectId: string, tail: Tail, follower: Follower): void {
    if (!tail.followers.delete(follower)) return;
    followed--;
    if (tail.followers.size > 0) return;
    clearTimeout(tail.timer);
    tails.delete(projectId);
  }

  async function read(projectId: string, tail: Tail): Promise<void> {
    try {
      const since = new Date(nowMs() - LATE_MS);
      const limit = LIMITS.liveActivities.value;
      const page = await listActivity(database, projectId, { since }, { limit, before: null });
      tell(tail, page.data.toReversed(), page.hasMore);
    } catch (error) {
      // Those who follow wait for the next time; what was missed is within the seconds that are read again, mostly.
      log.warn(
        { err: error, projectId },
        "the activity of a project could not be read for those who follow it",
      );
    }
    if (tails.get(projectId) === tail)
      tail.timer = setTimeout(() => void read(projectId, tail), READ_EVERY_MS);
  }

  return {
    follow(projectId, after) {
      const tail = tails.get(projectId) ?? { followers: new Set(), told: null, timer: undefined };
      const isFull = tail.followers.size >= LIMITS.liveStreams.value;
      if (isFull || followed >= LIMITS.liveStreamsInAll.value)
        throw new Refusal("RATE_LIMIT_EXCEEDED", {
          message: `Too many connections follow ${isFull ? "this project" : "projects here"} already.`,
          retryAfterSeconds: LIMITS.liveStreamSeconds.value,
        });
      const stream = new Readable({ read: () => undefined });
      const follower: Follower = {
        stream,
        after,
        endsAt: nowMs() + LIMITS.liveStreamSeconds.value * 1000,
        end() {
          drop(projectId, tail, follower);
          stream.push(null);
        },
      };
      stream.on("close", () => drop(projectId, tail, follower));
      stream.push(`retry: ${CLIENT_WAITS_MS}\n\n`);
      tail.followers.add(follower);
      followed++;
      if (!tails.has(projectId)) {
        tails.set(projectId, tail);
        void read(projectId, tail);
      }
      return stream;
    },
    close() {
      for (const { followers } of tails.values()) for (const follower of followers) follower.end();
    },
  };
}

/** Passes on what is new among the last seconds, oldest first. */
function tell(tail: Tail, found: readonly ActivityView[], hasMore: boolean): void {
  const isFirst = tail.told === null;
  const told = tail.told ?? new Map<string, number>();
  tail.told = told;
  const fresh = found.filter((one) => !told.has(keyOf(one)));
  const at = nowMs();
  for (const one of fresh) told.set(keyOf(one), Math.max(idTimeMs(one.id), at) + LATE_MS);
  for (const [key, until] of told) if (until < at) told.delete(key);
  for (const follower of tail.followers) {
    const { stream, after } = follower;
    if (stream.readableLength > MAX_BUFFERED_BYTES) {
      stream.destroy();
      continue;
    }
    const sinceAfter = after === null ? null : found.filter(({ id }) => id > after);
    const news = sinceAfter ?? (isFirst ? [] : fresh);
    const isTooOld = after !== null && idTimeMs(after) < at - LATE_MS;
    const isCut = isTooOld || (hasMore && news.length === found.length && news.length > 0);
    const text = `${news.map(written).join("")}${isCut ? MORE : ""}`;
    if (text !== "") stream.push(text);
    else if (at % COMMENT_EVERY_MS < READ_EVERY_MS) stream.push(":\n\n");
    follower.after = null;
    if (at > follower.endsAt) follower.end();
  }
}
