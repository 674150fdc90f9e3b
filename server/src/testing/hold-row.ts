// For tests: a row that is held while requests run into it, and what they find is changed meanwhile.
import type pg from "pg";
import { expect } from "vitest";

/** Locks the row that `select` finds, asks, and makes the change once all wait for a lock. Returns what they were answered. */
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
    await expect.poll(countWaiting).toBe(asked.length);
    await change(client);
    await client.query("commit");
    return await Promise.all(asked);
  } finally {
    client.release(true);
  }
}
