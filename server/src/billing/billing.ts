// Payment for a project: checkout, portal and invoices.
import type { Stripe } from "stripe";
import type { BillingState } from "@postloft/contract/limits/billing.ts";
import { LIMITS } from "@postloft/contract/limits/limits.ts";
import { recordAudit, type Actor } from "../audit/audit-log.ts";
import { transaction, type Database, type Tx } from "../platform/database/database.ts";
import { AppError } from "../platform/app-error.ts";
import type { EndedCheckouts, Payment } from "../projects/removal/removal.ts";
import { endCheckouts } from "./follow-subscriptions.ts";
import { findCustomer, insertCustomer, recordCheckout, type CustomerRow } from "./queries.ts";
import { isRunning } from "./rules.ts";
import { readConsumption } from "./caps.ts";
import { makeCustomer, openCheckout, previewInvoice, type Billing } from "./stripe.ts";

/** Returns whether the project has a running subscription, by the last event from Stripe. */
export async function hasSubscription(database: Database, projectId: string): Promise<boolean> {
  return isSubscribed(await findCustomer(database, projectId));
}

function isSubscribed(row: CustomerRow | undefined): boolean {
  return row?.subscriptionStatus != null && isRunning(row.subscriptionStatus);
}

/** Returns the payment checks for the deletion of a project. */
export function paymentOf({ database, billing }: { database: Database; billing: Billing | null }): Payment {
  return {
    endCheckouts: async (projectId) =>
      billing === null ? null : await endCheckouts(database, billing, projectId),
    requireUnpaid,
  };
}

async function requireUnpaid(tx: Tx, projectId: string, left: EndedCheckouts): Promise<void> {
  const row = await findCustomer(tx, projectId);
  if (isSubscribed(row))
    throw new AppError("CONFLICT", {
      message: "The project still has a subscription. End it in the billing portal first.",
    });
  if (left !== null && row?.version !== left.version)
    throw new AppError("CONFLICT", {
      message: "A checkout of the project was opened or completed just now. Delete the project again.",
    });
}

/**
 * Returns the URL of a Stripe checkout page. The customer is created once per project and stored first.
 *
 * @throws AppError CONFLICT if there is a subscription, PROJECT_DISABLED if the project was disabled or deleted meanwhile,
 * SERVICE_UNAVAILABLE
 */
export async function startCheckout(
  database: Database,
  billing: Billing,
  asked: { projectId: string; actor: Actor; currency?: string | undefined; returnUrl: string },
): Promise<{ url: string }> {
  const { projectId, actor } = asked;
  const known = await findCustomer(database, projectId);
  const made = known?.customerId ?? (await makeCustomer(billing, projectId));
  const customerId = await insertCustomer(database, projectId, made);
  const url = await openCheckout(billing, { ...asked, customerId });
  if (url === null)
    throw new AppError("CONFLICT", {
      message: "The project already has a subscription. Change it in the billing portal.",
    });
  await transaction(database, async (tx) => {
    // The URL has not been returned yet, so no one can pay on this page.
    if (!(await recordCheckout(tx, projectId))) throw new AppError("PROJECT_DISABLED");
    await recordAudit(tx, [{ projectId, actor, action: "billing.checkoutOpened" }]);
  });
  return { url };
}

/**
 * Returns the URL of the Stripe portal.
 *
 * @throws AppError CONFLICT before the first checkout, SERVICE_UNAVAILABLE
 */
export async function openPortal(
  database: Database,
  billing: Billing,
  { projectId, returnUrl }: { projectId: string; returnUrl: string },
): Promise<{ url: string }> {
  const row = await findCustomer(database, projectId);
  if (row === undefined)
    throw new AppError("CONFLICT", {
      message: "The project has never had a subscription. Start with checkout.",
    });
  const { url } = await billing.ask((stripe) =>
    stripe.billingPortal.sessions.create({ customer: row.customerId, return_url: returnUrl }),
  );
  return { url };
}

/** Returns the newest invoices, read from Stripe. */
export async function listInvoices(database: Database, billing: Billing, projectId: string) {
  const row = await findCustomer(database, projectId);
  const invoices =
    row === undefined
      ? []
      : (
          await billing.ask((stripe) =>
            stripe.invoices.list({ customer: row.customerId, limit: LIMITS.billingInvoices.value }),
          )
        ).data.map(presentInvoice);
  const unpaidInvoices = invoices.filter(({ status }) => status === "open" || status === "uncollectible");
  return { invoices, hasUnpaidInvoices: unpaidInvoices.length > 0, unpaidInvoices };
}

/**
 * Returns the emails sent this month and the current preview of the next invoice.
 *
 * @param billing null if billing is off, then Stripe is not called
 */
export async function readUsageAndInvoice(database: Database, billing: Billing | null, projectId: string) {
  const [consumption, next] = await Promise.all([
    readConsumption(database, projectId),
    readUpcoming(database, billing, projectId),
  ]);
  return { ...consumption, ...next };
}

const none = (billingState: BillingState) => ({ billingState, upcomingInvoice: null });

async function readUpcoming(database: Database, billing: Billing | null, projectId: string) {
  if (billing === null) return none("off");
  const row = await findCustomer(database, projectId);
  const { subscriptionId, subscriptionStatus: status } = row ?? {};
  if (row === undefined || subscriptionId == null || status == null || !isRunning(status))
    return none("no-subscription");
  const invoice = await previewInvoice(billing, { customerId: row.customerId, subscriptionId });
  if (invoice === undefined) return none("unknown");
  if (invoice === null) return none("subscribed");
  return {
    billingState: "subscribed" as const,
    upcomingInvoice: {
      amountDue: invoice.amount_due,
      currency: invoice.currency,
      periodStart: instantOf(invoice.period_start),
      periodEnd: instantOf(invoice.period_end),
      subtotal: invoice.subtotal,
      total: invoice.total,
    },
  };
}

function presentInvoice(invoice: Stripe.Invoice) {
  return {
    id: invoice.id,
    number: invoice.number,
    status: invoice.status,
    amountDue: invoice.amount_due,
    amountPaid: invoice.amount_paid,
    subtotal: invoice.subtotal,
    total: invoice.total,
    currency: invoice.currency,
    created: instantOf(invoice.created),
    periodStart: instantOf(invoice.period_start),
    periodEnd: instantOf(invoice.period_end),
    hostedInvoiceUrl: invoice.hosted_invoice_url ?? null,
    invoicePdf: invoice.invoice_pdf ?? null,
    paid: invoice.status === "paid",
  };
}

/** Converts Unix seconds. */
function instantOf(seconds: number): string {
  return new Date(seconds * 1000).toISOString();
}
