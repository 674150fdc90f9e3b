// Locks a row in tests while requests wait for it, and changes it before they continue.
import type pg from "pg";
import { expect } from "vitest";

/** Locks the row found by `select`, starts the requests, and makes the change once all of them wait for a lock. Returns the responses. */
export async function holdRow<Reply>(
  pool: pg.Pool,
  [select, id]: readonly [select: string, id: string],
  ask: () => Array<Promise<Reply>>,
  change: (client: pg.PoolClient) => Promise<unknown>,
): Promise<Reply[]> {
  const client = await pool.connect();
  try {
    await client.query("begin");
    await client.query(`${select} for update`, [id]);
    const asked = ask();
    const countWaiting = async () => {
      const { rows } = await pool.query(
        "select 1 from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'",
      );
      return rows.length;
    };
    await expect.poll(countWaiting, { timeout: 30_000 }).toBe(asked.length);
    await change(client);
    await client.query("commit");
    return await Promise.all(asked);
  } finally {
    client.release(true);
  }
}
