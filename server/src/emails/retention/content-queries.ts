// Contents that no mail uses any more that is kept, and the files that went with them.
import { sql } from "kysely";
import type { Tx } from "../../platform/database.ts";
import { NO_ID } from "../../platform/ids.ts";

/** The ids of up to so many contents behind `after`, in order. */
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

/** Which contents and files of a project: behind `after` up to `last` (null: to the end), and used by no mail made from `until` on. */
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
 * Forgets what these contents said, unless mails that are kept longer say it. Who sent it stays, for the names of its mails; so do its
 * links: they lead on from mails that people have, and their clicks are counted by where they lead.
 */
export async function forgetContents(tx: Tx, projectId: string, contents: OldContents): Promise<void> {
  await sql`
    update email_contents c set subject = '', html = '', text = null, reply_to = null, headers = '[]', attachments = '[]', forgotten_at = now()
    where ${isWithin("c", projectId, contents)} and c.forgotten_at is null and not exists (
      select 1 from emails_kept_longer k where k.project_id = ${projectId} and k.content_id = c.id)`.execute(
    tx,
  );
}

/** Deletes the files of such contents. */
export async function deleteFiles(tx: Tx, projectId: string, contents: OldContents): Promise<void> {
  await sql`
    delete from email_files f
    where ${isWithin("f", projectId, contents)} and not exists (
      select 1 from emails_kept_longer k
      join email_contents c on c.project_id = k.project_id and c.id = k.content_id
      cross join jsonb_array_elements(c.attachments) a
      where k.project_id = ${projectId} and (a.value ->> 'fileId')::uuid = f.id)`.execute(tx);
}

/** Up to where contents are forgotten; `position` null: all of them, until the next month is over. */
export async function updateContentsPosition(
  tx: Tx,
  projectId: string,
  { until, position }: { until: Date; position: string | null },
): Promise<void> {
  await sql`
    update email_retentions set contents_until = ${until}, contents_position = ${position ?? NO_ID}
    where project_id = ${projectId}`.execute(tx);
}

/** Has all contents gone through again, where one of these was passed over because a mail that was kept longer said it. */
export async function passContentsAgain(tx: Tx, projectId: string, ids: readonly string[]): Promise<void> {
  await sql`
    update email_retentions r set contents_until = '-infinity', contents_position = ${NO_ID}
    where r.project_id = ${projectId} and exists (
      select 1 from email_contents c where c.project_id = ${projectId} and c.id = any(${ids}::uuid[])
        and c.used_until <= r.contents_until and c.forgotten_at is null)`.execute(tx);
}
