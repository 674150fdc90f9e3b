// Statements on `domain_record_changes`.
import { sql } from "kysely";
import type { Tx } from "../platform/database/database.ts";
import type { DomainKey } from "./queries.ts";
import type { RecordChange } from "./record-changes.ts";

/** Per record. */
const KEPT_CHANGES = 50;

/** Stores record changes and keeps only the latest of each record, because a flapping record would fill the table. */
export async function insertRecordChanges(
  tx: Tx,
  { projectId, id }: DomainKey,
  changes: readonly RecordChange[],
): Promise<void> {
  if (changes.length === 0) return;
  const column = <Name extends keyof RecordChange>(name: Name) => changes.map((change) => change[name]);
  await sql`
    insert into domain_record_changes (project_id, domain_id, purpose, name, status, found)
    select ${projectId}::uuid, ${id}::uuid, * from unnest(${column("purpose")}::text[], ${column("name")}::text[],
      ${column("status")}::text[], ${column("found")}::text[])
    on conflict do nothing`.execute(tx);
  await sql`
    delete from domain_record_changes c using (
      select purpose, name, changed_at, row_number() over (partition by purpose, name order by changed_at desc) as place
      from domain_record_changes where project_id = ${projectId} and domain_id = ${id}
    ) old
    where c.project_id = ${projectId} and c.domain_id = ${id} and c.purpose = old.purpose and c.name = old.name
      and c.changed_at = old.changed_at and old.place > ${KEPT_CHANGES}`.execute(tx);
}
