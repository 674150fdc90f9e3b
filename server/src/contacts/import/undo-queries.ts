// Reads `import_changes` and undoes the listed changes. The preview counts and the undo use the same conditions.
import { sql, type RawBuilder } from "kysely";
import { LIMITS } from "@postloft/contract/limits/limits.ts";
import type { UndoCounts } from "@postloft/contract/import-undo.ts";
import { onlyProject, projectOf } from "../../platform/database/cluster.ts";
import { plannedEachTime, type Database, type Tx } from "../../platform/database/database.ts";
import type { Row } from "../../platform/database/row.ts";
import type { JobKey } from "../../platform/background/jobs.ts";
import { shownData } from "../shown-data-queries.ts";

/** Builds a query for the suppression reason of an address, without a row if it is not suppressed. Provided by a later folder. */
export type SuppressionOf = (
  projectId: RawBuilder<unknown>,
  email: RawBuilder<unknown>,
) => RawBuilder<unknown>;

type Kind = "CREATED" | "CHANGED" | "SUBSCRIPTION" | "MEMBER";

const rowsOf = ({ projectId, id }: JobKey, kind: Kind) => sql`
  from import_changes s
  cross join lateral unnest(s.contact_ids, s.befores, s.afters, s.was_subscribed, s.consent_ids)
    as u (id, before, after, was, consent_id)
  where s.project_id = ${projectId} and s.job_id = ${id} and s.kind = ${kind}`;

/** The value that a record says a key `k` had before; null for none. */
const valueOf = (before: string) => sql`coalesce(${sql.ref(before)} -> k.key, 'null')`;

const createdIds = (job: JobKey) => sql`select u.id ${rowsOf(job, "CREATED")}`;

/**
 * Merges the data changes of an import into one per contact, with the first previous and the last written value of each key. Excludes
 * contacts created by the import. Returned as CTEs, the last of which is `changed`.
 */
const dataChanges = (job: JobKey) => sql`
  mention as materialized (select s.number, u.id, u.before, u.after ${rowsOf(job, "CHANGED")}),
  created as materialized (${createdIds(job)}),
  repeated as materialized (select id from mention group by id having count(*) > 1),
  merged as (
    select m.id, jsonb_object_agg(k.key, ${valueOf("m.before")} order by m.number desc) as before,
      jsonb_object_agg(k.key, k.value order by m.number) as after
    from mention m join repeated r on r.id = m.id cross join lateral jsonb_each(m.after) k
    where ${valueOf("m.before")} <> k.value
    group by m.id
  ),
  changed as (
    select id, before, after from (
      select id, before, after from mention where id not in (select id from repeated)
      union all select id, before, after from merged
    ) c where id not in (select id from created)
  )`;

/** Merges the subscription changes in the same way, with `turned` as the last CTE. */
const subscriptionChanges = (job: JobKey) => sql`
  turn as materialized (select s.number, u.id, u.was, u.consent_id ${rowsOf(job, "SUBSCRIPTION")}),
  turned as materialized (
    select id, (array_agg(was order by number))[1] as was, (array_agg(consent_id order by number desc))[1] as consent_id
    from turn where id not in (${createdIds(job)}) group by id
  )`;

/**
 * Compares `source`, a query of (id, before, after), with the current contacts. Returns the data to write, whether a value is restored, and
 * whether one is kept. A key removed by the import is restored only while its field exists. Data that would exceed a limit stays unchanged.
 */
const comparedData = (projectId: string, source: RawBuilder<unknown>) => sql`
  select r.id, r.data, r.same > 0 and r.fits as is_restored, r.differing > 0 or (r.same > 0 and not r.fits) as is_kept
  from (
    select d.id, d.data, d.same, d.differing,
      pg_column_size(d.data) <= ${LIMITS.dataBytes.value} and (pg_column_size(d.data) < 16000
        or (select count(*) from jsonb_object_keys(d.data)) <= ${LIMITS.contactKeys.value}) as fits
    from (
      select c.id, (c.data || k.put) - k.dropped as data, k.same, k.differing
      from (${source}) e
      join (select c.id, ${shownData(projectId)} as data from contacts c where c.project_id = ${projectId}) c on c.id = e.id
      cross join lateral (
        select coalesce(jsonb_object_agg(v.key, v.before) filter (where v.is_same and v.before <> 'null'), '{}') as put,
          coalesce(array_agg(v.key) filter (where v.is_same and v.before = 'null'), '{}') as dropped,
          count(*) filter (where v.is_same) as same, count(*) filter (where not v.is_same) as differing
        from (
          select k.key, ${valueOf("e.before")} as before, ${valueOf("c.data")} = k.value and (k.value <> 'null' or exists (
            select 1 from contact_fields f where f.project_id = ${projectId} and f.field = k.key)) as is_same
          from jsonb_each(e.after) k where ${valueOf("e.before")} <> k.value
        ) v
      ) k
    ) d
  ) r`;

