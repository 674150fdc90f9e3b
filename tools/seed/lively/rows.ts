// Collects the rows of a history in memory and inserts them, a table at a time.
import { sql } from "kysely";
import type { Tx } from "../../../server/src/platform/database/database.ts";

/** A row by the names of its columns in the database. */
type Row = Readonly<Record<string, unknown>>;

/** In the order of their foreign keys. */
const TABLES = [
  "contact_fields",
  "contacts",
  "consent_changes",
  "content_links",
  "emails",
  "events",
  "suppressions",
  "link_clicks",
  "tracking_counts",
  "received_emails",
  "workflow_executions",
  "workflow_step_counts",
  "event_log",
  "event_deliveries",
  "api_requests",
] as const;
export type Table = (typeof TABLES)[number];

const ROWS_AT_ONCE = 1_000;

export interface Rows {
  /** Adds a row. All rows of a table have the same columns. */
  add(table: Table, row: Row): void;
  /** Inserts all rows. */
  insert(tx: Tx): Promise<void>;
}

export function createRows(projectId: string): Rows {
  const byTable = new Map<Table, Row[]>(TABLES.map((table) => [table, []]));
  return {
    add: (table, row) => void byTable.get(table)?.push({ project_id: projectId, ...row }),
    async insert(tx) {
      for (const [table, rows] of byTable)
        for (let first = 0; first < rows.length; first += ROWS_AT_ONCE)
          await insertSome(tx, table, rows.slice(first, first + ROWS_AT_ONCE));
    },
  };
}

async function insertSome(tx: Tx, table: Table, rows: readonly Row[]): Promise<void> {
  const columns = sql.join(Object.keys(rows[0] ?? {}).map((name) => sql.ref(name)));
  await sql`
    insert into ${sql.table(table)} (${columns})
    select ${columns} from jsonb_populate_recordset(null::${sql.table(table)}, ${JSON.stringify(rows)}::jsonb)`.execute(
    tx,
  );
}

/** Returns a time as the database reads it. */
export const instant = (ms: number) => new Date(ms).toISOString();
