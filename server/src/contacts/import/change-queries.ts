// Statements that write `import_changes` while imports run. undo-queries.ts reads the rows.
import { sql } from "kysely";
import { plannedOften, type Tx } from "../../platform/database/database.ts";
import type { JobKey } from "../../platform/background/jobs.ts";
import { shownData } from "../shown-data-queries.ts";

/** The number of the next row of an import: one step runs at a time. */
const nextNumber = ({ projectId, id }: JobKey) => sql`
  (select coalesce(max(number), 0) + 1 from import_changes where project_id = ${projectId} and job_id = ${id})`;

/**
 * Locks the contacts of these addresses and returns them. `import_changes` can only be exact if nobody changes a contact between its
 * old values being read and its new values being written.
 */
export async function lockContactsByEmail(
  tx: Tx,
  projectId: string,
  emails: readonly string[],
): Promise<Array<{ id: string; email: string; subscribed: boolean }>> {
  const { rows } = await sql<{ id: string; email: string; subscribed: boolean }>`
    ${plannedOften} select id, email, subscribed from contacts
    where project_id = ${projectId} and email = any(${emails}::text[])
    order by email for no key update`.execute(tx);
  return rows;
}

/** Values that an import is about to lay over the data of a contact that is locked. */
export interface PlannedChange {
  id: string;
  added: Readonly<Record<string, unknown>>;
  removed: readonly string[];
}

/** Keeps the previous values of the keys that really change, with the new ones. Nothing passes through this process. */
export async function insertDataChanges(
  tx: Tx,
  job: JobKey,
  changes: readonly PlannedChange[],
): Promise<void> {
  const { projectId, id } = job;
  await sql`
    ${plannedOften} insert into import_changes (project_id, job_id, number, kind, contact_ids, befores, afters)
    select ${projectId}, ${id}, ${nextNumber(job)}, 'CHANGED', array_agg(d.id), array_agg(d.before), array_agg(d.after)
    from (
      select c.id, k.before, k.after
      from jsonb_to_recordset(${JSON.stringify(changes)}::jsonb) as i (id uuid, added jsonb, removed jsonb)
      join (
        select c.id, ${shownData(projectId)} as data from contacts c
        where c.project_id = ${projectId} and c.id = any(${changes.map((change) => change.id)}::uuid[])
      ) c on c.id = i.id
      cross join lateral (
        select jsonb_object_agg(k.key, coalesce(c.data -> k.key, 'null')) as before, jsonb_object_agg(k.key, k.value) as after
        from (
          select key, value from jsonb_each(i.added)
          union all select key, 'null'::jsonb from jsonb_array_elements_text(i.removed) as r (key)
        ) k
        where coalesce(c.data -> k.key, 'null') <> k.value
      ) k
      where k.after is not null
    ) d having count(*) > 0`.execute(tx);
}

/** Keeps which of these contacts are now subscribed where they were not, or the other way round, with the entry of the consent log. */
export async function insertSubscriptionChanges(
  tx: Tx,
  job: JobKey,
  before: ReadonlyArray<{ id: string; subscribed: boolean }>,
): Promise<void> {
  const { projectId, id } = job;
  await sql`
    ${plannedOften} insert into import_changes (project_id, job_id, number, kind, contact_ids, was_subscribed, consent_ids)
    select ${projectId}, ${id}, ${nextNumber(job)}, 'SUBSCRIPTION', array_agg(c.id), array_agg(i.was), array_agg(n.id)
    from unnest(${before.map((one) => one.id)}::uuid[], ${before.map((one) => one.subscribed)}::boolean[]) as i (id, was)
    join contacts c on c.project_id = ${projectId} and c.id = i.id and c.subscribed <> i.was
    cross join lateral (
      select l.id from consent_changes l where l.project_id = ${projectId} and l.contact_id = c.id
      order by l.created_at desc, l.id desc limit 1
    ) n
    having count(*) > 0`.execute(tx);
}

/** Keeps which contacts an import created. */
export async function insertCreated(tx: Tx, job: JobKey, ids: readonly string[]): Promise<void> {
  const { projectId, id } = job;
  await sql`
    insert into import_changes (project_id, job_id, number, kind, contact_ids)
    values (${projectId}, ${id}, ${nextNumber(job)}, 'CREATED', ${ids}::uuid[])`.execute(tx);
}

/** Keeps which contacts an import added to a segment. */
export async function insertJoined(
  tx: Tx,
  job: JobKey,
  segmentId: string,
  ids: readonly string[],
): Promise<void> {
  const { projectId, id } = job;
  await sql`
    insert into import_changes (project_id, job_id, number, kind, contact_ids, segment_id)
    values (${projectId}, ${id}, ${nextNumber(job)}, 'MEMBER', ${ids}::uuid[], ${segmentId})`.execute(tx);
}
