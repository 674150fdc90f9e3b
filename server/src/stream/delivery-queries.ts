// Statements that deliver events: on `event_deliveries`, and on the progress of `webhook_endpoints`.
import { EMAIL_RECEIVED } from "@postloft/contract/event-names.ts";
import { sql } from "kysely";
import { plannedOften, type Database, type Tx } from "../platform/database/database.ts";
import type { Row } from "../platform/database/row.ts";
import { newId } from "../platform/ids.ts";
import type { LogRow } from "./log-queries.ts";
import type { FilteredEvent } from "./rules.ts";

export interface EndpointKey {
  projectId: string;
  id: string;
}

export interface BusyEndpoint extends EndpointKey, Row<"webhook_endpoints", "ordered" | "batchSize"> {
  /** The time since the first failure after the last success. Null if the last call succeeded. */
  failingForSeconds: number | null;
  hasNews: boolean;
  /** Until the next delivery may be claimed within the rate of the endpoint. Null if none waits. */
  dueInMs: number | null;
}

/**
 * The time from which the rate of endpoint `e` allows another call. Up to a second's worth of calls can follow each other immediately.
 * Null without a rate or before the first call.
 */
const FREE_AT = sql`e.paced_until + make_interval(secs => 1.0 / e.calls_per_second - 1)`;

/** Returns the enabled endpoints of all projects with their work. Reads a few index entries for each endpoint. */
export async function listBusyEndpoints(database: Database): Promise<BusyEndpoint[]> {
  const { rows } = await sql<BusyEndpoint>`
    select project_id, id, ordered, batch_size, failing_for_seconds, has_news,
      case when due_at is not null then extract(epoch from greatest(due_at, free_at) - now())::float8 * 1000 end as due_in_ms
    from (
      select e.project_id, e.id, e.ordered, e.batch_size, extract(epoch from now() - e.failing_since)::float8 as failing_for_seconds,
        e.position < s.last_number as has_news, ${FREE_AT} as free_at,
        case when e.ordered
          then (select d.due_at from event_deliveries d
            where d.project_id = e.project_id and d.endpoint_id = e.id and d.state = 'waiting' order by d.number limit 1)
          else (select min(d.due_at) from event_deliveries d
            where d.project_id = e.project_id and d.endpoint_id = e.id and d.state = 'waiting')
        end as due_at
      from webhook_endpoints e
      join projects p on p.id = e.project_id and not p.disabled
      join event_streams s on s.project_id = e.project_id
      where e.enabled) as busy
    where has_news or due_at is not null`.execute(database);
  return rows;
}

export interface PreparedRow extends Row<
  "webhook_endpoints",
  "position" | "previous" | "eventTypes" | "tags" | "addresses"
