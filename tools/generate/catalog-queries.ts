// Reads a migrated database's tables from the PostgreSQL catalogs, in a stable order.
import type { ClientBase } from "pg";

/** Names are quoted for SQL where needed. */
export interface Table {
  oid: number;
  name: string;
  isUnlogged: boolean;
  options: string[] | null;
  /** The partition key, or null for an unpartitioned table. */
  partitionKey: string | null;
  comment: string | null;
}

export interface Column {
  name: string;
  type: string;
  isNotNull: boolean;
  defaultValue: string | null;
  /** `a` for always, `d` for by default, otherwise empty. */
  identity: string;
  /** `s` for stored, `v` for virtual, otherwise empty. */
  generated: string;
  collation: string | null;
  /** Set if it differs from the type's default. */
  storage: string | null;
  comment: string | null;
}

export interface Constraint {
  name: string;
  definition: string;
  /** The table a foreign key references; 0 for other kinds. */
  referencedOid: number;
}

export interface RowColumn {
  table: string;
  name: string;
  type: string;
  isNullable: boolean;
  /** Whether the database fills it in by default. */
  hasDefault: boolean;
  isGenerated: boolean;
}

/** Makes PostgreSQL omit the schema from names in the search path. */
export async function useShortNames(client: ClientBase): Promise<void> {
  await client.query("set search_path = public");
}

export async function listExtensions(client: ClientBase): Promise<string[]> {
  return texts(
    client,
    "select quote_ident(extname) as text from pg_extension where extname <> 'plpgsql' order by extname",
  );
}

/** Lists tables in creation order, without partitions, which depend on the current date. */
export async function listTables(client: ClientBase): Promise<Table[]> {
  const { rows } = await client.query<Table>(
    `select c.oid, quote_ident(c.relname) as name, c.relpersistence = 'u' as "isUnlogged", c.reloptions as options,
       pg_get_partkeydef(c.oid) as "partitionKey", obj_description(c.oid, 'pg_class') as comment
     from pg_class c
     where c.relnamespace = 'public'::regnamespace and c.relkind in ('r', 'p') and not c.relispartition and c.relname <> 'schema_migrations'
     order by c.oid`,
  );
  return rows;
}

export async function listColumns(client: ClientBase, tableOid: number): Promise<Column[]> {
  const { rows } = await client.query<Column>(
    `select quote_ident(a.attname) as name, format_type(a.atttypid, a.atttypmod) as type, a.attnotnull as "isNotNull",
       pg_get_expr(d.adbin, d.adrelid) as "defaultValue", a.attidentity as identity, a.attgenerated as generated,
       case when a.attcollation <> t.typcollation
         then (select quote_ident(collname) from pg_collation where oid = a.attcollation) end as collation,
       case when a.attstorage <> t.typstorage then
         case a.attstorage when 'p' then 'PLAIN' when 'e' then 'EXTERNAL' when 'm' then 'MAIN' else 'EXTENDED' end
       end as storage,
       col_description(a.attrelid, a.attnum) as comment
     from pg_attribute a
     join pg_type t on t.oid = a.atttypid
     left join pg_attrdef d on d.adrelid = a.attrelid and d.adnum = a.attnum
     where a.attrelid = $1 and a.attnum > 0 and not a.attisdropped
     order by a.attnum`,
    [tableOid],
  );
  return rows;
}

/** Lists constraints without NOT NULL, which is listed with the columns. PostgreSQL 18 has catalog rows for it (contype n). */
export async function listConstraints(client: ClientBase, tableOid: number): Promise<Constraint[]> {
  const { rows } = await client.query<Constraint>(
    `select quote_ident(conname) as name, pg_get_constraintdef(oid, true) as definition, confrelid as "referencedOid"
     from pg_constraint
     where conrelid = $1 and contype in ('p', 'u', 'x', 'f', 'c')
     order by array_position(array['p', 'u', 'x', 'f', 'c'], contype::text), conname`,
    [tableOid],
  );
  return rows;
}

