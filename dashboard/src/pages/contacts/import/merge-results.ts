// Adds up the results of an import that was sent in several parts. Pure.
import { LIMITS } from "@postloft/contract/limits/limits.ts";
import type { ImportWarning } from "@postloft/contract/contact-file/warnings.ts";
import type { ImportResult } from "@postloft/contract/contact-import.ts";

const COUNTS = [
  "totalRows",
  "successCount",
  "createdCount",
  "updatedCount",
  "failureCount",
  "subscribedCount",
  "unsubscribedCount",
  "suppressedCount",
  "skippedCount",
  "keptUnsubscribedCount",
  "segmentAddedCount",
  "noteCount",
] as const satisfies ReadonlyArray<keyof ImportResult>;

/** A warning of several parts becomes one, with the sum of what it counts. */
function mergeWarnings(warnings: readonly ImportWarning[]): ImportWarning[] {
  const merged = new Map<string, ImportWarning>();
  for (const warning of warnings) {
    const key = `${warning.code} ${warning.column ?? ""} ${warning.position ?? ""}`;
    const before = merged.get(key);
    const [one, other] = [before?.values["count"], warning.values["count"]];
    const isCounted = before !== undefined && typeof one === "number" && typeof other === "number";
    const values = isCounted ? { ...before.values, count: one + other } : warning.values;
    merged.set(key, { ...(before ?? warning), values });
  }
  return [...merged.values()];
}

/** Returns one result for all parts, in their order. */
export function mergeResults(results: readonly [ImportResult, ...ImportResult[]]): ImportResult {
  const [first] = results;
  if (results.length === 1) return first;
  const counts = COUNTS.map(
    (name) => [name, results.reduce((sum, result) => sum + (result[name] ?? 0), 0)] as const,
  );
  return {
    ...first,
    ...Object.fromEntries(counts),
    errors: results.flatMap(({ errors }) => errors).slice(0, LIMITS.importErrors.value),
    ignoredColumns: [...new Set(results.flatMap(({ ignoredColumns }) => ignoredColumns))],
    warnings: mergeWarnings(results.flatMap(({ warnings = [] }) => warnings)),
    notes: results.flatMap(({ notes = [] }) => notes).slice(0, LIMITS.importNotes.value),
  };
}
