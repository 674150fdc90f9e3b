// Queries of backup and restore on tables, foreign keys and rows.
import type pg from "pg";
import { SYSTEM_PROJECT_ID } from "../emails/rows/system-project.ts";
import { from, to, type CopyStreamQuery, type CopyToStreamQuery } from "pg-copy-streams";

export interface TableShape {
  name: string;
  columns: string[];
}

/** Lists the persistent tables with their stored columns, without partitions and the table of applied migrations. */
export async function listTables(client: pg.ClientBase): Promise<TableShape[]> {
  const { rows } = await client.query<TableShape>(`
    select c.relname as name, array_agg(a.attname::text order by a.attnum) as columns
    from pg_class c join pg_attribute a on a.attrelid = c.oid and a.attnum > 0 and not a.attisdropped and a.attgenerated = ''
    where c.relnamespace = 'public'::regnamespace and c.relkind in ('r', 'p') and not c.relispartition and c.relpersistence = 'p'
      and c.relname <> 'schema_migrations'
    group by c.relname order by c.relname`);
  return rows;
}

export async function listSequences(client: pg.ClientBase) {
  const { rows } = await client.query<{ table: string; column: string; sequence: string }>(`
    select c.relname as table, a.attname as column, pg_get_serial_sequence(quote_ident(c.relname), a.attname) as sequence
    from pg_class c join pg_attribute a on a.attrelid = c.oid and a.attidentity <> ''
    where c.relnamespace = 'public'::regnamespace and c.relkind = 'r' order by c.relname`);
  return rows;
}

/** Returns the next value of a sequence. Sequences are not part of the snapshot, so it may be ahead of the rows. */
export async function readSequence(client: pg.ClientBase, sequence: string): Promise<string> {
  const { rows } = await client.query<{ next: string }>(
    `select (case when is_called then last_value + 1 else last_value end)::text as next from ${sequence}`,
  );
  return rows[0]?.next ?? "1";
}

export async function setSequence(client: pg.ClientBase, sequence: string, next: string): Promise<void> {
  await client.query("select setval($1::regclass, $2::bigint, false)", [sequence, next]);
}

export async function readLastMigration(client: pg.ClientBase): Promise<number> {
  const { rows } = await client.query<{ version: number }>(
    "select coalesce(max(version), 0) as version from schema_migrations",
  );
  return rows[0]?.version ?? 0;
}

/** Returns whether the database has accounts or has had a running server. False if there are no tables yet. */
export async function isUsed(client: pg.ClientBase): Promise<boolean> {
  const { rows } = await client.query<{ there: boolean }>(
    "select to_regclass('public.users') is not null as there",
  );
  if (rows[0]?.there !== true) return false;
  const used = await client.query<{ used: boolean }>(
    `
    select exists (select 1 from users) or exists (select 1 from projects where id <> $1) or exists (select 1 from senders) as used`,
    [SYSTEM_PROJECT_ID],
  );
  return used.rows[0]?.used === true;
}

/** Begins a transaction with one snapshot of the whole database and without time limits. */
export async function beginReading(client: pg.ClientBase): Promise<void> {
  await client.query("begin isolation level repeatable read, read only");
  await liftLimits(client);
}

export async function beginLoading(client: pg.ClientBase): Promise<void> {
  await client.query("begin");
  await liftLimits(client);
}

async function liftLimits(client: pg.ClientBase): Promise<void> {
  await client.query(`
    select set_config(name, '0', true) from pg_settings
    where name in ('statement_timeout', 'transaction_timeout', 'idle_in_transaction_session_timeout')`);
}

export async function endReading(client: pg.ClientBase): Promise<void> {
  await client.query("commit");
}

const columnsOf = ({ columns }: TableShape) => columns.map((column) => `"${column}"`).join(", ");

/** Unsent emails of this server with a link that acts for its reader, such as one that sets a password. All such links end in 43 characters. */
const HAS_TOKEN = `project_id = '${SYSTEM_PROJECT_ID}' and status in ('QUEUED', 'CLAIMED')
  and variables->>'text' ~ '/[A-Za-z0-9_-]{43}(\\s|$)'`;

/** What such emails are in a backup: skipped without their content, so that the file opens no account. */
const WITHOUT_TOKEN: ReadonlyMap<string, string> = new Map([
  ["status", "'SKIPPED'"],
  ["variables", "null"],
  ["sender_id", "null"],
  ["reason", "'Left out of the backup, because its link acts for its reader.'"],
]);

/** Returns the columns of a table as a backup has them. */
function backedUpColumnsOf(table: TableShape): string {
  if (table.name !== "emails") return columnsOf(table);
  return table.columns
    .map((column) => {
      const instead = WITHOUT_TOKEN.get(column);
      return instead === undefined
        ? `"${column}"`
        : `case when ${HAS_TOKEN} then ${instead} else "${column}" end`;
    })
    .join(", ");
}

/** The rows of a table in PostgreSQL's own text form, without tokens of unsent emails. */
export function copyOut(client: pg.ClientBase, table: TableShape): CopyToStreamQuery {
  // A partitioned table can be copied by a query alone.
  return client.query(to(`copy (select ${backedUpColumnsOf(table)} from public."${table.name}") to stdout`));
}

export function copyIn(client: pg.ClientBase, table: TableShape): CopyStreamQuery {
  return client.query(from(`copy public."${table.name}" (${columnsOf(table)}) from stdin`));
}

/** Empties tables. Rows inserted by migrations come from the backup. */
export async function emptyTables(client: pg.ClientBase, tables: readonly TableShape[]): Promise<void> {
  await client.query(`truncate ${tables.map(({ name }) => `public."${name}"`).join(", ")}`);
}

interface Reference {
  table: string;
  name: string;
  definition: string;
}

/**
 * Drops all foreign keys, so that tables can be filled in any order.
 * @returns the keys, to be added again
 */
export async function dropReferences(client: pg.ClientBase): Promise<Reference[]> {
  const { rows } = await client.query<Reference>(`
    select conrelid::regclass::text as table, conname as name, pg_get_constraintdef(oid) as definition
    from pg_constraint where contype = 'f' and conparentid = 0 and connamespace = 'public'::regnamespace order by 1, 2`);
  for (const { table, name } of rows) await client.query(`alter table ${table} drop constraint "${name}"`);
  return rows;
}

/** Adds foreign keys. PostgreSQL checks that every referenced row exists. */
export async function addReferences(client: pg.ClientBase, references: readonly Reference[]): Promise<void> {
  for (const { table, name, definition } of references)
    await client.query(`alter table ${table} add constraint "${name}" ${definition}`);
}
