// Contact data without fields that are being deleted, so that all readers see the deletion before the job has finished.
import { sql, type RawBuilder, type SqlBool } from "kysely";
import type { Database } from "../platform/database/database.ts";

/** The kind of job that deletes a field. Its input is `{key}`. */
export const FIELD_KIND = "contacts.delete-field";

type Expression = RawBuilder<unknown>;

/** Running field deletions `j`. The states are literals, so that the index on due jobs applies. */
const runningDeletions = (projectId: Expression) =>
  sql`from jobs j where j.project_id = ${projectId} and j.state in ('waiting', 'active') and j.kind = ${FIELD_KIND}`;

/**
 * Returns the keys of a contact with outdated values. These are keys of a deleted field that was not written again, or only for other
 * contacts. Every write to a contact removes such keys, so a contact changed since the deletion has only new values.
 */
function oldKeysOf(contact: "c" | "contacts", projectId: Expression): Expression {
  return sql`array(
    select j.input ->> 'key' ${runningDeletions(projectId)} and (${sql.ref(`${contact}.updated_at`)} < j.created_at
      or not exists (select 1 from contact_fields f where f.project_id = ${projectId} and f.field = j.input ->> 'key')))`;
}

/**
 * Returns the data of a contact, by default of alias `c`, without fields that are being deleted. With the project as text, the statement
 * checks once for running deletions. With a column it checks for each row.
 */
export function shownData(project: string | Expression, contact: "c" | "contacts" = "c"): Expression {
  const projectId = typeof project === "string" ? sql`${project}::uuid` : project;
  const data = sql.ref(`${contact}.data`);
  return sql`(case when exists (select 1 ${runningDeletions(projectId)}) then ${data} - ${oldKeysOf(contact, projectId)} else ${data} end)`;
}

/**
 * Makes a condition on the data of contact `c` ignore outdated values of this key. While the key, or the top key of its path, is being
 * deleted, the condition runs against a separate `c` with only the visible data. Otherwise it is returned unchanged, at no extra cost.
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

/**
 * Returns a query of the running deletions of some projects: (project_id, deletions). `outdated_keys(deletions, updated_at)` returns what
 * `oldKeysOf` does. Statements on contacts of many projects need this form, because a distributed database accepts no query for each row.
 */
export function runningDeletionsOf(projectIds: Expression): Expression {
  return sql`
    select j.project_id, jsonb_agg(jsonb_build_object(
      'key', j.input ->> 'key', 'since', extract(epoch from j.created_at), 'isUnused', f.field is null)) as deletions
    from jobs j left join contact_fields f on f.project_id = j.project_id and f.field = j.input ->> 'key'
    where j.project_id = any(${projectIds}) and j.state in ('waiting', 'active') and j.kind = ${FIELD_KIND}
    group by j.project_id`;
}

/** Returns the keys of a project that are being deleted. */
export async function listKeysBeingDeleted(database: Database, projectId: string): Promise<string[]> {
  const { rows } = await sql<{ key: string }>`
    select distinct j.input ->> 'key' as key ${runningDeletions(sql`${projectId}::uuid`)}`.execute(database);
  return rows.map((row) => row.key);
}
