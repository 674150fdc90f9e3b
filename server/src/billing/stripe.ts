// Makes all calls to Stripe. The SDK is loaded only if billing is on.
import type { Stripe } from "stripe";
import type { Config } from "../platform/settings/config.ts";
import { nowMs } from "../platform/clock.ts";
import type { Log } from "../platform/log.ts";
import { AppError } from "../platform/app-error.ts";
import { billingOf, type BillingSettings } from "./settings.ts";
import { choose, isRunning, type Subscription } from "./rules.ts";

export interface Billing {
  readonly settings: BillingSettings;
  readonly stripe: Stripe;
  /** Calls Stripe. Throws AppError SERVICE_UNAVAILABLE on failure, which is logged without secrets. */
  ask<T>(question: (stripe: Stripe) => Promise<T>): Promise<T>;
}

const TIMEOUT_MS = 10_000;
const RETRIES = 1;
const RETRY_SECONDS = 20;
/** How old, or how far in the future, a signature may be (reliability case S52). */
const SIGNATURE_SECONDS = 300;
/** More subscriptions than any customer has. */
const MAX_SUBSCRIPTIONS = 100;

/** Returns the Stripe client, or null if billing is off. */
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
          "Stripe request failed",
        );
        throw new AppError("SERVICE_UNAVAILABLE", {
          message: "The payment provider did not return a usable response. Nothing was changed here.",
          retryAfterSeconds: RETRY_SECONDS,
        });
      }
    },
  };
}

/**
 * Checks that Stripe signed these bytes about now.
 *
 * @throws AppError BAD_REQUEST without a reason
 */
export function checkSignature({ stripe, settings }: Billing, body: Buffer, header: unknown): void {
  const appError = new AppError("BAD_REQUEST", { message: "This event was not accepted." });
  if (typeof header !== "string") throw appError;
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
    throw appError;
  }
  // The SDK only rejects old signatures. The signed time is the last `t`, as in the SDK.
  const time = Number(/(?:^|,)t=(\d+)(?!.*,t=)/.exec(header)?.[1]);
  if (!(time * 1000 <= nowMs() + SIGNATURE_SECONDS * 1000)) throw appError;
}

/** Returns the current subscription of a customer: the running one, or else the newest. Null if there was none. */
export async function readSubscription(billing: Billing, customerId: string): Promise<Subscription | null> {
  const { data } = await billing.ask((stripe) =>
    stripe.subscriptions.list({ customer: customerId, status: "all", limit: MAX_SUBSCRIPTIONS }),
  );
  return choose(data);
}

/** Creates a project's customer at Stripe. Returns the same one if repeated within a day. */
export async function makeCustomer(billing: Billing, projectId: string): Promise<string> {
  const { id } = await billing.ask((stripe) =>
    // The parameters must not vary, or Stripe rejects the idempotency key.
    stripe.customers.create({ metadata: { projectId } }, { idempotencyKey: `customer-${projectId}` }),
  );
  return id;
}

/** Returns the URL of an open checkout of this customer, or of a new one. Null if it has a subscription. */
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

/** Expires the open checkouts of a customer, so that no one can pay on them. */
export async function expireCheckouts(billing: Billing, customerId: string): Promise<void> {
  await billing.ask(async ({ checkout: { sessions } }) => {
    const open = await sessions.list({ customer: customerId, status: "open", limit: MAX_SUBSCRIPTIONS });
    for (const { id } of open.data) await sessions.expire(id);
  });
}

/** A project's usage of one kind on one day. */
export interface Usage {
  /** The same for each attempt. */
  identifier: string;
  customerId: string;
  category: string;
  value: number;
  atSeconds: number;
}

/** `refused`: Stripe rejected the usage. `unknown`: Stripe may have stored it. */
export type UsageResult =
  | { outcome: "taken" }
  | { outcome: "refused"; error: string }
  | { outcome: "unknown"; error: string };

const MAX_ERROR_LENGTH = 300;

/** Adds usage to the meter. Usage that Stripe already has under this identifier counts as accepted. */
export async function sendUsage({ stripe, settings }: Billing, usage: Usage): Promise<UsageResult> {
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
  } catch (reported) {
    const { statusCode, message } = reported as { statusCode?: number; message?: string };
    const error = String(message).slice(0, MAX_ERROR_LENGTH);
    if (statusCode === 400 && error.includes(`already exists with identifier ${identifier}`))
      return { outcome: "taken" };
    const isRefused = statusCode !== undefined && statusCode >= 400 && statusCode < 500;
    return { outcome: isRefused ? "refused" : "unknown", error };
  }
}

/** Short, because the preview must not delay the usage numbers. */
const PREVIEW_TIMEOUT_MS = 3_000;

/** Returns a preview of the next invoice. Undefined if Stripe does not respond, null if no invoice is due. */
export async function previewInvoice(
  { stripe }: Billing,
  { customerId, subscriptionId }: { customerId: string; subscriptionId: string },
): Promise<Stripe.Invoice | null | undefined> {
  try {
    return await stripe.invoices.createPreview(
      { customer: customerId, subscription: subscriptionId },
      { timeout: PREVIEW_TIMEOUT_MS, maxNetworkRetries: 0 },
    );
  } catch (reported) {
    const { code } = reported as { code?: string };
    return code === "invoice_upcoming_none" ? null : undefined;
  }
}
