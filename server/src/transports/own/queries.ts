// Statements on `project_transports`.
import { sql } from "kysely";
import type { Database, Tx } from "../../platform/database/database.ts";
import type { Row } from "../../platform/database/row.ts";

const SHOWN = [
  "id",
  "name",
  "url",
  "kinds",
  "domain",
  "enabled",
  "failingSince",
  "lastError",
  "createdAt",
  "updatedAt",
] as const;

export type ProjectTransportRow = Row<"project_transports", (typeof SHOWN)[number]>;

/** Returns the transports of a project, oldest first. */
export async function listProjectTransports(
  database: Database,
  projectId: string,
): Promise<ProjectTransportRow[]> {
  return database
    .selectFrom("project_transports")
    .select(SHOWN)
    .where("projectId", "=", projectId)
    .orderBy("id")
    .execute();
}

/** Returns the encrypted URL of a transport, or undefined if it does not exist. */
export async function findSealedUrl(
  database: Database,
  projectId: string,
  id: string,
): Promise<Buffer | undefined> {
  const found = await database
    .selectFrom("project_transports")
    .select("sealed")
    .where("projectId", "=", projectId)
    .where("id", "=", id)
    .executeTakeFirst();
  return found?.sealed;
}

export interface NewTransportRow extends Row<
  "project_transports",
  "projectId" | "id" | "name" | "url" | "sealed" | "kinds" | "domain" | "enabled"
> {}

export async function insertProjectTransport(tx: Tx, row: NewTransportRow): Promise<ProjectTransportRow> {
  return tx.insertInto("project_transports").values(row).returning(SHOWN).executeTakeFirstOrThrow();
}

export type TransportChanges = Partial<
  Row<"project_transports", "name" | "url" | "sealed" | "kinds" | "domain" | "enabled">
>;

/** Changes a transport and forgets its outage, because the change may have ended it. */
export async function updateProjectTransport(
  tx: Tx,
  projectId: string,
  id: string,
  changes: TransportChanges,
): Promise<ProjectTransportRow> {
  return tx
    .updateTable("project_transports")
    .set({ ...changes, failingSince: null, lastError: null, updatedAt: sql`now()` })
    .where("projectId", "=", projectId)
    .where("id", "=", id)
    .returning(SHOWN)
    .executeTakeFirstOrThrow();
}

/** Deletes a transport and returns its name and masked URL, or undefined if it does not exist. */
export async function deleteProjectTransport(tx: Tx, projectId: string, id: string) {
  return tx
    .deleteFrom("project_transports")
    .where("projectId", "=", projectId)
    .where("id", "=", id)
    .returning(["name", "url"])
    .executeTakeFirst();
}

/** Stores the reply of an outage, which began at `since` unless it is known already. Null stores that the transport works. */
export async function updateTransportOutage(
  database: Database,
  { projectId, id }: { projectId: string; id: string },
  outage: { reply: string; since: Date } | null,
): Promise<void> {
  const failingSince = outage === null ? sql`null` : sql`coalesce(failing_since, ${outage.since})`;
  await sql`
    update project_transports set last_error = ${outage?.reply ?? null}, failing_since = ${failingSince}
    where project_id = ${projectId} and id = ${id}`.execute(database);
}
