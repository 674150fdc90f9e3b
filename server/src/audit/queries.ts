// Statements on `audit_log` and `audit_heads`.
import { sql } from "kysely";
import type { ActorKind, AuditAction } from "@postloft/contract/audit.ts";
import type { Database, Tx } from "../platform/database/database.ts";
import type { Row } from "../platform/database/row.ts";
import type { PageRequest } from "../platform/http/page.ts";

export type HeadRow = Row<"audit_heads", "projectId" | "number" | "hash">;

/** Locks and returns the newest entry of each project, in one order. Other writers of the same log wait for the commit. */
export async function lockHeads(
  tx: Tx,
  projectIds: readonly string[],
  firstHash: Buffer,
): Promise<HeadRow[]> {
  await sql`
    insert into audit_heads (project_id, number, hash)
    select id, 0, ${firstHash} from unnest(${projectIds}::uuid[]) as new (id) order by id
    on conflict (project_id) do nothing`.execute(tx);
  const { rows } = await sql<HeadRow>`
    select project_id, number, hash from audit_heads
    where project_id = any(${projectIds}::uuid[]) order by project_id for update`.execute(tx);
  return rows;
}

export async function updateHeads(tx: Tx, heads: readonly HeadRow[]): Promise<void> {
  await sql`
    update audit_heads h set number = new.number, hash = new.hash
    from unnest(
      ${heads.map((head) => head.projectId)}::uuid[],
      ${heads.map((head) => head.number)}::integer[],
      ${heads.map((head) => head.hash)}::bytea[]
    ) as new (project_id, number, hash)
    where h.project_id = new.project_id`.execute(tx);
}

export type EntryRow = Row<
  "audit_log",
  | "projectId"
  | "id"
  | "number"
  | "at"
  | "actorKind"
  | "actorId"
  | "actorEmail"
  | "ip"
  | "action"
  | "targetId"
  | "targetName"
  | "details"
  | "hash"
>;

export async function insertEntries(tx: Tx, rows: readonly EntryRow[]): Promise<void> {
  await tx
    .insertInto("audit_log")
    .values(rows.map((row) => ({ ...row, details: JSON.stringify(row.details) })))
    .execute();
}

export async function findAddresses(tx: Tx, userIds: readonly string[]) {
  return tx
    .selectFrom("users")
    .select(["id", "email"])
    .where("id", "in", [...userIds])
    .execute();
}

export interface AuditFilter {
  action?: AuditAction | undefined;
  actorKind?: ActorKind | undefined;
  userId?: string | undefined;
  since?: string | undefined;
  until?: string | undefined;
}

/** The log of a project is short, because only people and keys of admins write it. So no other index serves a filter. */
function matching({ action, actorKind, userId, since, until }: AuditFilter) {
  const conditions = [
    ...(action === undefined ? [] : [sql<boolean>`action = ${action}`]),
    ...(actorKind === undefined ? [] : [sql<boolean>`actor_kind = ${actorKind}`]),
    ...(userId === undefined ? [] : [sql<boolean>`actor_id = ${userId}`]),
    ...(since === undefined ? [] : [sql<boolean>`at >= ${since}::timestamptz`]),
    ...(until === undefined ? [] : [sql<boolean>`at < ${until}::timestamptz`]),
  ];
  return conditions.length === 0 ? null : sql<boolean>`(${sql.join(conditions, sql` and `)})`;
}

export async function listEntryRows(
  database: Database,
  projectId: string,
  filter: AuditFilter,
  { limit, before }: PageRequest,
): Promise<EntryRow[]> {
  let query = database.selectFrom("audit_log").selectAll().where("projectId", "=", projectId);
  const condition = matching(filter);
  if (condition !== null) query = query.where(condition);
  if (before !== null) query = query.where("id", "<", before);
  return query
    .orderBy("id", "desc")
    .limit(limit + 1)
    .execute();
}

/** Without a filter, the number of the newest entry is the count. */
export async function countEntries(
  database: Database,
  projectId: string,
  filter: AuditFilter,
): Promise<number> {
  const condition = matching(filter);
  if (condition === null) return (await findHead(database, projectId))?.number ?? 0;
  const { count } = await database
    .selectFrom("audit_log")
    .select((select) => select.fn.countAll<number>().as("count"))
    .where("projectId", "=", projectId)
    .where(condition)
    .executeTakeFirstOrThrow();
  return Number(count);
}

export async function findHead(database: Database, projectId: string): Promise<HeadRow | undefined> {
  return database
    .selectFrom("audit_heads")
    .select(["projectId", "number", "hash"])
    .where("projectId", "=", projectId)
    .executeTakeFirst();
}

/** In the order of the chain. */
export async function listChain(
  database: Database,
  projectId: string,
  after: number,
  limit: number,
): Promise<EntryRow[]> {
  return database
    .selectFrom("audit_log")
    .selectAll()
    .where("projectId", "=", projectId)
    .where("number", ">", after)
    .orderBy("number")
    .limit(limit)
    .execute();
}

export async function listLoggedProjects(
  database: Database,
  after: string,
  limit: number,
): Promise<string[]> {
  const rows = await database
    .selectFrom("audit_heads")
    .select("projectId")
    .where("projectId", ">", after)
    .orderBy("projectId")
    .limit(limit)
    .execute();
  return rows.map((row) => row.projectId);
}
