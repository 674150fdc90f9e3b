// Removes deleted contacts from the recorded changes of imports.
import { sql } from "kysely";
import type { Tx } from "../platform/database/database.ts";

/** Removes deleted contacts from `import_changes`, because the previous values are personal data. */
export async function redactChangesOf(tx: Tx, projectId: string, ids: readonly string[]): Promise<void> {
  await sql`
    with naming as (
      select distinct s.job_id, s.number from import_changes s cross join lateral unnest(s.contact_ids) as u (id)
      where s.project_id = ${projectId} and s.kind = 'CHANGED' and u.id = any(${ids}::uuid[])
    ), touched as (
      select s.job_id, s.number, s.contact_ids, s.befores, s.afters
      from import_changes s join naming n on n.job_id = s.job_id and n.number = s.number
      where s.project_id = ${projectId} order by s.job_id, s.number for update of s
    )
    update import_changes s set contact_ids = k.ids, befores = k.befores, afters = k.afters
    from touched t cross join lateral (
      select coalesce(array_agg(u.id), '{}') as ids, coalesce(array_agg(u.before), '{}') as befores, coalesce(array_agg(u.after), '{}') as afters
      from unnest(t.contact_ids, t.befores, t.afters) as u (id, before, after) where u.id <> all(${ids}::uuid[])
    ) k
    where s.project_id = ${projectId} and s.job_id = t.job_id and s.number = t.number`.execute(tx);
}
