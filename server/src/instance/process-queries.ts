// Queries on the table of running processes.
import { sql } from "kysely";
import type { Database, Tx } from "../platform/database/database.ts";

export interface ReportingProcess {
  id: string;
  roles: readonly string[];
  host: string;
  version: string;
  startedAt: Date;
}

/** Writes or renews the row of a process. */
export async function upsertProcess(
  database: Database,
  { id, roles, host, version, startedAt }: ReportingProcess,
): Promise<void> {
  await sql`
    insert into processes (id, roles, host, version, started_at) values (${id}, ${roles}::text[], ${host}, ${version}, ${startedAt})
    on conflict (id) do update set seen_at = excluded.seen_at`.execute(database);
}

export async function deleteProcess(database: Database, id: string): Promise<void> {
  await sql`delete from processes where id = ${id}`.execute(database);
}

/** Deletes processes that ended without a stop, once they have been silent for this long. */
export async function deleteSilentProcesses(database: Database, silentSeconds: number): Promise<void> {
  await sql`delete from processes where seen_at < now() - make_interval(secs => ${silentSeconds})`.execute(
    database,
  );
}

/** Returns the processes, those that are alive first. One is alive if it reported within the given time. */
export async function listProcesses(
  tx: Tx,
  { aliveSeconds, limit }: { aliveSeconds: number; limit: number },
) {
  const { rows } = await sql<{
    id: string;
    roles: string[];
    host: string;
    version: string;
    startedAt: Date;
    seenAt: Date;
    isAlive: boolean;
  }>`
    select id, roles, host, version, started_at, seen_at,
      seen_at > now() - make_interval(secs => ${aliveSeconds}) as is_alive
    from processes order by is_alive desc, started_at, id limit ${limit}`.execute(tx);
  return rows;
}
