// Streams the numbered events of projects as server-sent events (HTML Standard §9.2), from a number on and without gaps.
import { Readable } from "node:stream";
import { LIMITS } from "@postloft/contract/limits/limits.ts";
import { nowMs } from "../platform/clock.ts";
import type { Database } from "../platform/database/database.ts";
import type { Log } from "../platform/log.ts";
import type { OpenConnections } from "../projects/connections/open-connections.ts";
import type { StreamCaller } from "../projects/connections/stream-caller.ts";
import { findLastNumbers } from "./log-queries.ts";
import { readStream } from "./numbered-log.ts";

const LOOK_EVERY_MS = 500;
/** Interval of comments that keep proxies from closing a silent connection. */
const COMMENT_EVERY_MS = 20_000;
const CLIENT_WAITS_MS = 2_000;

export interface LiveStream {
  /**
   * Returns a stream of the events above a number, or from now on without one. It ends after LIMITS.liveStreamSeconds, or within a second
   * after its caller lost access.
   * @throws AppError RATE_LIMIT_EXCEEDED, or VALIDATION_ERROR if the next event was deleted by age
   */
  follow(caller: StreamCaller, after: number | undefined): Promise<Readable>;
  close(): void;
}

interface Dependencies {
  database: Database;
  log: Log;
  connections: OpenConnections;
}

export function createLiveStream({ database, log, connections }: Dependencies): LiveStream {
  const numbers = createNumberWatch(database, log);
  const open = new Set<AbortController>();

  /** Reads only what the client takes, because the generator waits while the buffer of its stream is full. */
  async function* eventsOf(projectId: string, after: number, signal: AbortSignal) {
    const endsAt = nowMs() + LIMITS.liveStreamSeconds.value * 1_000;
    yield `retry: ${CLIENT_WAITS_MS}\n\n`;
    for (let last = after; !signal.aborted && nowMs() < endsAt;) {
      const { events, hasMore } = await readStream(database, projectId, { after: last });
      if (signal.aborted) return;
      last = events.at(-1)?.number ?? last;
      if (events.length > 0)
        yield events.map((event) => `id: ${event.number}\ndata: ${JSON.stringify(event)}\n\n`).join("");
      if (!hasMore && !(await numbers.waitAbove(projectId, last, signal))) yield ":\n\n";
    }
  }

  return {
    async follow(caller, after) {
      const { projectId } = caller;
      const { lastNumber } = await readStream(database, projectId, { after, limit: 1 });
      const ending = new AbortController();
      const release = await connections.open(caller, () => {
        ending.abort();
        // A client that doesn't read would otherwise keep the connection.
        if (stream.readableLength > 0) stream.destroy();
      });
      open.add(ending);
      const stream = streamOf(eventsOf(projectId, after ?? lastNumber, ending.signal), () => {
        ending.abort();
        open.delete(ending);
        release();
      });
      return stream;
    },
    close() {
      for (const ending of open) ending.abort();
    },
  };
}

/** Returns a stream that reads ahead only as far as its buffer, and calls `end` once, also if the client leaves during a wait. */
function streamOf(texts: AsyncGenerator<string>, end: () => void): Readable {
  return new Readable({
    read() {
      texts.next().then(
        ({ value, done }) => this.push(done === true ? null : value),
        (error: unknown) => this.destroy(error as Error),
      );
    },
    destroy(error, callback) {
      end();
      callback(error);
    },
  });
}

interface Waiting {
  projectId: string;
  last: number;
  until: number;
  wake: (isNew: boolean) => void;
}

/** Looks for new events of all waiting streams in one statement. Idle while there are none. */
function createNumberWatch(database: Database, log: Log) {
  const waiting = new Set<Waiting>();
  let isRunning = false;

  async function look(): Promise<void> {
    const asked = [...waiting];
    try {
      const numbers = await findLastNumbers(database, [...new Set(asked.map(({ projectId }) => projectId))]);
      for (const { projectId, last, wake } of asked) if ((numbers.get(projectId) ?? 0) > last) wake(true);
    } catch (error) {
      log.warn({ err: error }, "failed to look for new events of open streams, retrying");
    }
    for (const { until, wake } of asked) if (nowMs() > until) wake(false);
    if (waiting.size > 0) setTimeout(() => void look(), LOOK_EVERY_MS);
    else isRunning = false;
  }

  return {
    /** Returns true once the project has a number above `last`, and false after COMMENT_EVERY_MS or at the end. */
    async waitAbove(projectId: string, last: number, signal: AbortSignal): Promise<boolean> {
      const { promise, resolve } = Promise.withResolvers<boolean>();
      const one = { projectId, last, until: nowMs() + COMMENT_EVERY_MS, wake: resolve };
      const stop = () => resolve(false);
      signal.addEventListener("abort", stop);
      if (signal.aborted) stop();
      waiting.add(one);
      if (!isRunning) {
        isRunning = true;
        setTimeout(() => void look(), LOOK_EVERY_MS);
      }
      const isNew = await promise;
      waiting.delete(one);
      signal.removeEventListener("abort", stop);
      return isNew;
    },
  };
}
