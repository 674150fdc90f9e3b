// Finds scoped keys by hash and records their last use after the response, batched and at most once a minute per key.
import { createGroupCommit } from "../../platform/background/group-commit.ts";
import type { Database } from "../../platform/database/database.ts";
import { findScopedKeyRows, updateLastUsed, type FoundKeyRow } from "./queries.ts";

/** Prefix of every scoped key, so that other keys skip this lookup. */
export const SCOPED_PREFIX = "sk_scoped_";

const MAX_NOTES = 500;

/** Returns a function that finds the keys of these hashes. It runs no query without hashes. */
export function createScopedKeyFinder(database: Database) {
  const noting = new Set<string>();
  const notes = createGroupCommit<FoundKeyRow, void>({
    shards: 1,
    shardOf: () => 0,
    maxItems: MAX_NOTES,
    async run(rows) {
      await updateLastUsed(database, rows);
      return rows.map(() => undefined);
    },
  });

  function recordUse(row: FoundKeyRow): void {
    if (row.isUseKnown || row.isExpired || noting.has(row.id)) return;
    noting.add(row.id);
    // A use lost in a database failure is recorded by the next use.
    void notes
      .submit(row)
      .catch(() => undefined)
      .finally(() => noting.delete(row.id));
  }

  return async (hashes: readonly Buffer[]): Promise<FoundKeyRow[]> => {
    if (hashes.length === 0) return [];
    const rows = await findScopedKeyRows(database, hashes);
    for (const row of rows) recordUse(row);
    return rows;
  };
}
