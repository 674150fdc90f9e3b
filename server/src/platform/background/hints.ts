// Hints from process to process that there is work (PostgreSQL's LISTEN and NOTIFY): a loop of another process runs at once and not at its
// next poll. Nothing rests on them: without the connection, or behind a pooler that does not support them, polls find the work.
import { Client, type Pool } from "pg";
import { startLoop, type Loop } from "./background.ts";
import type { Log } from "../log.ts";
import type { Metrics } from "../metrics.ts";

export interface Hints<Work extends string> {
  /** Work of this sort was committed: wakes who does it here, and tells the other processes. Returns at once. */
  tell(work: Work): void;
  /** Calls `wake` when there may be work of this sort, here or told by another process. */
  hear(work: Work, wake: () => void): void;
  /** Connects; what was told before is not passed on. */
  start(): void;
  stop(): Promise<void>;
}

const CHANNEL = "postloft_work";
/** Between two hints of one sort to other processes: a busy installation does not pay one for each mail. */
const PAUSE_MS = 10;
/** The same where this process does such work itself: others only help then. */
const PAUSE_OF_WORKER_MS = 1_000;
/** How often the connection is tried, so that one that died silently is made anew; and how long an answer may take. */
const CHECK_MS = 30_000;
const PATIENCE_MS = 5_000;

/** `pool`: its settings are those of the one connection that this takes beside it. */
export function createHints<Work extends string>(options: {
  pool: Pool;
  log: Log;
  metrics: Metrics;
}): Hints<Work> {
  const { pool, log, metrics } = options;
  const hearers = new Map<string, Array<() => void>>();
  const untold = new Map<string, NodeJS.Timeout>();
  const toldAtMs = new Map<string, number>();
  let client: Client | null = null;
  let loop: Loop | null = null;

  const wake = (work: string) => hearers.get(work)?.forEach((hearer) => hearer());

  async function connect(): Promise<void> {
    // The pool hides its password from whoever copies its options.
    const { password } = pool.options;
    const made = new Client({
      ...pool.options,
      ...(password !== undefined && { password }),
      query_timeout: PATIENCE_MS,
      application_name: "postloft hints",
    });
    const lose = () => {
      if (client !== made) return;
      client = null;
      loop?.wake();
    };
    made.on("error", lose).on("end", lose);
    made.on("notification", ({ payload = "", processId }) => {
      if (processId !== processIdOf(made)) wake(payload);
    });
    try {
      await made.connect();
      if (hearers.size > 0) await made.query(`listen ${CHANNEL}`);
    } catch (error) {
      await made.end().catch(() => undefined);
      throw error;
    }
    client = made;
    // Whatever was told while nobody listened.
    for (const work of hearers.keys()) wake(work);
  }

  /** Connects, or tries whether the connection still answers. */
  async function check(): Promise<void> {
    if (client === null) return connect();
    const checked = client;
    await checked.query("select 1").catch((error: unknown) => {
      if (client === checked) client = null;
      breakOff(checked);
      throw error;
    });
  }

  function tellOthers(work: string): void {
    untold.delete(work);
    toldAtMs.set(work, performance.now());
    client?.query("select pg_notify($1, $2)", [CHANNEL, work]).catch((error: unknown) => {
      log.debug({ err: error, work }, "other processes could not be told of work; they poll");
    });
  }

  return {
    tell(work) {
      wake(work);
      if (untold.has(work) || client === null) return;
      const pauseMs = hearers.has(work) ? PAUSE_OF_WORKER_MS : PAUSE_MS;
      const waitMs = Math.max(0, (toldAtMs.get(work) ?? -pauseMs) + pauseMs - performance.now());
      untold.set(
        work,
        setTimeout(() => tellOthers(work), waitMs),
      );
    },
    hear(work, hearer) {
      hearers.set(work, [...(hearers.get(work) ?? []), hearer]);
    },
    start() {
      loop = startLoop({ name: "hints", runOnce: check, everyMs: CHECK_MS, log, metrics });
    },
    async stop() {
      for (const timer of untold.values()) clearTimeout(timer);
      await loop?.stop();
      const last = client;
      client = null;
      await last?.end().catch(() => undefined);
    },
  };
}

/** The number of its server process, by which it knows its own hints. */
function processIdOf(client: Client): number {
  return (client as unknown as { processID: number }).processID;
}

function breakOff(client: Client): void {
  client.connection.stream.destroy();
}
