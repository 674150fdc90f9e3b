// Streams the activity of projects as server-sent events (HTML Standard §9.2), with one reader per followed project.
// The reader reads the last seconds again each time, because a row can be committed after a younger one.
import { Readable } from "node:stream";
import { LIMITS } from "@postloft/contract/limits/limits.ts";
import { nowMs } from "../platform/clock.ts";
import type { Database } from "../platform/database/database.ts";
import { firstIdAt, idTimeMs, NO_ID } from "../platform/ids.ts";
import type { Log } from "../platform/log.ts";
import { Refusal } from "../platform/refusal.ts";
import { getOwnerId } from "../projects/projects.ts";
import { listActivity, type ActivityView } from "./activity.ts";
import { createStreamAccess } from "./stream-access.ts";
import type { StreamCaller } from "./stream-access-queries.ts";

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
   * Returns a stream that ends after LIMITS.liveStreamSeconds, or within a second after its caller lost access. It is returned after
   * the first read, so a list that is read from then on leaves no gap.
   *
   * @param after the highest id that a previous connection sent; activities up to LATE_MS older are sent again, because some may have been committed since
   * @throws Refusal RATE_LIMIT_EXCEEDED
   */
  follow(caller: StreamCaller, after: string | null): Promise<Readable>;
  /** Ends all of them. */
  close(): void;
}

interface Follower {
  stream: Readable;
  /** What it was told last over its connection before, until it was told what came since; null: what happens from now on. */
  after: string | null;
  /** The highest id it was told: what it names when it connects again. */
  last: string;
  endsAt: number;
  /** Ends it: nothing may be pushed after its end. */
  end: () => void;
  /** Ends what was begun for it: its place, and the watch over its access. */
  leave: () => void;
}

/** Activities of one project, and the connections that follow them. */
interface Tail {
  followers: Set<Follower>;
  /** The first reading, which later ones are compared with, is over. */
  ready: Promise<void>;
  /** What was told, with the time it may be forgotten; null until it was read once. */
  told: Map<string, number> | null;
  timer: NodeJS.Timeout | undefined;
}

const keyOf = ({ id, type }: ActivityView) => `${type} ${id}`;
const MORE = "event: more\ndata: {}\n\n";

export function createLiveActivity({ database, log }: { database: Database; log: Log }): LiveActivity {
  const tails = new Map<string, Tail>();
  const access = createStreamAccess({ database, log });
  /** Connections by person. */
  const counts = new Map<string, number>();
  let followed = 0;

  function count(personId: string, change: 1 | -1): void {
    followed += change;
    const all = (counts.get(personId) ?? 0) + change;
    if (all === 0) counts.delete(personId);
    else counts.set(personId, all);
  }

  /** @throws Refusal RATE_LIMIT_EXCEEDED */
  function requireRoom(tail: Tail, personId: string): void {
    const isFull = tail.followers.size >= LIMITS.liveStreams.value;
    const isPersonFull = (counts.get(personId) ?? 0) >= LIMITS.liveStreamsOfPerson.value;
    if (!isFull && !isPersonFull && followed < LIMITS.liveStreamsInAll.value) return;
    const whose = isFull ? "this project" : isPersonFull ? "projects of this person" : "projects here";
    throw new Refusal("RATE_LIMIT_EXCEEDED", {
      message: `Too many connections follow ${whose} already.`,
      retryAfterSeconds: LIMITS.liveStreamSeconds.value,
    });
  }

  function drop(projectId: string, tail: Tail, follower: Follower): void {
    if (!tail.followers.delete(follower)) return;
    follower.leave();
    if (tail.followers.size > 0) return;
    clearTimeout(tail.timer);
    tails.delete(projectId);
  }

  async function read(projectId: string, tail: Tail): Promise<void> {
    try {
      const isAgain = [...tail.followers].some(({ after }) => after !== null);
      const atMs = nowMs();
      const sinceMs = atMs - LATE_MS * (isAgain ? 2 : 1);
      const limit = LIMITS.liveActivities.value;
      const asked = { since: new Date(sinceMs) };
      const page = await listActivity(database, projectId, asked, { limit, before: null });
      tell(tail, { atMs, sinceMs, found: page.data.toReversed(), hasMore: page.hasMore });
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
    async follow(caller, after) {
      const { projectId } = caller;
      // The connections of a key count for the owner of its project, who can have keys of many projects.
      const personId = caller.userId ?? (await getOwnerId(database, projectId));
      const tail = tails.get(projectId) ?? {
        followers: new Set(),
        ready: Promise.resolve(),
        told: null,
        timer: undefined,
      };
      requireRoom(tail, personId);
      const stream = new Readable({ read: () => undefined });
      const follower: Follower = {
        stream,
        after,
        last: after ?? NO_ID,
        endsAt: nowMs() + LIMITS.liveStreamSeconds.value * 1000,
        end() {
          drop(projectId, tail, follower);
          stream.push(null);
        },
        leave() {
          endWatch();
          count(personId, -1);
        },
      };
      const endWatch = access.watch(caller, follower.end);
      count(personId, 1);
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
  /** When it began. */
  atMs: number;
  /** From where on it was read. */
  sinceMs: number;
  /** Oldest first. */
  found: readonly ActivityView[];
  hasMore: boolean;
}

/** Passes on what is new among the last seconds, and to those who were here before what they may have missed. */
function tell(tail: Tail, { atMs, sinceMs, found, hasMore }: Reading): void {
  const isFirst = tail.told === null;
  const told = tail.told ?? new Map<string, number>();
  tail.told = told;
  const at = nowMs();
  // Of what is older nobody knows any more whether it was told.
  const young = firstIdAt(atMs - LATE_MS);
  const fresh = found.filter((one) => one.id >= young && !told.has(keyOf(one)));
  for (const one of fresh) told.set(keyOf(one), Math.max(idTimeMs(one.id), at) + LATE_MS);
  for (const [key, until] of told) if (until < at) told.delete(key);
  for (const follower of tail.followers) {
    const { stream, after } = follower;
    if (stream.readableLength > MAX_BUFFERED_BYTES) {
      stream.destroy();
      continue;
    }
    const isTooOld = after !== null && idTimeMs(after) < at - LATE_MS;
    const fromMs = after === null ? at : Math.min(idTimeMs(after), at) - LATE_MS;
    // It came while a reading was under way that goes back less far: the next one is for it.
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

/** Its own id stands in the activity: that of the event never goes back to a row that was committed late. */
function written(follower: Follower, one: ActivityView): string {
  if (one.id > follower.last) follower.last = one.id;
  return `event: activity\nid: ${follower.last}\ndata: ${JSON.stringify(one)}\n\n`;
}
