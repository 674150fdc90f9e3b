// Stores events of Stripe once and processes them later. Events come late, twice and in any order. They are therefore only a reason to ask
// Stripe for the current state (docs/decisions/0054-billing.md).
import { recordAudit, SERVICE } from "../audit/audit-log.ts";
import { startLoop, type Loop } from "../platform/background/background.ts";
import { transaction, type Database } from "../platform/database/database.ts";
import type { Log } from "../platform/log.ts";
import type { Metrics } from "../platform/metrics.ts";
import {
  deleteDoneEvents,
  endEvents,
  findCustomer,
  findDueEvents,
  findProjectOfCustomer,
  insertEvent,
  postponeEvents,
  updateSubscription,
  type CustomerRow,
} from "./queries.ts";
import { customerOf, isRunning } from "./rules.ts";
import { expireCheckouts, readSubscription, type Billing } from "./stripe.ts";

export interface StripeEvent {
  id: string;
  type: string;
  /** Unix seconds. */
  created: number;
  data: { object: { customer?: unknown } };
}

/** Resolves after the commit. */
export async function storeEvent(database: Database, event: StripeEvent): Promise<void> {
  const { id, type, created } = event;
  await insertEvent(database, {
    id,
    type,
    customerId: customerOf(event),
    toldAt: new Date(created * 1000),
  });
}

const POLL_MS = 10_000;
const MAX_EVENTS = 500;
/** Stripe retries events for three days, and its dashboard can resend them for thirty. */
const KEPT_DAYS = 31;

interface Following {
  database: Database;
  billing: Billing;
  log: Log;
  metrics: Metrics;
}

export function startFollowingSubscriptions({ database, billing, log, metrics }: Following): Loop {
  return startLoop({
    name: "subscriptions",
    everyMs: POLL_MS,
    notifiedBy: { database, topic: "billing" },
    log,
    metrics,
    async runOnce() {
      const due = await findDueEvents(database, MAX_EVENTS);
      if (due === undefined) return;
      try {
        await followEvents(database, billing, due);
      } catch (error) {
        // Postpones only this customer, so that others are not blocked.
        log.warn({ err: error, events: due.ids.length }, "failed to process Stripe events, retrying later");
        await postponeEvents(database, due.ids);
      }
      return 0;
    },
  });
}

/**
 * Prepares the deletion of a project. Expires open checkouts, and reads a subscription that Stripe has not reported yet.
 *
 * @returns the resulting version of its customer, undefined without one. No checkout was opened while it stays the same.
 * @throws AppError SERVICE_UNAVAILABLE if Stripe does not respond
 */
export async function endCheckouts(
  database: Database,
  billing: Billing,
  projectId: string,
): Promise<{ version: number | undefined }> {
  // Read before the open checkouts are requested.
  const known = await findCustomer(database, projectId);
  if (known === undefined) return { version: undefined };
  await expireCheckouts(billing, known.customerId);
  const isWritten = await followCustomer(database, billing, { known, ids: [] });
  return { version: known.version + (isWritten ? 1 : 0) };
}

async function followEvents(
  database: Database,
  billing: Billing,
  { customerId, ids }: { customerId: string; ids: readonly string[] },
): Promise<void> {
  const known = await findProjectOfCustomer(database, customerId);
  if (known === undefined) await transaction(database, async (tx) => endEvents(tx, ids));
  else await followCustomer(database, billing, { known, ids });
}

/**
 * Reads the current state from Stripe and stores it. Returns false if another process changed the row in between, and the events then stay
 * due.
 */
async function followCustomer(
  database: Database,
  billing: Billing,
  { known, ids }: { known: CustomerRow; ids: readonly string[] },
): Promise<boolean> {
  const subscription = await readSubscription(billing, known.customerId);
  return transaction(database, async (tx) => {
    if (
      !(await updateSubscription(
        tx,
        known,
        subscription,
        subscription !== null && isRunning(subscription.status),
      ))
    )
      return false;
    await endEvents(tx, ids);
    const [from, to] = [known.subscriptionStatus, subscription?.status ?? null];
    if (from === to && known.subscriptionId === (subscription?.id ?? null)) return true;
    const { projectId } = known;
    await recordAudit(tx, [
      { projectId, actor: SERVICE, action: "billing.subscriptionChanged", details: { status: { from, to } } },
    ]);
    return true;
  });
}

export async function sweepStripeEvents(database: Database): Promise<void> {
  await deleteDoneEvents(database, KEPT_DAYS);
}
