// Statements that write `import_changes` while imports run. undo-queries.ts reads the rows.
import { sql, type RawBuilder } from "kysely";
import type { Tx } from "../../platform/database/database.ts";
import type { JobKey } from "../../platform/background/jobs.ts";

/** The number of the next row of an import. Safe because only one step runs at a time. */
const nextNumber = ({ projectId, id }: JobKey) => sql`
  (select coalesce(max(number), 0) + 1 from import_changes where project_id = ${projectId} and job_id = ${id})`;

/** Data of so few bytes is kept as a whole, because picking keys costs more than the bytes. */
const SMALL_BYTES = 1_000;

/** Keeps the new values and, of the same keys, the previous ones; `patched` is a query of (id, old, added, removed). */
export const insertDataChanges = (job: JobKey, patched: RawBuilder<unknown>) => sql`
  insert into import_changes (project_id, job_id, number, kind, contact_ids, befores, afters)
  select ${job.projectId}, ${job.id}, ${nextNumber(job)}, 'CHANGED', array_agg(p.id),
    -- With nothing laid over it, because the size of a stored value is that after compression.
    array_agg(case when pg_column_size(p.old || '{}') <= ${SMALL_BYTES} then p.old else (
      select coalesce(jsonb_object_agg(k.key, k.value), '{}') from jsonb_each(p.old) k
      where p.added ? k.key or p.removed ? k.key) end),
    array_agg(case when p.removed = '[]' then p.added else p.added || (
      select jsonb_object_agg(k.key, null) from jsonb_array_elements_text(p.removed) as k (key)) end)
  from (${patched}) p having count(*) > 0`;

/** Keeps which contacts an import subscribed or unsubscribed, with the entry of the consent log. */
export async function insertSubscriptionChanges(
  tx: Tx,
  job: JobKey,
  flipped: ReadonlyArray<{ id: string; subscribed: boolean; changeId: string }>,
): Promise<void> {
  const { projectId, id } = job;
  await sql`
    insert into import_changes (project_id, job_id, number, kind, contact_ids, was_subscribed, consent_ids)
    select ${projectId}::uuid, ${id}::uuid, ${nextNumber(job)}, 'SUBSCRIPTION', ${flipped.map((one) => one.id)}::uuid[],
      ${flipped.map(({ subscribed }) => !subscribed)}::boolean[], ${flipped.map(({ changeId }) => changeId)}::uuid[]`.execute(
    tx,
  );
}

/** Records the contacts that an import created. */
export async function insertCreated(tx: Tx, job: JobKey, ids: readonly string[]): Promise<void> {
  const { projectId, id } = job;
  await sql`
    insert into import_changes (project_id, job_id, number, kind, contact_ids)
    select ${projectId}::uuid, ${id}::uuid, ${nextNumber(job)}, 'CREATED', ${`{${ids.join(",")}}`}::uuid[]`.execute(
    tx,
  );
}

/** Records the contacts that an import added to a segment. */
export async function insertJoined(
  tx: Tx,
  job: JobKey,
  segmentId: string,
  ids: readonly string[],
): Promise<void> {
  const { projectId, id } = job;
  await sql`
    insert into import_changes (project_id, job_id, number, kind, contact_ids, segment_id)
    select ${projectId}::uuid, ${id}::uuid, ${nextNumber(job)}, 'MEMBER', ${ids}::uuid[], ${segmentId}::uuid`.execute(
    tx,
  );
}
