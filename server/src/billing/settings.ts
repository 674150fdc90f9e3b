// Settings of billing and its Stripe account, which are all set or all missing.
import type { Config, MoreChecks } from "../platform/settings/config.ts";

export interface BillingSettings {
  secretKey: string;
  webhookSecret: string;
  /** The id of the subscribed price. */
  price: string;
  /** The reported event and its price. Null without metering. */
  usage: { event: string; price: string } | null;
  /** The base URL of Stripe's API. */
  apiUrl: string;
}

const NEEDED = ["STRIPE_SECRET_KEY", "STRIPE_WEBHOOK_SECRET", "STRIPE_PRICE"] as const;

const METERED = ["STRIPE_METER_EVENT", "STRIPE_USAGE_PRICE"] as const;

/** Returns null if billing is off. */
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

/** Returns the errors in the combination of settings, for `readConfig`. */
export const faultsOfBilling: MoreChecks = (settings) => {
  const metered = METERED.filter((name) => settings[name] !== undefined);
  const needed = metered.length > 0 ? [...NEEDED, ...METERED] : NEEDED;
  const missing = needed.filter((name) => settings[name] === undefined);
  if (missing.length === 0 || missing.length === needed.length) return [];
  return missing.map((name) => `${name}: required with the other settings STRIPE_…`);
};
