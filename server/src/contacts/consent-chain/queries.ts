// Statements on the checkpoints of the consent log and on the rows they cover.
import { sql } from "kysely";
import type { Database, Tx } from "../../platform/database/database.ts";
import type { Row } from "../../platform/database/row.ts";
import type { HashedChange, HashedEntry, HashedErasure, CheckpointedRows } from "./rules.ts";

export interface CheckpointRow extends CheckpointedRows {
  hash: Buffer;
}

export type HeadRow = Row<"consent_heads", "projectId" | "number" | "hash">;

const at = (column: string) =>
  sql`to_char(${sql.ref(column)} at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"') as at`;
const CHANGE = sql`'change' as kind, project_id, position, contact_id, id, subscribed, source, actor, host(ip) as ip, email_id, ${at("createdAt")}`;
const ERASURE = sql`'erasure' as kind, project_id, position, to_jsonb(positions) as positions, ${at("at")}`;

/** Returns the last assigned position, or 0 if there is none. */
export async function readLastPosition(database: Database): Promise<number> {
  const { rows } = await sql<{ position: number }>`
    select case when is_called then last_value else 0 end as position
    from consent_changes_position_seq`.execute(database);
  return rows[0]?.position ?? 0;
}

/** Returns a transaction id that is newer than every transaction with writes so far. */
export async function readNewTransaction(database: Database): Promise<{ transaction: string; at: Date }> {
  const { rows } = await sql<{ transaction: string; at: Date }>`
    select pg_current_xact_id()::text as transaction, date_trunc('milliseconds', now()) as at`.execute(
    database,
  );
  const [row] = rows;
  if (row === undefined) throw new Error("The database returned no transaction id.");
  return row;
}

/** Returns whether all transactions older than this one have ended. */
export async function areOlderOver(database: Database, transaction: string): Promise<boolean> {
  const { rows } = await sql<{ areOver: boolean }>`
    select pg_snapshot_xmin(pg_current_snapshot()) >= ${transaction}::xid8 as are_over`.execute(database);
  return rows[0]?.areOver === true;
}

export async function readCheckpointed(database: Database): Promise<number> {
  const { rows } = await sql<{ position: number }>`select position from consent_sealed`.execute(database);
  return rows[0]?.position ?? 0;
}

/** Returns undefined if another process is writing checkpoints. */
export async function lockCheckpointed(tx: Tx): Promise<number | undefined> {
  const { rows } = await sql<{ position: number }>`
    select position from consent_sealed for update skip locked`.execute(tx);
  return rows[0]?.position;
}

export async function updateCheckpointed(tx: Tx, position: number): Promise<void> {
  await sql`update consent_sealed set position = ${position} where is_only`.execute(tx);
}

/** Returns the entries of all projects between two positions, in order. */
export async function listEntries(
  tx: Tx,
  { after, upTo, limit }: { after: number; upTo: number; limit: number },
): Promise<HashedEntry[]> {
  const { rows: changes } = await sql<HashedChange>`
    select ${CHANGE} from consent_changes
    where position > ${after} and position <= ${upTo} order by position limit ${limit}`.execute(tx);
  const { rows: erasures } = await sql<HashedErasure>`
    select ${ERASURE} from consent_erasures
    where position > ${after} and position <= ${upTo} order by position limit ${limit}`.execute(tx);
  return [...changes, ...erasures].toSorted((one, other) => one.position - other.position).slice(0, limit);
}

/**
 * Returns the newest checkpoint of a project and keeps the project from being reset or removed during this transaction.
 * @returns undefined if the project is being reset or removed, or is gone
 */
export async function lockHead(tx: Tx, projectId: string, firstHash: Buffer): Promise<HeadRow | undefined> {
  const { rows: projects } = await sql`
    select 1 from projects where id = ${projectId} and removal is null for share`.execute(tx);
  if (projects.length === 0) return undefined;
  const { rows } = await sql<HeadRow>`
    select project_id, number, hash from consent_heads where project_id = ${projectId}`.execute(tx);
  return rows[0] ?? { projectId, number: 0, hash: firstHash };
}

