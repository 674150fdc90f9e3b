// Queries on sizes of the database and its tables, now and on earlier days.
import { sql, type RawBuilder } from "kysely";
import type { Database, Tx } from "../platform/database/database.ts";

/** The largest tables with their indexes, and partitions as one table. */
const largestTables = (limit: number): RawBuilder<unknown> => sql`
  select coalesce(parent.relname, c.relname)::text as name, sum(pg_total_relation_size(c.oid))::float8 as bytes,
    sum(greatest(c.reltuples, 0))::float8 as rows
  from pg_class c
  left join pg_inherits i on i.inhrelid = c.oid
  left join pg_class parent on parent.oid = i.inhparent
  where c.relkind = 'r' and c.relnamespace = 'public'::regnamespace
  group by 1 order by 2 desc, 1 limit ${limit}`;

export async function listLargestTables(tx: Tx, limit: number) {
  const { rows } = await sql<{ name: string; bytes: number; rows: number }>`${largestTables(limit)}`.execute(
    tx,
  );
  return rows;
}

/** Stores the sizes of this day, in place of an earlier measurement of the same day. */
export async function upsertStorageDay(
  database: Database,
  { disk, tables }: { disk: { usedBytes: number; totalBytes: number } | null; tables: number },
): Promise<void> {
  await sql`
    insert into storage_days (day, measured_at, database_bytes, disk_used_bytes, disk_total_bytes, table_bytes)
    select (now() at time zone 'utc')::date, now(), pg_database_size(current_database()), ${disk?.usedBytes ?? null}::bigint,
      ${disk?.totalBytes ?? null}::bigint,
      coalesce((select jsonb_object_agg(name, bytes) from (${largestTables(tables)}) t), '{}')
    on conflict (day) do update set measured_at = excluded.measured_at, database_bytes = excluded.database_bytes,
      disk_used_bytes = excluded.disk_used_bytes, disk_total_bytes = excluded.disk_total_bytes, table_bytes = excluded.table_bytes`.execute(
    database,
  );
}

export async function deleteOldStorageDays(database: Database, keptDays: number): Promise<void> {
  await sql`
    delete from storage_days where measured_at < now() - make_interval(days => ${keptDays})`.execute(
    database,
  );
}

export interface StorageDay {
  measuredAt: Date;
  databaseBytes: number;
  diskUsedBytes: number | null;
  diskTotalBytes: number | null;
  tableBytes: Record<string, number>;
}

/** Returns the oldest and the newest measurement of the last days, which are the same one on the first day. */
export async function listStorageEnds(tx: Tx, days: number): Promise<StorageDay[]> {
  const recent = sql`select measured_at, database_bytes::float8 as database_bytes, disk_used_bytes::float8 as disk_used_bytes,
      disk_total_bytes::float8 as disk_total_bytes, table_bytes
    from storage_days where measured_at > now() - make_interval(days => ${days})`;
  const { rows } = await sql<StorageDay>`
    (${recent} order by measured_at limit 1) union all (${recent} order by measured_at desc limit 1)`.execute(
    tx,
  );
  return rows;
}
