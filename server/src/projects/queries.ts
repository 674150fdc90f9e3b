// Statements on `projects`, `memberships` and `api_keys`.
import { sql } from "kysely";
import { isCluster } from "../platform/database/cluster.ts";
import type { Database, Tx } from "../platform/database/database.ts";
import type { Row } from "../platform/database/row.ts";
import { AppError } from "../platform/app-error.ts";
import { SYSTEM_PROJECT_ID } from "../emails/rows/system-project.ts";
import { findKeysOfCluster, type FoundKey } from "./key-queries.ts";

export async function insertProject(tx: Tx, project: { id: string; name: string }): Promise<void> {
  await tx.insertInto("projects").values(project).execute();
}

export async function insertMembership(
  tx: Tx,
  membership: { projectId: string; userId: string; role: string },
): Promise<void> {
  await tx.insertInto("memberships").values(membership).execute();
}

/**
 * Locks a project row so that concurrent changes to its members, keys or settings run one after the other. Run it as a separate statement:
 * one that waited for the lock re-reads only the locked row and sees others as of its start. Returns undefined if the project does not
 * exist.
 */
export async function lockProject(
  tx: Tx,
  projectId: string,
): Promise<{ name: string; language: string } | undefined> {
  const { rows } = await sql<{ name: string; language: string }>`
    select name, language from projects where id = ${projectId} for no key update`.execute(tx);
  return rows[0];
}

/** Locks the owner and counts their projects, so that concurrent creations are counted. Undefined if the account was deleted. */
export async function countOwnedProjects(tx: Tx, userId: string): Promise<number | undefined> {
  const owner = await sql`select 1 from users where id = ${userId} for no key update`.execute(tx);
  if (owner.rows.length === 0) return undefined;
  const { rows } = await sql<{ count: number }>`
    select count(*) as count from memberships where user_id = ${userId} and role = 'OWNER'`.execute(tx);
  return rows[0]?.count ?? 0;
}

/** Returns the names of the projects of the account with this address. */
export async function listProjectNames(database: Database, email: string): Promise<string[]> {
  const { rows } = await sql<{ name: string }>`
    select p.name from users u join memberships m on m.user_id = u.id join projects p on p.id = m.project_id
    where u.email = ${email} order by p.id limit 1000`.execute(database);
  return rows.map(({ name }) => name);
}

export interface KeyRow extends Row<"api_keys", "hash" | "projectId" | "sealed"> {
  kind: "public" | "secret";
}

export async function insertKeys(tx: Tx, keys: readonly KeyRow[]): Promise<void> {
  await tx
    .insertInto("api_keys")
    .values([...keys])
    .execute();
}

export async function deleteKeys(tx: Tx, projectId: string): Promise<void> {
  await tx.deleteFrom("api_keys").where("projectId", "=", projectId).execute();
}

/** Marks that members know the secret key only by their current role. */
export async function clearKnownSecretKey(tx: Tx, projectId: string): Promise<void> {
  await sql`
    update memberships set knows_secret_key = false
    where project_id = ${projectId} and knows_secret_key`.execute(tx);
}

export async function findKeysByHash(database: Database, hashes: readonly Buffer[]): Promise<FoundKey[]> {
  if (await isCluster(database)) return findKeysOfCluster(database, hashes);
  const { rows } = await sql<FoundKey>`
    select k.hash, k.project_id, k.kind, p.disabled
    from api_keys k join projects p on p.id = k.project_id
    where k.hash = any(${hashes}::bytea[])`.execute(database);
  return rows;
}

export async function findMembershipRow(database: Database, userId: string, projectId: string) {
  return database
    .selectFrom("memberships")
    .innerJoin("projects", "projects.id", "memberships.projectId")
    .innerJoin("users", "users.id", "memberships.userId")
    .select(["memberships.role", "projects.disabled", "users.verifiedAt"])
    .where("memberships.projectId", "=", projectId)
    .where("memberships.userId", "=", userId)
    .executeTakeFirst();
}

/** The columns of the brand. */
export type BrandColumns = Row<
  "projects",
  | "brandBackground"
  | "brandSurface"
  | "brandInk"
  | "brandAccent"
  | "brandFont"
  | "brandFooterAlign"
  | "brandFooterLogo"
>;

export interface ProjectRow extends Row<
  "projects",
  | "id"
  | "name"
  | "language"
  | "defaultFrom"
  | "postalAddress"
  | "logoUrl"
  | keyof BrandColumns
  | "inboundName"
  | "disabled"
  | "removal"
  | "createdAt"
  | "updatedAt"
> {
  tracking: string;
  whenInDoubt: string;
  suppressionList: boolean;
  sendingRate: number | null;
  eventRetentionDays: number | null;
  emailRetentionDays: number | null;
  role: string;
  publicKey: Buffer;
  secretKey: Buffer;
}

