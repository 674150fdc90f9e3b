// Events of Stripe: stored once, gone through afterwards. They come late, twice and in any order; so what they say is never taken over:
// they make us ask Stripe what is true now (docs/decisions/0054-billing.md).
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

export interface ToldEvent {
  id: string;
  type: string;
  /** Unix seconds. */
  created: number;
  data: { object: { customer?: unknown } };
}

/** Resolves after the commit. */
export async function keepEvent(database: Database, event: ToldEvent): Promise<void> {
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
/** Stripe tells for three days; its dashboard, by hand, for thirty. */
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
        // One customer holds up no other.
        log.warn({ err: error, events: due.ids.length }, "events of Stripe are gone through later");
        await postponeEvents(database, due.ids);
      }
      return 0;
    },
  });
}

/**
 * Before a project is deleted: nobody can begin a subscription by what was open, and one that was begun is known, whatever Stripe has told of it yet.
 *
 * @returns the version in which its customer is left, undefined without one: while it is that, no checkout was opened since
 * @throws Refusal SERVICE_UNAVAILABLE where Stripe gives no answer
 */
export async function endCheckouts(
  database: Database,
  billing: Billing,
  projectId: string,
): Promise<{ version: number | undefined }> {
  // Read before it is asked what is open.
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

/** Asks what is true, and writes it unless somebody else wrote meanwhile: then it is false, and they are still due. */
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