/**
 * Compares `source`, a query of (id, was, consent_id), with the current contacts. A subscription is restored only while the import's entry
 * is the newest in the consent log. Suppressed addresses are never resubscribed.
 */
const comparedSubscriptions = (
  projectId: string,
  source: RawBuilder<unknown>,
  suppressionOf: SuppressionOf,
) => sql`
  select t.id, t.was, t.is_restored, not t.is_restored as is_kept
  from (
    select c.id, e.was, n.id = e.consent_id and (not e.was or not exists (${suppressionOf(sql`c.project_id`, sql`c.email`)})) as is_restored
    from (${source}) e
    join contacts c on c.project_id = ${projectId} and c.id = e.id and c.subscribed <> e.was
    cross join lateral (
      select l.id from consent_changes l where l.project_id = c.project_id and l.contact_id = c.id
      order by l.created_at desc, l.id desc limit 1
    ) n
  ) t`;

/**
 * Returns the existing contacts of `source`, a query of ids, and flags the ones with emails and with other activity.
 * @param only the project on a cluster. Null otherwise: then the project is a column, because several indexes could find the rows
 *   (docs/decisions/0027-fresh-query-plans.md)
 */
const comparedCreated = (job: JobKey, source: RawBuilder<unknown>, only: string | null) => sql`
  select c.id, exists (
      select 1 from emails m where m.project_id = ${projectOf(sql`c.project_id`, only)} and m.contact_id = c.id and m.sent_at is not null
    ) as has_email,
    -- A later step of the import may have changed the contact again.
    (c.updated_at <> c.created_at and c.updated_at not in (
      select s.created_at from import_changes s where s.project_id = ${job.projectId} and s.job_id = ${job.id}))
    or exists (
      select 1 from events e where e.project_id = ${projectOf(sql`c.project_id`, only)} and e.contact_id = c.id and not starts_with(e.name, 'segment.')
    ) as is_active
  from (${source}) i
  join contacts c on c.project_id = ${job.projectId} and c.id = i.id`;

/** Counts the effects of an undo now. Memberships are counted by their own folder. */
export async function countUndo(
  database: Database,
  job: JobKey,
  suppressionOf: SuppressionOf,
): Promise<Omit<UndoCounts, "segmentRemovedCount">> {
  const { projectId } = job;
  const only = await onlyProject(database, projectId);
  const { rows } = await sql<Omit<UndoCounts, "segmentRemovedCount">>`
    ${plannedEachTime} with ${dataChanges(job)}, ${subscriptionChanges(job)},
    compared as materialized (${comparedData(projectId, sql`select id, before, after from changed`)}),
    turning as materialized (${comparedSubscriptions(projectId, sql`select id, was, consent_id from turned`, suppressionOf)}),
    leaving as materialized (${comparedCreated(job, sql`select id from created`, only)})
    select (select count(*) from leaving) as removed_count,
      (select count(*) from leaving where has_email) as removed_with_email_count,
      (select count(*) from leaving where is_active) as removed_with_activity_count,
      (select count(*) from compared where is_restored) as restored_count,
      (select count(*) from compared where is_kept) as kept_count,
      (select count(*) from turning where is_restored) as subscription_restored_count,
      (select count(*) from turning where is_kept) as subscription_kept_count`.execute(database);
  const [counts] = rows;
  if (counts === undefined) throw new Error("A counting statement returned no rows.");
  return counts;
}

const renumbered = ({ projectId, id }: JobKey) => sql`
  (select coalesce(max(number), 0) from import_changes where project_id = ${projectId} and job_id = ${id})`;

/** Maximum number of contacts per merged row. */
const MERGED_A_ROW = 1_000;

/**
 * Leaves one entry per contact and kind, consistent with `countUndo`. Entries of contacts changed by several steps are merged, and entries
 * of contacts created by the import are dropped.
 */
