// Counts the SQL statements of a piece of work, without those of loops that run at the same time.
import { AsyncLocalStorage } from "node:async_hooks";
import { Client } from "pg";
import { vi } from "vitest";

/** Returns the result of the work and how many statements it sent, including those that begin and end its transactions. */
export async function countStatements<Result>(
  work: () => Promise<Result>,
): Promise<{ result: Result; statements: number }> {
  const own = new AsyncLocalStorage<true>();
  let statements = 0;
  const { query } = Client.prototype as unknown as { query: (...args: unknown[]) => Promise<unknown> };
  const spy = vi.spyOn(Client.prototype, "query").mockImplementation(function (this: Client, ...args) {
    if (own.getStore() === true) statements++;
    return query.apply(this, args);
  });
  try {
    const result = await own.run(true, work);
    return { result, statements };
  } finally {
    spy.mockRestore();
  }
}
