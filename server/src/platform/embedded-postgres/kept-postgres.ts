// Keeps the embedded PostgreSQL running. If it ends unexpectedly (killed, out of memory), restarts it and redirects the pool.
import type pg from "pg";
import { startEmbeddedPostgres, type EmbeddedPostgres } from "./embedded-postgres.ts";

export interface KeptPostgres {
  connection: EmbeddedPostgres["connection"];
  /** Connects new connections of the pool to the current server from now on. */
  follow(pool: pg.Pool): void;
  stop(): Promise<void>;
}

const PAUSE_MS = 2_000;

/**
 * Starts PostgreSQL and keeps it running. @throws like `startEmbeddedPostgres` if the first start fails; later starts are retried every two
 * seconds
 */
export async function keepEmbeddedPostgres(options: {
  dataDir: string;
  log: (message: string) => void;
}): Promise<KeptPostgres> {
  let current = await startEmbeddedPostgres(options);
  let followed: pg.Pool | null = null;
  let stopping = false;
  const stopped = Promise.withResolvers<null>();

  async function keep(): Promise<void> {
    for (;;) {
      const reason = await Promise.race([current.exited, stopped.promise]);
      if (reason === null) return;
      options.log(`PostgreSQL ended unexpectedly (${reason}). Restarting it.`);
      await current.stop();
      await startAgain();
    }
  }

  async function startAgain(): Promise<void> {
    while (!stopping) {
      try {
        current = await startEmbeddedPostgres(options);
        if (followed !== null) followed.options.port = current.connection.port;
        options.log("PostgreSQL is running again.");
        return;
      } catch (error) {
        options.log(
          `PostgreSQL could not be started: ${error instanceof Error ? error.message : String(error)}`,
        );
        await Promise.race([new Promise((resolve) => setTimeout(resolve, PAUSE_MS)), stopped.promise]);
      }
    }
  }

  const keeping = keep();
  return {
    connection: current.connection,
    follow(pool) {
      followed = pool;
    },
    async stop() {
      stopping = true;
      stopped.resolve(null);
      await keeping;
      await current.stop();
    },
  };
}