export async function mergeChanges(tx: Tx, job: JobKey): Promise<void> {
  const { projectId, id } = job;
  const replaced = (kind: Kind, source: RawBuilder<unknown>) => sql`
    update import_changes s set contact_ids = k.ids, befores = k.befores, afters = k.afters,
      was_subscribed = k.was, consent_ids = k.consents
    from import_changes r cross join lateral (
      select coalesce(array_agg(u.id), '{}') as ids, array_agg(u.before) as befores, array_agg(u.after) as afters,
        array_agg(u.was) as was, array_agg(u.consent_id) as consents
      from unnest(r.contact_ids, r.befores, r.afters, r.was_subscribed, r.consent_ids) as u (id, before, after, was, consent_id)
      where u.id not in (${source})
    ) k
    where s.project_id = ${projectId} and s.job_id = ${id} and s.kind = ${kind} and r.project_id = s.project_id and r.job_id = s.job_id
      and r.number = s.number and cardinality(k.ids) < cardinality(r.contact_ids)`;
  await sql`
    ${plannedEachTime} with ${dataChanges(job)},
    outdated as materialized (select id from repeated union select id from mention where id in (select id from created)),
    stripped as (${replaced("CHANGED", sql`select id from outdated`)})
    insert into import_changes (project_id, job_id, number, kind, contact_ids, befores, afters)
    select ${projectId}, ${id}, ${renumbered(job)} + m.part, 'CHANGED', array_agg(m.id), array_agg(m.before), array_agg(m.after)
    from (
      select c.*, (row_number() over (order by c.id) + ${MERGED_A_ROW - 1}) / ${MERGED_A_ROW} as part
      from changed c where c.id in (select id from repeated)
    ) m group by m.part`.execute(tx);
  await sql`
    ${plannedEachTime} with ${subscriptionChanges(job)},
    repeated as materialized (select id from turn group by id having count(*) > 1),
    outdated as materialized (
      select id from repeated union select id from turn where id not in (select id from turned)),
    stripped as (${replaced("SUBSCRIPTION", sql`select id from outdated`)})
    insert into import_changes (project_id, job_id, number, kind, contact_ids, was_subscribed, consent_ids)
    select ${projectId}, ${id}, ${renumbered(job)} + m.part, 'SUBSCRIPTION', array_agg(m.id), array_agg(m.was), array_agg(m.consent_id)
    from (
      select t.*, (row_number() over (order by t.id) + ${MERGED_A_ROW - 1}) / ${MERGED_A_ROW} as part
      from turned t where t.id in (select id from repeated)
    ) m group by m.part`.execute(tx);
}

export interface ChangeRow extends Row<"import_changes", "number" | "contactIds" | "segmentId"> {
  kind: Kind;
}

/** Returns the first remaining row of an import, or undefined if all rows are undone. */
export async function findFirstChange(tx: Tx, { projectId, id }: JobKey): Promise<ChangeRow | undefined> {
  const { rows } = await sql<ChangeRow>`
    select number, kind, contact_ids, segment_id from import_changes
    where project_id = ${projectId} and job_id = ${id} order by number limit 1`.execute(tx);
  return rows[0];
}

export async function countChangeRows(tx: Tx, { projectId, id }: JobKey): Promise<number> {
  const { rows } = await sql<{ count: number }>`
    select count(*) as count from import_changes where project_id = ${projectId} and job_id = ${id}`.execute(
    tx,
  );
  return rows[0]?.count ?? 0;
}

export async function deleteChangeRow(tx: Tx, { projectId, id }: JobKey, number: number): Promise<void> {
  await sql`delete from import_changes where project_id = ${projectId} and job_id = ${id} and number = ${number}`.execute(
    tx,
  );
}

const entriesOf = ({ projectId, id }: JobKey, number: number) => sql`
  select u.id, u.before, u.after, u.was, u.consent_id from import_changes s
  cross join lateral unnest(s.contact_ids, s.befores, s.afters, s.was_subscribed, s.consent_ids)
    as u (id, before, after, was, consent_id)
  where s.project_id = ${projectId} and s.job_id = ${id} and s.number = ${number}`;

export async function countCreated(tx: Tx, job: JobKey, number: number) {
  const only = await onlyProject(tx, job.projectId);
  const { rows } = await sql<{ hasEmail: number; isActive: number }>`
    ${plannedEachTime} select count(*) filter (where has_email) as has_email, count(*) filter (where is_active) as is_active
    from (${comparedCreated(job, entriesOf(job, number), only)}) c`.execute(tx);
  return rows[0] ?? { hasEmail: 0, isActive: 0 };
}

/** Restores the data of locked contacts. Returns the changed ids and the number of contacts that keep a value. */
export async function restoreData(
  tx: Tx,
  job: JobKey,
  number: number,
): Promise<{ restored: string[]; kept: number }> {
  const { projectId } = job;
  const { rows } = await sql<{ restored: string[]; kept: number }>`
    ${plannedEachTime} with compared as materialized (${comparedData(projectId, entriesOf(job, number))}),
    written as (
      update contacts c set data = r.data, updated_at = now() from compared r
      where c.project_id = ${projectId} and c.id = r.id and r.is_restored returning c.id
    )
    select coalesce((select array_agg(id) from written), '{}') as restored,
      (select count(*) from compared where is_kept) as kept`.execute(tx);
  return rows[0] ?? { restored: [], kept: 0 };
}

/** Returns the subscriptions to restore for locked contacts, and the number of the ones to keep. */
export async function findTurns(
  tx: Tx,
  job: JobKey,
  number: number,
  suppressionOf: SuppressionOf,
): Promise<{ turns: Array<{ id: string; subscribed: boolean }>; kept: number }> {
  const { rows } = await sql<{ id: string; was: boolean; isRestored: boolean }>`
    ${plannedEachTime} select id, was, is_restored
    from (${comparedSubscriptions(job.projectId, entriesOf(job, number), suppressionOf)}) t`.execute(tx);
  const turns = rows.flatMap(({ id, was, isRestored }) => (isRestored ? [{ id, subscribed: was }] : []));
  return { turns, kept: rows.length - turns.length };
}
