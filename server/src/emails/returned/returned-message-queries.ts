// Queries on `returned_messages`.
import { sql } from "kysely";
import type { Database, Tx } from "../../platform/database/database.ts";
import type { Row } from "../../platform/database/row.ts";

interface ReturnedRow extends Row<"returned_messages", "id" | "emailId" | "subject"> {
  from: string | null;
  text: string | null;
}

/** Inserts messages, up to `limit` per email. */
export async function insertReturned(
  tx: Tx,
  projectId: string,
  rows: readonly ReturnedRow[],
  limit: number,
): Promise<void> {
  await sql`
    insert into returned_messages (project_id, id, email_id, from_address, subject, said)
    select ${projectId}::uuid, i.id, i.email_id, i.from_address, i.subject, i.said from (
      select *, row_number() over (partition by email_id order by id) as number from unnest(
      ${rows.map((row) => row.id)}::uuid[],
      ${rows.map((row) => row.emailId)}::uuid[],
      ${rows.map((row) => row.from)}::text[],
      ${rows.map((row) => row.subject)}::text[],
      ${rows.map((row) => row.text)}::text[]
      ) as n (id, email_id, from_address, subject, said)
    ) i
    where i.number + (
      select count(*) from returned_messages r where r.project_id = ${projectId} and r.email_id = i.email_id
    ) <= ${limit}::integer`.execute(tx);
}

export async function listReturned(database: Database, projectId: string, emailId: string) {
  return database
    .selectFrom("returned_messages")
    .select(["receivedAt", "fromAddress", "subject", "said"])
    .where("projectId", "=", projectId)
    .where("emailId", "=", emailId)
    .orderBy("id")
    .execute();
}

export async function countReturned(database: Database, projectId: string, emailId: string): Promise<number> {
  const row = await database
    .selectFrom("returned_messages")
    .select((select) => select.fn.countAll<number>().as("count"))
    .where("projectId", "=", projectId)
    .where("emailId", "=", emailId)
    .executeTakeFirstOrThrow();
  return row.count;
}

export async function findEmailId(database: Database, projectId: string, id: string) {
  return database
    .selectFrom("emails")
    .select("id")
    .where("projectId", "=", projectId)
    .where("id", "=", id)
    .executeTakeFirst();
}

export async function deleteOldReturned(database: Database, days: number): Promise<void> {
  await sql`delete from returned_messages where received_at < now() - make_interval(days => ${days}::integer)`.execute(
    database,
  );
}
