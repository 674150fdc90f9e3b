// What a test run writes down of the statements it ran.
import path from "node:path";

/** One for each checkout; emptied when a run begins. */
export const RECORD_FOLDER = path.join(import.meta.dirname, "../../node_modules/.statements");

/** A statement that ran. One place may run several, put together from parts. */
export interface RunStatement {
  /** `server/src/x/queries.ts:12:5`: the call that ran it. */
  at: string;
  /** Name and type (OID) of each. */
  columns: Array<[string, number]>;
  /** Those that were null in one of its rows. */
  nulls: string[];
}
