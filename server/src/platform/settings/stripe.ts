// Defines the settings of billing (docs/decisions/0054-billing.md). billing/settings.ts reports missing ones, because all are needed
// together.
import { z } from "zod";
import { webAddress } from "./forms.ts";

export const STRIPE_SETTINGS = {
  STRIPE_SECRET_KEY: {
    schema: z.string().optional(),
    default: "",
    meaning:
      "The secret key of a Stripe account (`sk_…`, or a restricted key). Billing needs this, STRIPE_WEBHOOK_SECRET and STRIPE_PRICE, and is off without them.",
  },
  STRIPE_WEBHOOK_SECRET: {
    schema: z.string().optional(),
    default: "",
    meaning: "The signing secret (`whsec_…`) of the webhook endpoint `/webhooks/incoming/stripe`.",
  },
  STRIPE_PRICE: {
    schema: z.string().optional(),
    default: "",
    meaning: "The id of the recurring price (`price_…`) that each project subscribes to once.",
  },
  STRIPE_METER_EVENT: {
    schema: z.string().max(100).optional(),
    default: "",
    meaning:
      "The event name of a Stripe meter that sums values. Once a day it receives the number of emails of each project with a subscription. Requires STRIPE_USAGE_PRICE.",
  },
  STRIPE_USAGE_PRICE: {
    schema: z.string().optional(),
    default: "",
    meaning:
      "The id of the metered price (`price_…`) of that meter, subscribed to in addition to STRIPE_PRICE.",
  },
  STRIPE_API_URL: {
    schema: webAddress.default("https://api.stripe.com"),
    default: "https://api.stripe.com",
    meaning: "The address of the Stripe API, which only tests change.",
  },
};
