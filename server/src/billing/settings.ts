// Whether this installation bills, and through which account of Stripe: all settings are there, or none.
import type { Config, MoreChecks } from "../platform/settings/config.ts";

export interface BillingSettings {
  secretKey: string;
  webhookSecret: string;
  /** The id of the price that is subscribed to. */
  price: string;
  /** What is reported, and the price by which it costs; null: nothing is metered. */
  usage: { event: string; price: string } | null;
  /** Where the API of Stripe is. */
  apiUrl: string;
}

const NEEDED = ["STRIPE_SECRET_KEY", "STRIPE_WEBHOOK_SECRET", "STRIPE_PRICE"] as const;

const METERED = ["STRIPE_METER_EVENT", "STRIPE_USAGE_PRICE"] as const;

/** Null when billing is off. */
export function billingOf(config: Config): BillingSettings | null {
  const {
    STRIPE_SECRET_KEY: secretKey,
    STRIPE_WEBHOOK_SECRET: webhookSecret,
    STRIPE_PRICE: price,
    STRIPE_METER_EVENT: event,
    STRIPE_USAGE_PRICE: usagePrice,
    STRIPE_API_URL: apiUrl,
  } = config;
  if (secretKey === undefined || webhookSecret === undefined || price === undefined) return null;
  const usage = event === undefined || usagePrice === undefined ? null : { event, price: usagePrice };
  return { secretKey, webhookSecret, price, usage, apiUrl };
}

/** What is wrong with them together, as readConfig takes it. */
export const faultsOfBilling: MoreChecks = (settings) => {
  const metered = METERED.filter((name) => settings[name] !== undefined);
  const needed = metered.length > 0 ? [...NEEDED, ...METERED] : NEEDED;
  const missing = needed.filter((name) => settings[name] === undefined);
  if (missing.length === 0 || missing.length === needed.length) return [];
  return missing.map((name) => `${name}: required with the other settings STRIPE_…`);
};