export async function insertCheckpoints(tx: Tx, checkpoints: readonly CheckpointRow[]): Promise<void> {
  const rows = checkpoints.map((checkpoint) => {
    const { projectId, number, at: checkpointedAt, completeTo, positions, digests, hash } = checkpoint;
    return sql`(${projectId}::uuid, ${number}::integer, ${checkpointedAt}::timestamptz, ${completeTo}::timestamptz,
      ${positions}::bigint[], ${digests}::bytea, ${hash}::bytea)`;
  });
  await sql`
    insert into consent_seals (project_id, number, at, complete_to, positions, digests, hash)
    values ${sql.join(rows)}`.execute(tx);
}

export async function upsertHeads(tx: Tx, heads: readonly HeadRow[]): Promise<void> {
  await sql`
    insert into consent_heads (project_id, number, hash)
    select * from unnest(
      ${heads.map((head) => head.projectId)}::uuid[],
      ${heads.map((head) => head.number)}::integer[],
      ${heads.map((head) => head.hash)}::bytea[]
    )
    on conflict (project_id) do update set number = excluded.number, hash = excluded.hash`.execute(tx);
}

/** Returns projects with checkpoints by id, except projects that are being reset or removed. */
export async function listCheckpointedProjects(
  database: Database,
  after: string,
  limit: number,
): Promise<HeadRow[]> {
  const { rows } = await sql<HeadRow>`
    select h.project_id, h.number, h.hash from consent_heads h join projects p on p.id = h.project_id
    where h.project_id > ${after} and p.removal is null order by h.project_id limit ${limit}`.execute(
    database,
  );
  return rows;
}

/** Returns checkpoints in the order of the chain. */
export async function listCheckpoints(
  database: Database,
  projectId: string,
  { after, upTo, limit }: { after: number; upTo: number; limit: number },
): Promise<CheckpointRow[]> {
  const { rows } = await sql<CheckpointRow>`
    select project_id, number, at, complete_to, to_jsonb(positions) as positions, digests, hash from consent_seals
    where project_id = ${projectId} and number > ${after} and number <= ${upTo}
    order by number limit ${limit}`.execute(database);
  return rows;
}

export async function findEntries(
  database: Database,
  projectId: string,
  positions: readonly number[],
): Promise<HashedEntry[]> {
  const { rows: changes } = await sql<HashedChange>`
    select ${CHANGE} from consent_changes
    where position = any(${positions}::bigint[]) and project_id = ${projectId}`.execute(database);
  const { rows: erasures } = await sql<HashedErasure>`
    select ${ERASURE} from consent_erasures
    where position = any(${positions}::bigint[]) and project_id = ${projectId}`.execute(database);
  return [...changes, ...erasures];
}

/** Returns the positions of rows that were deleted together with their contacts. */
export async function findErased(
  database: Database,
  projectId: string,
  positions: readonly number[],
): Promise<Set<number>> {
  const { rows } = await sql<{ position: number }>`
    select e.position from consent_erasures g, unnest(g.positions) as e (position)
    where g.project_id = ${projectId} and g.positions && ${positions}::bigint[]`.execute(database);
  return new Set(rows.map((row) => row.position));
}

export async function countChanges(database: Database, projectId: string, upTo: number): Promise<number> {
  const { rows } = await sql<{ count: number }>`
    select count(*) as count from consent_changes
    where project_id = ${projectId} and position <= ${upTo}`.execute(database);
  return rows[0]?.count ?? 0;
}

/** Returns the first row without a checkpoint up to the checkpointed position. */
export async function findUncheckpointed(
  database: Database,
  projectId: string,
  upTo: number,
): Promise<{ position: number; contactId: string } | undefined> {
  const { rows } = await sql<{ position: number; contactId: string }>`
    select c.position, c.contact_id from consent_changes c
    where c.project_id = ${projectId} and c.position <= ${upTo} and c.position not in (
      select p.position from consent_seals s, unnest(s.positions) as p (position) where s.project_id = ${projectId}
    )
    order by c.position limit 1`.execute(database);
  return rows[0];
}

/** Returns whether a row has waited for its checkpoint for too long. */
export async function isCheckpointLate(
  database: Database,
  checkpointed: number,
  minutes: number,
): Promise<boolean> {
  const { rows } = await sql<{ isLate: boolean }>`
    select exists (
      select 1 from consent_changes where position > ${checkpointed} and created_at < now() - make_interval(mins => ${minutes})
    ) as is_late`.execute(database);
  return rows[0]?.isLate === true;
}
