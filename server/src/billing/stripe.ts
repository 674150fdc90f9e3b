// What we ask of Stripe, and nothing else: its SDK is loaded only where billing is on.
import type { Stripe } from "stripe";
import type { Config } from "../platform/settings/config.ts";
import { nowMs } from "../platform/clock.ts";
import type { Log } from "../platform/log.ts";
import { Refusal } from "../platform/refusal.ts";
import { billingOf, type BillingSettings } from "./settings.ts";
import { choose, isRunning, type Subscription } from "./rules.ts";

export interface Billing {
  readonly settings: BillingSettings;
  readonly stripe: Stripe;
  /** Asks Stripe; throws Refusal SERVICE_UNAVAILABLE where it gives no answer, which is logged without secrets. */
  ask<T>(question: (stripe: Stripe) => Promise<T>): Promise<T>;
}

const TIMEOUT_MS = 10_000;
const RETRIES = 1;
const RETRY_SECONDS = 20;
/** A signature may be so old, or so far ahead (reliability case S52). */
const SIGNATURE_SECONDS = 300;
/** More subscriptions than one customer ever has. */
const MAX_SUBSCRIPTIONS = 100;

/** The client of Stripe; null where billing is off. */
export async function openBilling(config: Config, log: Log): Promise<Billing | null> {
  const settings = billingOf(config);
  if (settings === null) return null;
  const { Stripe } = await import("stripe");
  const { protocol, hostname, port } = new URL(settings.apiUrl);
  const stripe = new Stripe(settings.secretKey, {
    protocol: protocol === "http:" ? "http" : "https",
    host: hostname,
    ...(port === "" ? {} : { port }),
    timeout: TIMEOUT_MS,
    maxNetworkRetries: RETRIES,
    telemetry: false,
  });
  return {
    settings,
    stripe,
    async ask(question) {
      try {
        return await question(stripe);
      } catch (error) {
        const { type, code, statusCode, requestId, message } = error as Record<string, unknown>;
        log.warn(
          { type, code, statusCode, stripeRequest: requestId, reason: message },
          "Stripe refused, or gave no answer",
        );
        throw new Refusal("SERVICE_UNAVAILABLE", {
          message: "The payment provider gave no usable answer. Nothing was changed here.",
          retryAfterSeconds: RETRY_SECONDS,
        });
      }
    },
  };
}

/**
 * Whether Stripe made the header for these bytes, about now.
 *
 * @throws Refusal BAD_REQUEST, which does not tell why
 */
export function checkSignature({ stripe, settings }: Billing, body: Buffer, header: unknown): void {
  const refusal = new Refusal("BAD_REQUEST", { message: "This event was not accepted." });
  if (typeof header !== "string") throw refusal;
  try {
    stripe.webhooks.constructEvent(
      body,
      header,
      settings.webhookSecret,
      SIGNATURE_SECONDS,
      undefined,
      nowMs(),
    );
  } catch {
    throw refusal;
  }
  // The SDK asks only whether it is too old. It is the time that was signed: the last `t`, as the SDK reads it.
  const time = Number(/(?:^|,)t=(\d+)(?!.*,t=)/.exec(header)?.[1]);
  if (!(time * 1000 <= nowMs() + SIGNATURE_SECONDS * 1000)) throw refusal;
}

/** The subscription of a customer as it is now: the one that runs, else the newest; null: there was none. */
export async function readSubscription(billing: Billing, customerId: string): Promise<Subscription | null> {
  const { data } = await billing.ask((stripe) =>
    stripe.subscriptions.list({ customer: customerId, status: "all", limit: MAX_SUBSCRIPTIONS }),
  );
  return choose(data);
}

/** The customer of a project at Stripe; asked for twice within a day, it is the same one. */
export async function makeCustomer(billing: Billing, projectId: string): Promise<string> {
  const { id } = await billing.ask((stripe) =>
    // Always the same words, or the key would be refused.
    stripe.customers.create({ metadata: { projectId } }, { idempotencyKey: `customer-${projectId}` }),
  );
  return id;
}

