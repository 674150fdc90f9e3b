// Defines the settings of billing (docs/decisions/0054-billing.md). billing/settings.ts reports missing ones, because all are needed
// together.
import { z } from "zod";
import { webAddress } from "./forms.ts";

export const STRIPE_SETTINGS = {
  STRIPE_SECRET_KEY: {
    schema: z.string().optional(),
    default: "",
    meaning:
      "The secret key of an account of Stripe (`sk_…`, or a restricted one). With this, STRIPE_WEBHOOK_SECRET and STRIPE_PRICE projects can be billed; without all three billing is off.",
  },
  STRIPE_WEBHOOK_SECRET: {
    schema: z.string().optional(),
    default: "",
    meaning: "The signing secret (`whsec_…`) of the webhook endpoint `/webhooks/incoming/stripe`.",
  },
  STRIPE_PRICE: {
    schema: z.string().optional(),
    default: "",
    meaning: "The id of the recurring price (`price_…`) that a project subscribes to, once.",
  },
  STRIPE_METER_EVENT: {
    schema: z.string().max(100).optional(),
    default: "",
    meaning:
      "The event name of a meter of Stripe that sums up values: what each project sends is reported to it once a day, where it has a subscription. With STRIPE_USAGE_PRICE or not at all.",
  },
  STRIPE_USAGE_PRICE: {
    schema: z.string().optional(),
    default: "",
    meaning: "The id of the metered price (`price_…`) of that meter, subscribed to beside STRIPE_PRICE.",
  },
  STRIPE_API_URL: {
    schema: webAddress.default("https://api.stripe.com"),
    default: "https://api.stripe.com",
    meaning: "Where the API of Stripe is; another one is for tests.",
  },
};
