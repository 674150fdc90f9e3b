// Cancels a waiting statement in tests, as the database does when it is stopped or a timeout expires.
import { expect } from "vitest";
import type { TestServer } from "./test-server.ts";

/** Runs `work` while a table is locked and cancels its first statement that waits for the lock. @returns the error of `work` */
export async function cancelWaitingAt(
  server: TestServer,
  table: string,
  work: () => Promise<unknown>,
): Promise<unknown> {
  const holder = await server.pool.connect();
  try {
    await holder.query("begin");
    await holder.query(`lock table ${table} in access exclusive mode`);
    const thrown = work().then(
      () => null,
      (error: unknown) => error,
    );
    await expect
      .poll(() =>
        server.rows(
          "select pg_cancel_backend(pid) from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'",
        ),
      )
      .toHaveLength(1);
    return await thrown;
  } finally {
    await holder.query("rollback");
    holder.release();
  }
}
