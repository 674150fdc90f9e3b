// Picks the types of rows from the migrated database, so that a statement declares no column a second time.
import type { Selectable } from "kysely";
import type { Rows } from "./rows.ts";

/** A row of a table as statements return it, with only the named columns. */
export type Row<Table extends keyof Rows, Column extends keyof Selectable<Rows[Table]>> = Pick<
  Selectable<Rows[Table]>,
  Column
>;
