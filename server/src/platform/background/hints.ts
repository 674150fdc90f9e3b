// Notifies other processes of new work with LISTEN and NOTIFY of PostgreSQL, so that their loops run immediately instead of at their next
// poll. Correctness does not depend on hints. Without the connection, or behind a pooler that lacks support, polls find the work.
import { Client, type Pool } from "pg";
import { startLoop, type Loop } from "./background.ts";
import type { Database } from "../database/database.ts";
import type { Log } from "../log.ts";
import type { Metrics } from "../metrics.ts";
import type { Topic } from "../notify.ts";

export interface Hints {
  /** Connects. Notifications from before are not passed on. */
  start(): void;
  stop(): Promise<void>;
}

const CHANNEL = "postloft_work";
/** The minimum time between two hints of one kind to other processes, so that a busy installation does not pay for one per email. */
const PAUSE_MS = 10;
/** The same if this process does the work itself, because others only help in that case. */
const PAUSE_OF_WORKER_MS = 1_000;
/** How often the connection is checked, so that one that died silently is reopened, and how long a response may take. */
const CHECK_MS = 30_000;
const PATIENCE_MS = 5_000;

/**
 * Passes on what is notified at `database`, and delivers what other processes notify to its subscribers.
 *
 * @param options.pool its settings are used for one further connection
 */
// oxlint-disable-next-line max-lines-per-function -- the inner functions share its state
export function createHints(options: { database: Database; pool: Pool; log: Log; metrics: Metrics }): Hints {
  const { pool, log, metrics } = options;
  const { hub } = options.database.effects;
  const pending = new Map<Topic, NodeJS.Timeout>();
  const notifiedAtMs = new Map<Topic, number>();
  let client: Client | null = null;
  let loop: Loop | null = null;
  let lastStatement: Promise<unknown> = Promise.resolve();

  /** Runs a statement after the previous one, because a connection takes one at a time. */
  function query(on: Client, text: string, values: readonly string[] = []): Promise<unknown> {
    const result = lastStatement.then(() => on.query(text, [...values]));
    lastStatement = result.catch(() => undefined);
    return result;
  }

  async function connect(): Promise<void> {
    // The password is a hidden property of the pool's options, so copying them loses it.
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
      // A topic of a newer version has no subscribers here.
      if (processId !== processIdOf(made)) hub.deliver(payload as Topic);
    });
    try {
      await made.connect();
      if (hub.topics().length > 0) await made.query(`listen ${CHANNEL}`);
    } catch (error) {
      await made.end().catch(() => undefined);
      throw error;
    }
    client = made;
    // Notifications from before the connection are lost, so every loop checks once.
    for (const topic of hub.topics()) hub.deliver(topic);
  }

  /** Connects, or checks whether the connection still responds. */
  async function check(): Promise<void> {
    if (client === null) return connect();
    const checked = client;
    await query(checked, "select 1").catch((error: unknown) => {
      if (client === checked) client = null;
      breakOff(checked);
      throw error;
    });
  }

  function notifyOthers(topic: Topic): void {
    pending.delete(topic);
    notifiedAtMs.set(topic, performance.now());
    if (client === null) return;
    query(client, "select pg_notify($1, $2)", [CHANNEL, topic]).catch((error: unknown) => {
      log.debug({ err: error, work: topic }, "failed to notify other processes of work, they poll");
    });
  }

  /** Returns immediately; of several notifications within the pause one is sent, after it. */
  function passOn(topic: Topic): void {
    if (pending.has(topic) || client === null) return;
    const pauseMs = hub.topics().includes(topic) ? PAUSE_OF_WORKER_MS : PAUSE_MS;
    const waitMs = Math.max(0, (notifiedAtMs.get(topic) ?? -pauseMs) + pauseMs - performance.now());
    pending.set(
      topic,
      setTimeout(() => notifyOthers(topic), waitMs),
    );
  }

  return {
    start() {
      hub.relayTo(passOn);
      loop = startLoop({ name: "hints", runOnce: check, everyMs: CHECK_MS, log, metrics });
    },
    async stop() {
      hub.relayTo(null);
      for (const timer of pending.values()) clearTimeout(timer);
      await loop?.stop();
      const last = client;
      client = null;
      await last?.end().catch(() => undefined);
    },
  };
}

/** Returns the id of the connection's server process, which identifies our own hints. */
function processIdOf(client: Client): number {
  return (client as unknown as { processID: number }).processID;
}

function breakOff(client: Client): void {
  client.connection.stream.destroy();
}
