// Statements that deliver events: on `event_deliveries`, and on the progress of `webhook_endpoints`.
import { sql } from "kysely";
import { plannedOften, type Database, type Tx } from "../platform/database/database.ts";
import type { Row } from "../platform/database/row.ts";
import type { LogRow } from "./log-queries.ts";

export interface EndpointKey {
  projectId: string;
  id: string;
}

export interface BusyEndpoint extends EndpointKey, Row<"webhook_endpoints", "ordered"> {
  isFailing: boolean;
  hasNews: boolean;
  /** Until the next delivery may be claimed. Null if none waits. */
  dueInMs: number | null;
}

/** Returns the enabled endpoints of all projects with their work. Reads a few index entries for each endpoint. */
export async function listBusyEndpoints(database: Database): Promise<BusyEndpoint[]> {
  const { rows } = await sql<BusyEndpoint>`
    with clock as materialized (select now() as now)
    select * from (
      select e.project_id, e.id, e.ordered, e.failing_since is not null as is_failing, e.position < s.last_number as has_news,
        extract(epoch from case when e.ordered
          then (select d.due_at from event_deliveries d
            where d.project_id = e.project_id and d.endpoint_id = e.id and d.state = 'waiting' order by d.number limit 1)
          else (select min(d.due_at) from event_deliveries d
            where d.project_id = e.project_id and d.endpoint_id = e.id and d.state = 'waiting')
        end - clock.now)::float8 * 1000 as due_in_ms
      from clock, webhook_endpoints e
      join projects p on p.id = e.project_id and not p.disabled
      join event_streams s on s.project_id = e.project_id
      where e.enabled) as busy
    where has_news or due_in_ms is not null`.execute(database);
  return rows;
}

export interface PreparedRow extends Row<"webhook_endpoints", "position" | "previous" | "eventTypes"> {
  waiting: number;
  /** The first event of the project that has not been deleted by age. */
  firstNumber: number;
}

/** Locks an endpoint to prepare deliveries. Returns undefined if it is disabled or another process has locked it. */
export async function lockEndpointProgress(
  tx: Tx,
  { projectId, id }: EndpointKey,
  mostWaiting: number,
): Promise<PreparedRow | undefined> {
  const { rows } = await sql<PreparedRow>`
    select position, previous, event_types,
      (select first_number from event_streams where project_id = ${projectId}) as first_number, (
      select count(*)::float8 from (
        select 1 from event_deliveries where project_id = ${projectId} and endpoint_id = ${id} and state = 'waiting' limit ${mostWaiting}
      ) as counted) as waiting
    from webhook_endpoints where project_id = ${projectId} and id = ${id} and enabled for no key update skip locked`.execute(
    tx,
  );
  return rows[0];
}

/** Returns the next events after a number with their types. */
export async function listTypesAfter(tx: Tx, projectId: string, after: number, limit: number) {
  return tx
    .selectFrom("event_log")
    .select(["number", "type"])
    .where("projectId", "=", projectId)
    .where("number", ">", after)
    .orderBy("number")
    .limit(limit)
    .execute();
}

/** Adds deliveries and moves the position of their endpoint. */
export async function insertDeliveries(
  tx: Tx,
  { projectId, id }: EndpointKey,
  matches: ReadonlyArray<{ number: number; previous: number }>,
  progress: { position: number; previous: number },
): Promise<void> {
  await sql`
    with added as (
      insert into event_deliveries (project_id, id, endpoint_id, number, previous)
      select ${projectId}, new_id(), ${id}, m.number, m.previous
      from unnest(${matches.map(({ number }) => number)}::bigint[], ${matches.map(({ previous }) => previous)}::bigint[])
        as m (number, previous)
    )
    update webhook_endpoints set position = ${progress.position}, previous = ${progress.previous}
    where project_id = ${projectId} and id = ${id}`.execute(tx);
}

export interface ClaimedDelivery extends Row<"event_deliveries", "id" | "number" | "previous" | "tries"> {
  event: LogRow;
}

