// Statements on `webhook_secrets`.
import { sql } from "kysely";
import type { Database, Tx } from "../platform/database/database.ts";

export interface SealedSecrets {
  sealed: Buffer;
  /** null where there was none, or its time is over. */
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

/** Does nothing where there is one. */
export async function insertSecret(database: Database, projectId: string, sealed: Buffer): Promise<void> {
  await sql`insert into webhook_secrets (project_id, sealed) values (${projectId}, ${sealed})
    on conflict (project_id) do nothing`.execute(database);
}

/** In the place of the one there is, which becomes the former one. */
export async function upsertSecret(tx: Tx, projectId: string, sealed: Buffer): Promise<void> {
  await sql`insert into webhook_secrets (project_id, sealed) values (${projectId}, ${sealed})
    on conflict (project_id) do update set
      sealed = excluded.sealed, former_sealed = webhook_secrets.sealed, made_at = excluded.made_at`.execute(
    tx,
  );
}