/** Lists the statements of indexes that do not belong to a constraint. */
export async function listIndexStatements(client: ClientBase, tableOid: number): Promise<string[]> {
  return texts(
    client,
    // An index of a partitioned table applies to all partitions.
    `select replace(pg_get_indexdef(indexrelid, 0, true), ' ON ONLY ', ' ON ') as text
     from pg_index
     where indrelid = $1
       and not exists (select from pg_constraint where conindid = indexrelid and contype in ('p', 'u', 'x'))
     order by indexrelid::regclass::text collate "C"`,
    [tableOid],
  );
}

export async function listFunctionStatements(client: ClientBase): Promise<string[]> {
  return texts(
    client,
    `select rtrim(pg_get_functiondef(o.oid), E'\\n') as text
     from pg_proc o
     where o.pronamespace = 'public'::regnamespace and o.prokind in ('f', 'p') and ${isOwn("pg_proc")}
     order by o.oid::regprocedure::text collate "C"`,
  );
}

export async function listTriggerStatements(client: ClientBase): Promise<string[]> {
  return texts(
    client,
    `select pg_get_triggerdef(t.oid, true) as text
     from pg_trigger t join pg_class c on c.oid = t.tgrelid
     where c.relnamespace = 'public'::regnamespace and not t.tgisinternal
     order by c.relname, t.tgname`,
  );
}

/** Lists all other objects: views, foreign tables, separate sequences and types, aggregates, policies. */
export async function listOtherObjects(client: ClientBase): Promise<string[]> {
  return texts(
    client,
    `select format('%s %s', case when o.relkind in ('v', 'm') then 'the view' when o.relkind = 'S' then 'the sequence'
         else 'the foreign table' end, o.relname) as text
     from pg_class o
     where o.relnamespace = 'public'::regnamespace and ${isOwn("pg_class")} and (o.relkind in ('v', 'm', 'f')
       or (o.relkind = 'S' and not exists (
         select from pg_depend where classid = 'pg_class'::regclass and objid = o.oid and deptype = 'i')))
     union all
     select format('the type %s', o.typname) from pg_type o
     where o.typnamespace = 'public'::regnamespace and ${isOwn("pg_type")} and (o.typtype in ('e', 'd', 'r')
       or (o.typtype = 'c' and exists (select from pg_class where oid = o.typrelid and relkind = 'c')))
     union all
     select format('the aggregate %s', o.proname) from pg_proc o
     where o.pronamespace = 'public'::regnamespace and o.prokind in ('a', 'w') and ${isOwn("pg_proc")}
     union all
     select format('the policy %s', polname) from pg_policy`,
  );
}

/** Lists the columns of every table for the row types. */
export async function listRowColumns(client: ClientBase): Promise<RowColumn[]> {
  const { rows } = await client.query<RowColumn>(
    `select c.table_name as table, c.column_name as name, c.udt_name as type, c.is_nullable = 'YES' as "isNullable",
       c.column_default is not null or c.is_identity = 'YES' as "hasDefault", c.is_generated = 'ALWAYS' as "isGenerated"
     from information_schema.columns c
     join information_schema.tables t using (table_schema, table_name)
     where c.table_schema = 'public' and t.table_type = 'BASE TABLE' and c.table_name <> 'schema_migrations'
       and not exists (select from pg_class p where p.oid = to_regclass(quote_ident(c.table_name)) and p.relispartition)
     order by c.table_name, c.ordinal_position`,
  );
  return rows;
}

/** Returns the condition that row `o` of a catalog does not belong to an extension. */
function isOwn(catalog: "pg_class" | "pg_proc" | "pg_type"): string {
  return `not exists (select from pg_depend where classid = '${catalog}'::regclass and objid = o.oid and deptype = 'e')`;
}

async function texts(client: ClientBase, statement: string, values: unknown[] = []): Promise<string[]> {
  const { rows } = await client.query<{ text: string }>(statement, values);
  return rows.map(({ text }) => text);
}
