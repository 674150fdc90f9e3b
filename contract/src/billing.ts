// Billing of a project through Stripe (spec §4.13, §4.15). Off until the STRIPE_… settings exist, which `GET /config` reports.
import { z } from "zod";
import { endpoint } from "./endpoint.ts";
import { instant, pathId } from "./field.ts";
import { LIMITS } from "./limits/limits.ts";

const params = z.object({ projectId: pathId });
const page = z.object({ url: z.url().describe("A Stripe page to open in the browser.") });
const WHEN_OFF = "404 while billing is off.";

export const startCheckout = endpoint({
  name: "billing.checkout",
  method: "POST",
  path: "/users/@me/projects/:projectId/checkout",
  summary: "Start a subscription on a Stripe checkout page",
  description: `Only one checkout page at a time: an open one is returned again. 409 if the project has a subscription. ${WHEN_OFF}`,
  caller: "member",
  leastRole: "ADMIN",
  params,
  query: z.object({
    currency: z.enum(["usd", "eur", "gbp"]).optional().describe("Default: the currency of the price."),
  }),
  responses: { 200: page },
  errors: ["RESOURCE_NOT_FOUND", "CONFLICT", "SERVICE_UNAVAILABLE"],
});

export const openPortal = endpoint({
  name: "billing.portal",
  method: "POST",
  path: "/users/@me/projects/:projectId/billing-portal",
  summary: "Open the Stripe billing portal",
  description: `Change cards, addresses and the subscription there. Also available for a disabled project. 409 before the first checkout. ${WHEN_OFF}`,
  caller: "member",
  leastRole: "ADMIN",
  isOpenWhenDisabled: true,
  params,
  responses: { 200: page },
  errors: ["RESOURCE_NOT_FOUND", "CONFLICT", "SERVICE_UNAVAILABLE"],
});

const amount = z.int().describe("In the smallest unit of the currency.");
const invoice = z.object({
  id: z.string(),
  number: z.string().nullable(),
  status: z
    .string()
    .nullable()
    .describe(
      "Stripe's status: `draft`, `open`, `paid`, `uncollectible`, `void`, or one that Stripe adds later.",
    ),
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
  description: `The latest ${LIMITS.billingInvoices.value}, read from Stripe. Empty before the first checkout. ${WHEN_OFF}`,
  caller: "member",
  leastRole: "ADMIN",
  params,
  responses: {
    200: z.object({
      invoices: z.array(invoice),
      hasUnpaidInvoices: z.boolean(),
      unpaidInvoices: z.array(invoice).describe("Invoices that are open or could not be collected."),
    }),
  },
  errors: ["RESOURCE_NOT_FOUND", "SERVICE_UNAVAILABLE"],
});

export const receiveStripe = endpoint({
  name: "webhooks.stripe",
  method: "POST",
  path: "/webhooks/incoming/stripe",
  summary: "Receive a Stripe event",
  description:
    "Called by Stripe. The header `Stripe-Signature` is verified over the bytes of the body, and must be at most 5 minutes old. " +
    `An event is stored before the response and processed afterwards. A repeated event changes nothing. ${WHEN_OFF}`,
  caller: "anyone",
  body: z.object({
    id: z.string().min(1).max(255),
    type: z.string().min(1).max(255),
    created: z.int().min(0).max(253_402_300_799).describe("Unix time in seconds."),
    data: z.object({
      object: z.object({
        object: z.string().max(255).optional(),
        customer: z.union([z.string(), z.looseObject({})]).nullish(),
      }),
    }),
  }),
  bodyLimitBytes: LIMITS.webhookBytes.value,
  responses: { 200: z.object({ received: z.literal(true) }) },
  errors: ["BAD_REQUEST", "RESOURCE_NOT_FOUND"],
});