/** The address of an open checkout of this customer, else of a new one; null when it has a subscription. */
export async function openCheckout(
  billing: Billing,
  {
    customerId,
    projectId,
    currency,
    returnUrl,
  }: { customerId: string; projectId: string; currency?: string | undefined; returnUrl: string },
): Promise<string | null> {
  const subscription = await readSubscription(billing, customerId);
  if (subscription !== null && isRunning(subscription.status)) return null;
  return billing.ask(async (stripe) => {
    const { checkout } = stripe;
    const open = await checkout.sessions.list({
      customer: customerId,
      status: "open",
      limit: MAX_SUBSCRIPTIONS,
    });
    for (const session of open.data) {
      if (session.url !== null && (currency === undefined || session.currency === currency))
        return session.url;
      await checkout.sessions.expire(session.id);
    }
    const { url } = await checkout.sessions.create({
      mode: "subscription",
      customer: customerId,
      client_reference_id: projectId,
      line_items: [
        { price: billing.settings.price, quantity: 1 },
        // A metered price has no quantity.
        ...(billing.settings.usage === null ? [] : [{ price: billing.settings.usage.price }]),
      ],
      subscription_data: { metadata: { projectId } },
      success_url: returnUrl,
      cancel_url: returnUrl,
      ...(currency === undefined ? {} : { currency }),
    });
    if (url === null) throw new Error("a checkout session without an address");
    return url;
  });
}

/** Ends every checkout of a customer that somebody may still pay on. */
export async function expireCheckouts(billing: Billing, customerId: string): Promise<void> {
  await billing.ask(async ({ checkout: { sessions } }) => {
    const open = await sessions.list({ customer: customerId, status: "open", limit: MAX_SUBSCRIPTIONS });
    for (const { id } of open.data) await sessions.expire(id);
  });
}

/** What a project used of one kind on one day. */
export interface Usage {
  /** The same at each try. */
  identifier: string;
  customerId: string;
  category: string;
  value: number;
  atSeconds: number;
}

/** `refused`: Stripe does not have it. `unknown`: it may have it. */
export type UsageAnswer =
  | { outcome: "taken" }
  | { outcome: "refused"; error: string }
  | { outcome: "unknown"; error: string };

const MAX_ERROR_LENGTH = 300;

/** Adds usage to the meter; what Stripe has under that name already counts as taken. */
export async function tellUsage({ stripe, settings }: Billing, usage: Usage): Promise<UsageAnswer> {
  if (settings.usage === null) return { outcome: "refused", error: "no meter is set" };
  const { identifier, customerId, category, value, atSeconds } = usage;
  try {
    await stripe.billing.meterEvents.create({
      event_name: settings.usage.event,
      identifier,
      timestamp: atSeconds,
      payload: { stripe_customer_id: customerId, value: String(value), category },
    });
    return { outcome: "taken" };
  } catch (told) {
    const { statusCode, message } = told as { statusCode?: number; message?: string };
    const error = String(message).slice(0, MAX_ERROR_LENGTH);
    if (statusCode === 400 && error.includes(`already exists with identifier ${identifier}`))
      return { outcome: "taken" };
    const isRefused = statusCode !== undefined && statusCode >= 400 && statusCode < 500;
    return { outcome: isRefused ? "refused" : "unknown", error };
  }
}

/** Whoever asks what was sent does not wait long for what it costs. */
const PREVIEW_TIMEOUT_MS = 3_000;

/** The next invoice of a subscription as it stands now; undefined: Stripe gave no answer, null: there is none to come. */
export async function previewInvoice(
  { stripe }: Billing,
  { customerId, subscriptionId }: { customerId: string; subscriptionId: string },
): Promise<Stripe.Invoice | null | undefined> {
  try {
    return await stripe.invoices.createPreview(
      { customer: customerId, subscription: subscriptionId },
      { timeout: PREVIEW_TIMEOUT_MS, maxNetworkRetries: 0 },
    );
  } catch (told) {
    const { code } = told as { code?: string };
    return code === "invoice_upcoming_none" ? null : undefined;
  }
}
