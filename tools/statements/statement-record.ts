// The record of statements that a test run writes.
import path from "node:path";

/** One per checkout; emptied at the start of a run. */
export const RECORD_FOLDER = path.join(import.meta.dirname, "../../node_modules/.statements");

/** An executed statement. One call may run several statements that are assembled from parts. */
export interface RunStatement {
  /** The place of the call, such as `server/src/x/queries.ts:12:5`. */
  at: string;
  /** Name and type (OID) of each column. */
  columns: Array<[string, number]>;
  /** Columns that were null in at least one row. */
  nulls: string[];
}