/** Claims due deliveries under a lease, after which they are due again. An ordered endpoint gets only its lowest waiting number. */
export async function claimDeliveries(
  database: Database,
  { projectId, id, ordered }: EndpointKey & { ordered: boolean },
  claim: { claimId: string; limit: number; leaseSeconds: number },
): Promise<ClaimedDelivery[]> {
  const waiting = sql`project_id = ${projectId} and endpoint_id = ${id} and state = 'waiting'`;
  const chosen = ordered
    ? sql`${waiting} and due_at <= now() and number = (select min(number) from event_deliveries where ${waiting})`
    : sql`${waiting} and due_at <= now()`;
  const { rows } = await sql<Omit<ClaimedDelivery, "event"> & LogRow & { eventId: string }>`
    ${plannedOften} with due as materialized (
      select id from event_deliveries where ${chosen} order by due_at, number limit ${claim.limit} for update skip locked
    ), claimed as (
      update event_deliveries set claim_id = ${claim.claimId}, due_at = now() + make_interval(secs => ${claim.leaseSeconds})
      where project_id = ${projectId} and id = any(array(select id from due))
      returning id, number, previous, tries
    )
    select c.id, c.number, c.previous, c.tries, l.id as event_id, l.type, l.data, l.created_at
    from claimed c join event_log l on l.project_id = ${projectId} and l.number = c.number
    order by c.number`.execute(database);
  return rows.map(({ eventId, type, data, createdAt, ...delivery }) => ({
    ...delivery,
    event: { id: eventId, number: delivery.number, type, data, createdAt },
  }));
}

/** The result of an attempt. */
export interface DeliveryResult {
  projectId: string;
  endpointId: string;
  id: string;
  claimId: string;
  waitSeconds: number;
  status: number | null;
  body: string | null;
  error: string | null;
  durationMs: number;
}

export type DeliveryState = "waiting" | "done" | "failed";

/**
 * Records an attempt with a valid claim, and since when its endpoint fails. Returns the new state, or undefined without a valid claim. A
 * delivery fails for good only if the endpoint accepted another one during its retries. Otherwise it waits until the endpoint works or is
 * enabled again. Locks the event, because a response must not outlive a contact that is deleted during the call.
 */
export async function updateAttempt(
  tx: Tx,
  result: DeliveryResult,
  retryDays: number,
): Promise<DeliveryState | undefined> {
  const isDone = result.error === null;
  const { rows } = await sql<{ state: DeliveryState }>`
    with clock as materialized (select now() as now, now() - make_interval(days => ${retryDays}::integer) as retried_since),
    ended as materialized (
      select d.id, l.data is null as is_redacted, case
        when ${isDone}::boolean then 'done'
        when d.first_failed_at < clock.retried_since and (e.failing_since is null or e.failing_since > d.first_failed_at) then 'failed'
        else 'waiting' end as state
      from clock, event_deliveries d
      join webhook_endpoints e on e.project_id = d.project_id and e.id = d.endpoint_id
      join event_log l on l.project_id = d.project_id and l.number = d.number
      where d.project_id = ${result.projectId} and d.id = ${result.id}
      for key share of e for share of l
    ), marked as (
      update webhook_endpoints w set failing_since = case when ${isDone}::boolean then null else clock.now end
      from clock, ended
      where w.project_id = ${result.projectId} and w.id = ${result.endpointId} and ${isDone}::boolean = (w.failing_since is not null)
    )
    update event_deliveries d set state = ended.state, tries = d.tries + 1, claim_id = null,
      due_at = case when ended.state = 'waiting' then clock.now + make_interval(secs => ${result.waitSeconds}) end,
      ended_at = case when ended.state = 'waiting' then null else clock.now end,
      first_failed_at = coalesce(d.first_failed_at, case when ${isDone}::boolean then null else clock.now end),
      response_status = ${result.status}, response_body = case when not ended.is_redacted then ${result.body}::text end, error = ${result.error}, duration_ms = ${result.durationMs}
    from clock, ended
    where d.project_id = ${result.projectId} and d.id = ended.id and d.claim_id = ${result.claimId} and d.state = 'waiting'
    returning d.state`.execute(tx);
  return rows[0]?.state;
}

/** Disables the endpoint if it has failed for too long. Returns its URL if it is disabled now. */
export async function updateToDisabled(
  tx: Tx,
  { projectId, id }: EndpointKey,
  { days, reason }: { days: number; reason: string },
): Promise<string | undefined> {
  const { rows } = await sql<{ url: string }>`
    update webhook_endpoints set enabled = false, disabled_reason = ${reason}, updated_at = now()
    where project_id = ${projectId} and id = ${id} and enabled and failing_since < now() - make_interval(days => ${days}::integer)
    returning url`.execute(tx);
  return rows[0]?.url;
}
