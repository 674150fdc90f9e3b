// Recognizes databases and backups from before release 0.1.0 (docs/decisions/0119-one-initial-migration.md).

/** The 100 migrations that `0001_initial.sql` replaced. Together they created the same tables. */
const REPLACED =
  "1-40 47-51 54-59 62 70 76-77 80-81 84-90 93-99 101-106 110-121 124 127 129-131 133-134 137 143 145 147";

export const REPLACED_VERSIONS: readonly number[] = REPLACED.split(" ").flatMap((range) => {
  const [first = 0, last = first] = range.split("-").map(Number);
  return Array.from({ length: last - first + 1 }, (_, place) => first + place);
});

/** The last replaced migration, which is also the number in a backup of the same tables. */
export const LAST_REPLACED: number = Math.max(...REPLACED_VERSIONS);

/** Returns whether exactly the replaced migrations were applied, so that the database has the tables of `0001_initial.sql`. */
export function areAllReplaced(versions: readonly number[]): boolean {
  const sorted = versions.toSorted((one, other) => one - other);
  return (
    sorted.length === REPLACED_VERSIONS.length &&
    sorted.every((version, at) => version === REPLACED_VERSIONS[at])
  );
}
