// Queries on contents that no kept email uses, and on their files.
import { sql } from "kysely";
import type { Tx } from "../../platform/database/database.ts";
import { NO_ID } from "../../platform/ids.ts";

/** Returns the ids of up to `limit` contents after `after`, in order. */
export async function listContentIds(
  tx: Tx,
  projectId: string,
  after: string | null,
  limit: number,
): Promise<string[]> {
  const { rows } = await sql<{ id: string }>`
    select id from email_contents where project_id = ${projectId} and id > ${after ?? NO_ID} order by project_id, id limit ${limit}`.execute(
    tx,
  );
  return rows.map(({ id }) => id);
}

/** Selects contents and files by id, after `after` and up to `last` (null for the end). No email created since `until` uses them. */
export interface OldContents {
  after: string | null;
  last: string | null;
  until: Date;
}

const isWithin = (name: "c" | "f", projectId: string, { after, last, until }: OldContents) => {
  const column = (of: string) => sql.ref(`${name}.${of}`);
  return sql`${column("projectId")} = ${projectId} and ${column("id")} > ${after ?? NO_ID}
    ${last === null ? sql`` : sql`and ${column("id")} <= ${last}`} and ${column("usedUntil")} <= ${until}`;
};

/**
 * Redacts contents unless emails that are kept longer use them. The sender address and the Message-ID of a raw message stay, because reports
 * name them. Links stay too, because recipients still follow them and clicks are counted by target.
 */
export async function redactContents(tx: Tx, projectId: string, contents: OldContents): Promise<void> {
  await sql`
    update email_contents c set subject = '', html = '', text = null, reply_to = null, headers = '[]', attachments = '[]',
      raw = null, forgotten_at = now()
    where ${isWithin("c", projectId, contents)} and c.forgotten_at is null and not exists (
      select 1 from emails_kept_longer k where k.project_id = ${projectId} and k.content_id = c.id)`.execute(
    tx,
  );
}

/** Deletes the files of the selected contents. */
export async function deleteFiles(tx: Tx, projectId: string, contents: OldContents): Promise<void> {
  await sql`
    delete from email_files f
    where ${isWithin("f", projectId, contents)} and not exists (
      select 1 from emails_kept_longer k
      join email_contents c on c.project_id = k.project_id and c.id = k.content_id
      cross join jsonb_array_elements(c.attachments) a
      where k.project_id = ${projectId} and (a.value ->> 'fileId')::uuid = f.id)`.execute(tx);
}

/** Stores how far contents are redacted. A null `position` means completely, until the next month is over. */
export async function updateContentsPosition(
  tx: Tx,
  projectId: string,
  { until, position }: { until: Date; position: string | null },
): Promise<void> {
  await sql`
    update email_retentions set contents_until = ${until}, contents_position = ${position ?? NO_ID}
    where project_id = ${projectId}`.execute(tx);
}

/** Restarts the pass over all contents if one of these was skipped because an email kept longer used it. */
export async function passContentsAgain(tx: Tx, projectId: string, ids: readonly string[]): Promise<void> {
  await sql`
    update email_retentions r set contents_until = '-infinity', contents_position = ${NO_ID}
    where r.project_id = ${projectId} and exists (
      select 1 from email_contents c where c.project_id = ${projectId} and c.id = any(${ids}::uuid[])
        and c.used_until <= r.contents_until and c.forgotten_at is null)`.execute(tx);
}