/** Returns the projects of a person with both sealed keys, newest first, or one of them. */
export async function listProjectRows(
  database: Database,
  userId: string,
  projectId: string | null,
): Promise<ProjectRow[]> {
  let query = database
    .selectFrom("memberships as m")
    .innerJoin("projects as p", "p.id", "m.projectId")
    .innerJoin("api_keys as pk", (join) =>
      join.onRef("pk.projectId", "=", "p.id").on("pk.kind", "=", "public"),
    )
    .innerJoin("api_keys as sk", (join) =>
      join.onRef("sk.projectId", "=", "p.id").on("sk.kind", "=", "secret"),
    )
    .innerJoin("project_queues as q", "q.projectId", "p.id")
    .leftJoin("event_retentions as r", "r.projectId", "p.id")
    .leftJoin("email_retentions as l", "l.projectId", "p.id")
    .select(["q.tracking", "q.whenInDoubt", "q.suppressionList", "q.sendingRate"])
    .select(["r.days as eventRetentionDays", "l.days as emailRetentionDays"])
    .select([
      "p.id",
      "p.name",
      "p.language",
      "p.defaultFrom",
      "p.postalAddress",
      "p.logoUrl",
      "p.brandBackground",
      "p.brandSurface",
      "p.brandInk",
      "p.brandAccent",
      "p.brandFont",
      "p.brandFooterAlign",
      "p.brandFooterLogo",
      "p.inboundName",
      "p.disabled",
      "p.removal",
      "p.createdAt",
      "p.updatedAt",
      "m.role",
    ])
    .select(["pk.sealed as publicKey", "sk.sealed as secretKey"])
    .where("m.userId", "=", userId);
  if (projectId !== null) query = query.where("p.id", "=", projectId);
  return query.orderBy("p.id", "desc").execute();
}

export interface OwnChanges extends Partial<BrandColumns> {
  name?: string;
  language?: string;
  defaultFrom?: string | null;
  postalAddress?: string | null;
  logoUrl?: string | null;
}

/** Returns the current settings by column. */
export async function readSettings(
  tx: Tx,
  projectId: string,
): Promise<Record<string, unknown> & BrandColumns> {
  const { rows } = await sql<Record<string, unknown> & BrandColumns>`
    select p.*, q.*, r.days as event_retention_days, l.days as email_retention_days
    from projects p join project_queues q on q.project_id = p.id
    left join event_retentions r on r.project_id = p.id left join email_retentions l on l.project_id = p.id
    where p.id = ${projectId}`.execute(tx);
  if (rows[0] === undefined) throw new AppError("PROJECT_NOT_FOUND");
  return rows[0];
}

export async function updateProjectRow(tx: Tx, projectId: string, changes: OwnChanges): Promise<void> {
  await tx
    .updateTable("projects")
    .set({ ...changes, updatedAt: sql`now()` })
    .where("id", "=", projectId)
    .execute();
}

/** The database generates a new random name. */
export async function updateInboundName(tx: Tx, projectId: string): Promise<void> {
  await sql`update projects set inbound_name = default, updated_at = now() where id = ${projectId}`.execute(
    tx,
  );
}

export async function isProjectName(database: Database, projectId: string, name: string): Promise<boolean> {
  const row = await database
    .selectFrom("projects")
    .select("id")
    .where("id", "=", projectId)
    .where("name", "=", name)
    .executeTakeFirst();
  return row !== undefined;
}

export async function findProjectsByInboundName(database: Database, names: readonly string[]) {
  return database
    .selectFrom("projects")
    .select(["id", "inboundName"])
    .where("inboundName", "in", [...names])
    .execute();
}

export async function findProjectIds(database: Database, ids: readonly string[]) {
  return database
    .selectFrom("projects")
    .select("id")
    .where("id", "in", [...ids])
    .execute();
}

export async function findDefaultSenders(database: Database, projectIds: readonly string[]) {
  return database
    .selectFrom("projects")
    .select(["id", "defaultFrom"])
    .where("id", "in", [...projectIds])
    .execute();
}

export async function clearDefaultSender(tx: Tx, projectId: string, defaultFrom: string): Promise<void> {
  await sql`
    update projects set default_from = null, updated_at = now()
    where id = ${projectId} and default_from = ${defaultFrom}`.execute(tx);
}

/** Sets the default sender of a project without one. Returns whether it had none. */
export async function insertFirstSender(tx: Tx, projectId: string, sender: string): Promise<boolean> {
  const { numUpdatedRows } = await tx
    .updateTable("projects")
    .set({ defaultFrom: sender, updatedAt: sql`now()` })
    .where("id", "=", projectId)
    .where("defaultFrom", "is", null)
    .executeTakeFirst();
  return numUpdatedRows > 0n;
}

/** Returns projects by id, which is the order of creation, each with the address of an owner. Skips the system project. */
export async function listAllProjectRows(database: Database, after: string | null, limit: number) {
  const { rows } = await sql<{
    id: string;
    name: string;
    owner: string | null;
    disabled: boolean;
    removal: string | null;
    createdAt: Date;
  }>`
    select p.id, p.name, p.disabled, p.removal, p.created_at,
      (select u.email from memberships m join users u on u.id = m.user_id
       where m.project_id = p.id and m.role = 'OWNER' order by m.created_at limit 1) as owner
    from projects p where p.id > coalesce(${after}::uuid, ${SYSTEM_PROJECT_ID})
    order by p.id limit ${limit}`.execute(database);
  return rows;
}

export async function findOwnerId(database: Database, projectId: string): Promise<string | undefined> {
  const row = await database
    .selectFrom("memberships")
    .select("userId")
    .where("projectId", "=", projectId)
    .where("role", "=", "OWNER")
    .orderBy("createdAt")
    .limit(1)
    .executeTakeFirst();
  return row?.userId;
}
