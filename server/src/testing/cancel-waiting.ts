// For tests: a statement that the database ends in the middle, as it does when it is stopped or short of time.
import { expect } from "vitest";
import type { TestServer } from "./test-server.ts";

/** Does `work` while a table is locked and has the first of its statements cancelled that waits for it. @returns what `work` threw */
export async function cancelledAt(
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
