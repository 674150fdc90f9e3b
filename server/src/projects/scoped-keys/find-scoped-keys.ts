// Scoped keys by what a caller shows, and when they were used last: noted at most once a minute, many at once, behind the answer.
import { createGroupCommit } from "../../platform/background/group-commit.ts";
import type { Database } from "../../platform/database/database.ts";
import { findScopedKeyRows, updateLastUsed, type FoundKeyRow } from "./queries.ts";

/** With which each begins, so that other keys are not looked for among them. */
export const SCOPED_PREFIX = "sk_scoped_";

const MAX_NOTES = 500;

/** Finds those of the hashes that are keys; none of them costs nothing. */
export function createScopedKeyFinder(database: Database) {
  const noting = new Set<string>();
  const notes = createGroupCommit<FoundKeyRow, void>({
    lanes: 1,
    laneOf: () => 0,
    maxItems: MAX_NOTES,
    async run(rows) {
      await updateLastUsed(database, rows);
      return rows.map(() => undefined);
    },
  });

  function noteUse(row: FoundKeyRow): void {
    if (row.isUseKnown || row.isExpired || noting.has(row.id)) return;
    noting.add(row.id);
    // What is lost with the database is noted at the next use.
    void notes
      .submit(row)
      .catch(() => undefined)
      .finally(() => noting.delete(row.id));
  }

  return async (hashes: readonly Buffer[]): Promise<FoundKeyRow[]> => {
    if (hashes.length === 0) return [];
    const rows = await findScopedKeyRows(database, hashes);
    for (const row of rows) noteUse(row);
    return rows;
  };
}
