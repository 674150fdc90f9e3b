// What a project pays, by Stripe (spec §4.13, §4.15). Off until the settings STRIPE_… are there; then `GET /config` says so.
import { z } from "zod";
import { endpoint } from "./endpoint.ts";
import { instant, pathId } from "./field.ts";
import { LIMITS } from "./limits/limits.ts";

const params = z.object({ projectId: pathId });
const page = z.object({ url: z.url().describe("A page of Stripe, for the person's browser.") });
const WHEN_OFF = "404 while billing is off.";

export const startCheckout = endpoint({
  name: "billing.checkout",
  method: "POST",
  path: "/users/@me/projects/:projectId/checkout",
  summary: "Begin a subscription: a checkout page of Stripe",
  description: `One page at a time: a checkout that is still open is given again. 409 when the project has a subscription. ${WHEN_OFF}`,
  caller: "member",
  leastRole: "ADMIN",
  params,
  query: z.object({
    currency: z.enum(["usd", "eur", "gbp"]).optional().describe("Default: that of the price."),
  }),
  answers: { 200: page },
  errors: ["RESOURCE_NOT_FOUND", "CONFLICT", "SERVICE_UNAVAILABLE"],
});

export const openPortal = endpoint({
  name: "billing.portal",
  method: "POST",
  path: "/users/@me/projects/:projectId/billing-portal",
  summary: "Open the billing portal of Stripe",
  description: `Where cards, addresses and the subscription are changed. A disabled project may do so too. 409 before the first checkout. ${WHEN_OFF}`,
  caller: "member",
  leastRole: "ADMIN",
  isOpenWhenDisabled: true,
  params,
  answers: { 200: page },
  errors: ["RESOURCE_NOT_FOUND", "CONFLICT", "SERVICE_UNAVAILABLE"],
});

const amount = z.int().describe("In the smallest unit of the currency.");
const invoice = z.object({
  id: z.string(),
  number: z.string().nullable(),
  status: z
    .string()
    .nullable()
    .describe("As Stripe says it: `draft`, `open`, `paid`, `uncollectible`, `void`, and what it may add."),
  amountDue: amount,
  amountPaid: amount,
  subtotal: amount,
  total: amount,
  currency: z.string(),
  created: instant,
  periodStart: instant,
  periodEnd: instant,
  hostedInvoiceUrl: z.string().nullable(),
  invoicePdf: z.string().nullable(),
  paid: z.boolean(),
});

export const listInvoices = endpoint({
  name: "billing.invoices",
  method: "GET",
  path: "/users/@me/projects/:projectId/billing-invoices",
  summary: "List the invoices of a project",
  description: `The newest ${LIMITS.billingInvoices.value}, as Stripe has them now. Empty before the first checkout. ${WHEN_OFF}`,
  caller: "member",
  leastRole: "ADMIN",
  params,
  answers: {
    200: z.object({
      invoices: z.array(invoice),
      hasUnpaidInvoices: z.boolean(),
      unpaidInvoices: z.array(invoice).describe("Of these, what is open or could not be collected."),
    }),
  },
  errors: ["RESOURCE_NOT_FOUND", "SERVICE_UNAVAILABLE"],
});

export const receiveStripe = endpoint({
  name: "webhooks.stripe",
  method: "POST",
  path: "/webhooks/incoming/stripe",
  summary: "Take an event of Stripe",
  description:
    "Called by Stripe. The header `Stripe-Signature` is checked over the bytes of the body, and must be made within 5 minutes. " +
    `An event is kept before it is answered and gone through afterwards; a repeated one changes nothing. ${WHEN_OFF}`,
  caller: "anyone",
  body: z.object({
    id: z.string().min(1).max(255),
    type: z.string().min(1).max(255),
    created: z.int().min(0).max(253_402_300_799).describe("Unix time, seconds."),
    data: z.object({
      object: z.object({
        object: z.string().max(255).optional(),
        customer: z.union([z.string(), z.looseObject({})]).nullish(),
      }),
    }),
  }),
  bodyLimitBytes: LIMITS.webhookBytes.value,
  answers: { 200: z.object({ received: z.literal(true) }) },
  errors: ["BAD_REQUEST", "RESOURCE_NOT_FOUND"],
});
