// Queries on `webhook_secrets`.
import { sql } from "kysely";
import type { Database, Tx } from "../platform/database/database.ts";

export interface SealedSecrets {
  sealed: Buffer;
  /** Null if there was none or it has expired. */
  formerSealed: Buffer | null;
}

export async function findSecrets(
  database: Database,
  projectId: string,
  formerHours: number,
): Promise<SealedSecrets | undefined> {
  const { rows } = await sql<SealedSecrets>`
    select sealed,
      case when made_at > now() - make_interval(hours => ${formerHours}::integer) then former_sealed end as former_sealed
    from webhook_secrets where project_id = ${projectId}`.execute(database);
  return rows[0];
}

/** Inserts a secret unless the project has one. */
export async function insertSecret(database: Database, projectId: string, sealed: Buffer): Promise<void> {
  await sql`insert into webhook_secrets (project_id, sealed) values (${projectId}, ${sealed})
    on conflict (project_id) do nothing`.execute(database);
}

/** Replaces the secret, which becomes the former one. */
export async function upsertSecret(tx: Tx, projectId: string, sealed: Buffer): Promise<void> {
  await sql`insert into webhook_secrets (project_id, sealed) values (${projectId}, ${sealed})
    on conflict (project_id) do update set
      sealed = excluded.sealed, former_sealed = webhook_secrets.sealed, made_at = excluded.made_at`.execute(
    tx,
  );
}
