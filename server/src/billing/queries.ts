// Queries on `billing_customers` and `stripe_events`.
import { sql } from "kysely";
import type { Database, Tx } from "../platform/database/database.ts";
import type { Row } from "../platform/database/row.ts";
import { notify } from "../platform/notify.ts";
import type { Subscription } from "./rules.ts";

export type CustomerRow = Row<"billing_customers", (typeof SHOWN)[number]>;

const SHOWN = ["projectId", "customerId", "subscriptionId", "subscriptionStatus", "version"] as const;

export async function findCustomer(database: Database, projectId: string): Promise<CustomerRow | undefined> {
  return database
    .selectFrom("billing_customers")
    .select(SHOWN)
    .where("projectId", "=", projectId)
    .executeTakeFirst();
}

export async function findProjectOfCustomer(
  database: Database,
  customerId: string,
): Promise<CustomerRow | undefined> {
  return database
    .selectFrom("billing_customers")
    .select(SHOWN)
    .where("customerId", "=", customerId)
    .executeTakeFirst();
}

/** Inserts a customer unless the project has one. Returns the stored one. */
export async function insertCustomer(
  database: Database,
  projectId: string,
  customerId: string,
): Promise<string> {
  const { rows } = await sql<{ customerId: string }>`
    insert into billing_customers (project_id, customer_id) values (${projectId}, ${customerId})
    on conflict (project_id) do update set customer_id = billing_customers.customer_id
    returning customer_id`.execute(database);
  return rows[0]?.customerId ?? customerId;
}

/**
 * Increments the customer's version, so that concurrent writers notice the checkout.
 *
 * @returns whether the project is enabled, which is locked until the end of the transaction
 */
export async function recordCheckout(tx: Tx, projectId: string): Promise<boolean> {
  const { rows } = await sql`
    select 1 from projects where id = ${projectId} and not disabled for share`.execute(tx);
  if (rows.length === 0) return false;
  await sql`
    update billing_customers set version = version + 1, updated_at = now()
    where project_id = ${projectId}`.execute(tx);
  return true;
}

/**
 * Returns whether the version was unchanged. Ends metering if the subscription does not run. Held metering stays held until a person
 * decides.
 */
export async function updateSubscription(
  tx: Tx,
  { projectId, version }: CustomerRow,
  subscription: Subscription | null,
  isRunning: boolean,
): Promise<boolean> {
  const { numAffectedRows } = await sql`
    update billing_customers
    set subscription_id = ${subscription?.id ?? null}, subscription_status = ${subscription?.status ?? null},
      metered_from = case when ${isRunning}::boolean or metered_from = 'infinity' then metered_from end,
      metered_to = case when ${isRunning}::boolean then metered_to end,
      version = version + 1, updated_at = now()
    where project_id = ${projectId} and version = ${version}`.execute(tx);
  return numAffectedRows === 1n;
}

/** Returns whether the event is new. */
export async function insertEvent(
  database: Database,
  event: { id: string; type: string; customerId: string | null; toldAt: Date },
): Promise<void> {
  const { rows } = await sql`
    insert into stripe_events (id, type, customer_id, told_at, done_at)
    values (${event.id}, ${event.type}, ${event.customerId}, ${event.toldAt},
      ${event.customerId === null ? sql`now()` : null})
    on conflict (id) do nothing
    returning id`.execute(database);
  if (rows.length > 0) notify(database, "billing");
}

/** Returns the longest waiting customer with its events. */
export async function findDueEvents(
  database: Database,
  limit: number,
): Promise<{ customerId: string; ids: string[] } | undefined> {
  const { rows } = await sql<{ customerId: string; id: string }>`
    select e.customer_id, e.id from stripe_events e
    where e.done_at is null and e.customer_id = (
      select customer_id from stripe_events where done_at is null and due_at <= now() order by due_at limit 1
    )
    order by e.due_at limit ${limit}`.execute(database);
  const [first] = rows;
  return first === undefined ? undefined : { customerId: first.customerId, ids: rows.map(({ id }) => id) };
}

export async function endEvents(tx: Tx, ids: readonly string[]): Promise<void> {
  await sql`update stripe_events set done_at = now() where id = any(${[...ids]}::text[])`.execute(tx);
}

/** Delays events longer after each failure, up to an hour. */
export async function postponeEvents(database: Database, ids: readonly string[]): Promise<void> {
  await sql`
    update stripe_events
    set failures = failures + 1, due_at = now() + make_interval(secs => least(3600, 5 * 2 ^ least(failures, 10)))
    where id = any(${[...ids]}::text[])`.execute(database);
}

export async function deleteDoneEvents(database: Database, days: number): Promise<void> {
  await sql`delete from stripe_events where done_at < now() - make_interval(days => ${days})`.execute(
    database,
  );
}