> {
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
    select position, previous, event_types, tags, addresses,
      (select first_number from event_streams where project_id = ${projectId}) as first_number, (
      select count(*)::float8 from (
        select 1 from event_deliveries where project_id = ${projectId} and endpoint_id = ${id} and state = 'waiting' limit ${mostWaiting}
      ) as counted) as waiting
    from webhook_endpoints where project_id = ${projectId} and id = ${id} and enabled for no key update skip locked`.execute(
    tx,
  );
  return rows[0];
}

/** Returns the next events after a number, with what an endpoint filters by. */
export async function listFilteredAfter(
  tx: Tx,
  projectId: string,
  {
    after,
    limit,
    withTags,
    withAddresses,
  }: { after: number; limit: number; withTags: boolean; withAddresses: boolean },
): Promise<FilteredEvent[]> {
  // Reading tags or addresses decompresses the data of every event, so it happens only for a filter by them.
  const tags = withTags
    ? sql`case when jsonb_typeof(data #> '{properties,tags}') = 'array' and data ->> 'emailId' is not null
        then array(select jsonb_array_elements_text(data #> '{properties,tags}')) end`
    : sql`null::text[]`;
  const address = withAddresses
    ? sql`case when type = ${EMAIL_RECEIVED} then data #>> '{properties,address}' end`
    : sql`null::text`;
  const { rows } = await sql<FilteredEvent>`
    select number, type, data is null as is_redacted, ${tags} as tags, ${address} as address from event_log where project_id = ${projectId} and number > ${after} order by number limit ${limit}`.execute(
    tx,
  );
  return rows;
}

/** Adds deliveries and moves the position of their endpoint. Their ids have the order of the events, because lists are sorted by id. */
export async function insertDeliveries(
  tx: Tx,
  { projectId, id }: EndpointKey,
  matches: ReadonlyArray<{ number: number; previous: number }>,
  progress: { position: number; previous: number },
): Promise<void> {
  await sql`
    with added as (
      insert into event_deliveries (project_id, id, endpoint_id, number, previous)
      select ${projectId}, m.id, ${id}, m.number, m.previous
      from unnest(${matches.map(() => newId())}::uuid[], ${matches.map(({ number }) => number)}::bigint[],
        ${matches.map(({ previous }) => previous)}::bigint[]) as m (id, number, previous)
    )
    update webhook_endpoints set position = ${progress.position}, previous = ${progress.previous}
    where project_id = ${projectId} and id = ${id}`.execute(tx);
}

export interface ClaimedDelivery extends Row<"event_deliveries", "id" | "number" | "previous" | "tries"> {
  event: LogRow;
}

export interface Claim {
  claimId: string;
  /** The most calls. An endpoint that takes batches gets one. */
  calls: number;
  leaseSeconds: number;
  /** The most bytes of data in a batch of several events. */
  mostBytes: number;
}

/**
 * Claims due deliveries for calls that the rate of the endpoint allows now. They are under a lease, after which they are due again. An
 * ordered endpoint gets its lowest waiting numbers without a gap. A batch gets smaller with each failure of one of its events, so that an
 * event that the endpoint rejects does not hold up the others.
 */
export async function claimDeliveries(
  database: Database,
  { projectId, id, ordered, batchSize }: EndpointKey & { ordered: boolean; batchSize: number },
  { claimId, calls, leaseSeconds, mostBytes }: Claim,
): Promise<ClaimedDelivery[]> {
  const isBatch = batchSize > 1;
  const most = isBatch ? batchSize : ordered ? 1 : calls;
  const waiting = sql`project_id = ${projectId} and endpoint_id = ${id} and state = 'waiting'`;
  const isInOrder = sql`(gap.number is null or s.number < gap.number)`;
  const fits = sql`s.place = 1 or (s.place <= ${batchSize}::integer >> least(2 * s.tries, 16) and s.bytes <= ${mostBytes})`;
  const { rows } = await sql<Omit<ClaimedDelivery, "event"> & LogRow & { eventId: string }>`
    ${plannedOften} with endpoint as materialized (
      select case when e.calls_per_second is null then ${calls}::integer
        else floor((1 - extract(epoch from greatest(e.paced_until, now()) - now())) * e.calls_per_second)::integer end as calls
      from webhook_endpoints e where e.project_id = ${projectId} and e.id = ${id} for no key update
    ), due as materialized (
      select id, number, tries from event_deliveries where ${waiting} and due_at <= now()
      order by ${ordered ? sql`number` : sql`due_at, number`}
      limit (select case when calls < 1 then 0 when ${isBatch} then ${most} else least(calls, ${most}) end from endpoint)
      for update skip locked
    ), sized as (
      select d.id, d.number, row_number() over w as place, max(d.tries) over w as tries,
        ${isBatch ? sql`sum(coalesce(octet_length(l.data::text), 0)) over w` : sql`0`} as bytes
      from due d join event_log l on l.project_id = ${projectId} and l.number = d.number
      window w as (order by d.number)
    ), gap as materialized (
      select min(number) as number from event_deliveries where ${waiting} and ${ordered} and id not in (select id from due)
    ), chosen as materialized (
      select s.id from sized s, gap where ${isBatch ? sql`(${fits})` : sql`true`} and ${isInOrder}
    ), paced as (
      update webhook_endpoints e set paced_until = greatest(e.paced_until, now())
        + make_interval(secs => (select ${isBatch ? sql`least(count(*), 1)` : sql`count(*)`} from chosen)::float8 / e.calls_per_second)
      where e.project_id = ${projectId} and e.id = ${id} and e.calls_per_second is not null and exists (select 1 from chosen)
    ), claimed as (
      update event_deliveries set claim_id = ${claimId}, due_at = now() + make_interval(secs => ${leaseSeconds})
      where project_id = ${projectId} and id = any(array(select id from chosen))
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
  /** The deliveries of the call. */
  ids: readonly string[];
  claimId: string;
  waitSeconds: number;
  status: number | null;
  /** Null for several events, because the response may be about a contact of another one. */
  body: string | null;
  error: string | null;
  durationMs: number;
}

export type DeliveryState = "waiting" | "done" | "failed";

/**
 * Records an attempt with a valid claim, and since when its endpoint fails. Returns the new states, none without a valid claim. A
 * delivery fails for good only if the endpoint accepted another one during its retries. Otherwise it waits until the endpoint works or is
 * enabled again. Locks the event, because a response must not outlive a contact that is deleted during the call.
 */
export async function updateAttempt(
  tx: Tx,
  result: DeliveryResult,
  retryDays: number,
): Promise<DeliveryState[]> {
  const isDone = result.error === null;
  const ids = sql`project_id = ${result.projectId} and id = any(${result.ids}::uuid[])`;
  const next = sql`case
    when ${isDone}::boolean then 'done'
    when d.first_failed_at < clock.retried_since and (endpoint.failing_since is null or endpoint.failing_since > d.first_failed_at) then 'failed'
    else 'waiting' end`;
  const isWaiting = sql`${next} = 'waiting'`;
  // The rows to lock: none without a response to store.
  const redactable = result.body === null ? sql`false` : ids;
  const { rows } = await sql<{ state: DeliveryState }>`
    with clock as materialized (select now() as now, now() - make_interval(days => ${retryDays}::integer) as retried_since),
    endpoint as materialized (
      select failing_since from webhook_endpoints
      where project_id = ${result.projectId} and id = ${result.endpointId} for key share
    ), redacted as materialized (
      select l.data is null as is_redacted from event_log l
      where l.project_id = ${result.projectId} and l.number = any(array(
        select number from event_deliveries where ${redactable}))
      for share
    ), marked as (
      update webhook_endpoints w set failing_since = case when ${isDone}::boolean then null else clock.now end
      from clock
      where w.project_id = ${result.projectId} and w.id = ${result.endpointId} and ${isDone}::boolean = (w.failing_since is not null)
    )
    update event_deliveries d set state = ${next}, tries = d.tries + 1, claim_id = null,
      due_at = case when ${isWaiting} then clock.now + make_interval(secs => ${result.waitSeconds}) end,
      ended_at = case when ${isWaiting} then null else clock.now end,
      first_failed_at = coalesce(d.first_failed_at, case when ${isDone}::boolean then null else clock.now end),
      response_status = ${result.status}, error = ${result.error}, duration_ms = ${result.durationMs},
      response_body = case when exists (select 1 from redacted where not is_redacted) then ${result.body}::text end
    from clock, endpoint
    where ${ids} and d.claim_id = ${result.claimId} and d.state = 'waiting'
    returning d.state`.execute(tx);
  return rows.map(({ state }) => state);
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
