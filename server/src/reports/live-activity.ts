// Streams the activity of projects as server-sent events (HTML Standard §9.2), with one reader per followed project.
// The reader reads the last seconds again each time, because a row can be committed after a younger one.
import { Readable } from "node:stream";
import { LIMITS } from "@postloft/contract/limits/limits.ts";
import { nowMs } from "../platform/clock.ts";
import type { Database } from "../platform/database/database.ts";
import { firstIdAt, idTimeMs, NO_ID } from "../platform/ids.ts";
import type { Log } from "../platform/log.ts";
import type { OpenConnections } from "../projects/connections/open-connections.ts";
import type { StreamCaller } from "../projects/connections/stream-caller.ts";
import { listActivity, type ActivityView } from "./activity.ts";

const READ_EVERY_MS = 1_000;
/** Rows committed later than this after their time are not streamed. */
const LATE_MS = 10_000;
/** Interval of comments that keep proxies from closing a silent connection. */
const COMMENT_EVERY_MS = 20_000;
/** A client that does not read is disconnected and reconnects. */
const MAX_BUFFERED_BYTES = 1_000_000;
const CLIENT_WAITS_MS = 2_000;

export interface LiveActivity {
  /**
   * Returns a stream that ends after LIMITS.liveStreamSeconds, or within a second after its caller lost access. The stream is returned
   * after the first poll, so a list that is read afterwards leaves no gap.
   *
   * @param after the highest id that a previous connection received. Activities up to LATE_MS older are sent again, because some may have
   * been committed since
   * @throws AppError RATE_LIMIT_EXCEEDED
   */
  follow(caller: StreamCaller, after: string | null): Promise<Readable>;
  close(): void;
}

interface Follower {
  stream: Readable;
  /** The last id of its previous connection until it has received what it missed. Null if only new activities are sent. */
  after: string | null;
  /** The highest id it received, which it sends when it reconnects. */
  last: string;
  endsAt: number;
  /** Ends the stream. Nothing may be pushed afterwards. */
  end: () => void;
  /** Releases its connection. */
  leave: () => void;
}

/** The activities of one project, and the connections that follow them. */
interface ProjectStream {
  followers: Set<Follower>;
  /** Resolves after the first poll, the baseline of later ones. */
  ready: Promise<void>;
  /** Sent activities with the time at which they can be forgotten. Null until the first poll. */
  told: Map<string, number> | null;
  timer: NodeJS.Timeout | undefined;
}

const keyOf = ({ id, type }: ActivityView) => `${type} ${id}`;
const MORE = "event: more\ndata: {}\n\n";

// oxlint-disable-next-line max-lines-per-function -- the inner functions share its state
export function createLiveActivity({
  database,
  log,
  connections,
}: {
  database: Database;
  log: Log;
  connections: OpenConnections;
}): LiveActivity {
  const tails = new Map<string, ProjectStream>();

  function drop(projectId: string, tail: ProjectStream, follower: Follower): void {
    if (!tail.followers.delete(follower)) return;
    follower.leave();
    if (tail.followers.size > 0) return;
    clearTimeout(tail.timer);
    tails.delete(projectId);
  }

  async function read(projectId: string, tail: ProjectStream): Promise<void> {
    try {
      const isAgain = [...tail.followers].some(({ after }) => after !== null);
      const atMs = nowMs();
      const sinceMs = atMs - LATE_MS * (isAgain ? 2 : 1);
      const limit = LIMITS.liveActivities.value;
      const asked = { since: new Date(sinceMs) };
      const page = await listActivity(database, projectId, asked, { limit, before: null });
      notify(tail, { atMs, sinceMs, found: page.data.toReversed(), hasMore: page.hasMore });
    } catch (error) {
      // Followers wait for the next poll, which usually covers the missed seconds.
      log.warn(
        { err: error, projectId },
        "failed to read the activity of a project for its streams, retrying",
      );
    }
    if (tails.get(projectId) === tail)
      tail.timer = setTimeout(() => void read(projectId, tail), READ_EVERY_MS);
  }

  return {
    async follow(caller, after) {
      const { projectId } = caller;
      const stream = new Readable({ read: () => undefined });
      const end = () => {
        const tail = tails.get(projectId);
        if (tail !== undefined) drop(projectId, tail, follower);
        stream.push(null);
      };
      const leave = await connections.open(caller, end);
      const follower: Follower = {
        stream,
        after,
        last: after ?? NO_ID,
        endsAt: nowMs() + LIMITS.liveStreamSeconds.value * 1000,
        end,
        leave,
      };
      const tail = tails.get(projectId) ?? {
        followers: new Set(),
        ready: Promise.resolve(),
        told: null,
        timer: undefined,
      };
      stream.on("close", () => drop(projectId, tail, follower));
      stream.push(`retry: ${CLIENT_WAITS_MS}\n\n`);
      tail.followers.add(follower);
      if (!tails.has(projectId)) {
        tails.set(projectId, tail);
        tail.ready = read(projectId, tail);
      }
      await tail.ready;
      return stream;
    },
    close() {
      for (const { followers } of tails.values()) for (const follower of followers) follower.end();
    },
  };
}

interface Reading {
  /** Start time. */
  atMs: number;
  /** Oldest time that was read. */
  sinceMs: number;
  /** Oldest first. */
  found: readonly ActivityView[];
  hasMore: boolean;
}

/** Sends new activities of the last seconds, and to reconnected followers what they may have missed. */
function notify(tail: ProjectStream, { atMs, sinceMs, found, hasMore }: Reading): void {
  const isFirst = tail.told === null;
  const reported = tail.told ?? new Map<string, number>();
  tail.told = reported;
  const at = nowMs();
  // For older activities it is unknown whether they were sent.
  const young = firstIdAt(atMs - LATE_MS);
  const fresh = found.filter((one) => one.id >= young && !reported.has(keyOf(one)));
  for (const one of fresh) reported.set(keyOf(one), Math.max(idTimeMs(one.id), at) + LATE_MS);
  for (const [key, until] of reported) if (until < at) reported.delete(key);
  for (const follower of tail.followers) {
    const { stream, after } = follower;
    if (stream.readableLength > MAX_BUFFERED_BYTES) {
      stream.destroy();
      continue;
    }
    const isTooOld = after !== null && idTimeMs(after) < at - LATE_MS;
    const fromMs = after === null ? at : Math.min(idTimeMs(after), at) - LATE_MS;
    // This follower connected during a poll that started too late for it. The next poll will serve it.
    if (fromMs < sinceMs && !isTooOld) continue;
    const missed = after === null ? null : found.filter(({ id }) => id >= firstIdAt(fromMs));
    const news = missed ?? (isFirst ? [] : fresh);
    const isCut = isTooOld || (hasMore && news.length === found.length && news.length > 0);
    const text = `${news.map((one) => written(follower, one)).join("")}${isCut ? MORE : ""}`;
    if (text !== "") stream.push(text);
    else if (at % COMMENT_EVERY_MS < READ_EVERY_MS) stream.push(":\n\n");
    follower.after = null;
    if (at > follower.endsAt) follower.end();
  }
}

/** Formats an activity with its own id in the data. The event id never goes back to a row that was committed late. */
function written(follower: Follower, one: ActivityView): string {
  if (one.id > follower.last) follower.last = one.id;
  return `event: activity\nid: ${follower.last}\ndata: ${JSON.stringify(one)}\n\n`;
}
