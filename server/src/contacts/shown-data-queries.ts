// A contact's data without the fields that are being deleted: what every reader sees while the job has not come to it yet.
import { sql, type RawBuilder, type SqlBool } from "kysely";
import type { Database } from "../platform/database/database.ts";

/** The kind of job that deletes a field; its input is `{key}`. */
export const FIELD_KIND = "contacts.delete-field";

type Expression = RawBuilder<unknown>;

/** Deletions `j` of fields that are under way; the states are literal, so that the index on due jobs serves. */
const underWay = (projectId: Expression) =>
  sql`from jobs j where j.project_id = ${projectId} and j.state in ('waiting', 'active') and j.kind = ${FIELD_KIND}`;

/**
 * The keys of a contact whose values are old: those of a field that nobody has written again since its deletion, or that only
 * other contacts have. Every write to a contact takes such keys out of it, so what changed since holds new values alone.
 */
function oldKeysOf(contact: "c" | "contacts", projectId: Expression): Expression {
  return sql`array(
    select j.input ->> 'key' ${underWay(projectId)} and (${sql.ref(`${contact}.updated_at`)} < j.created_at
      or not exists (select 1 from contact_fields f where f.project_id = j.project_id and f.field = j.input ->> 'key')))`;
}

/**
 * The data of a contact, of the alias `c` unless told otherwise, without fields that are being deleted. With the project as a
 * text, a statement asks once whether there are any, however many contacts it reads; a column of it is asked for each row.
 */
export function shownData(project: string | Expression, contact: "c" | "contacts" = "c"): Expression {
  const projectId = typeof project === "string" ? sql`${project}::uuid` : project;
  const data = sql.ref(`${contact}.data`);
  return sql`(case when exists (select 1 ${underWay(projectId)}) then ${data} - ${oldKeysOf(contact, projectId)} else ${data} end)`;
}

/**
 * A condition on the data of contact `c`, which reads this key of it, or what its dots lead to. While that is being deleted it is
 * put to a `c` of its own, which has nothing but the data that is shown; else it stays as it is, and costs what it costs.
 */
export function withShownData(
  condition: RawBuilder<SqlBool>,
  { projectId, keysBeingDeleted }: { projectId: string; keysBeingDeleted: ReadonlySet<string> },
  key: string,
): RawBuilder<SqlBool> {
  const [top = key] = key.split(".");
  if (!keysBeingDeleted.has(key) && !keysBeingDeleted.has(top)) return condition;
  return sql<SqlBool>`(select ${condition} from (select ${shownData(projectId)} as data) c)`;
}

/** Whether something laid over the data of contact `c` sets a field that is being deleted: a change, also to the same value. */
export function setsDeletedKey(added: Expression, projectId: Expression): RawBuilder<SqlBool> {
  return sql<SqlBool>`${added} ?| ${oldKeysOf("c", projectId)}`;
}

/** The keys of a project that are being deleted. */
export async function listKeysBeingDeleted(database: Database, projectId: string): Promise<string[]> {
  const { rows } = await sql<{ key: string }>`
    select distinct j.input ->> 'key' as key ${underWay(sql`${projectId}::uuid`)}`.execute(database);
  return rows.map((row) => row.key);
}
