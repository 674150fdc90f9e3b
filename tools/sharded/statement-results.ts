// The results of statements that a test run on a cluster writes.
import path from "node:path";

/** One per checkout; emptied at the start of a run. */
export const RESULTS_FOLDER = path.join(import.meta.dirname, "../../node_modules/.sharded");

export interface StatementResult {
  text: string;
  /** Why the cluster refused the statement, or null if it ran. */
  reason: string | null;
}

/** The codes of the errors with which Citus refuses a statement, whatever its values are. */
export const REJECTIONS: ReadonlySet<string> = new Set(["0A000", "42P18", "XX000"]);
