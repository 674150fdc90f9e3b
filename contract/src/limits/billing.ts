// Caps on what a project sends in a month, and what it has sent (spec §4.13). They hold with and without Stripe
// (docs/decisions/0055-caps.md).
import { z } from "zod";
import { endpoint } from "../endpoint.ts";
import { instant, pathId } from "../field.ts";

export const CAP_CATEGORIES = ["transactional", "campaigns", "workflows"] as const;
export type CapCategory = (typeof CAP_CATEGORIES)[number];

/** Whether a project is billed, and whether Stripe could be asked. */
export const BILLING_STATES = ["off", "no-subscription", "subscribed", "unknown"] as const;
export type BillingState = (typeof BILLING_STATES)[number];

const amount = z.int().describe("In the smallest unit of the currency.");
const MOST = 2_147_483_647;
const params = z.object({ projectId: pathId });
const given = z
  .int()
  .min(1)
  .max(MOST)
  .nullable()
  .optional()
  .describe("Mails in a calendar month; null: no cap.");
const cap = z.object({
  limit: z.int().nullable(),
  usage: z.int().describe("Mails of this calendar month (UTC): sent, and accepted but not sent yet."),
  percentage: z.number().nullable(),
  isWarning: z.boolean().describe("From 80 % on."),
  isBlocked: z.boolean().describe("No more is accepted this month."),
});
const caps = z.object({ transactional: cap, campaigns: cap, workflows: cap });

export const getBillingLimits = endpoint({
  name: "billing.limits",
  method: "GET",
  path: "/users/@me/projects/:projectId/billing-limits",
  summary: "Read the caps of a project and how far it is",
  description:
    "Mail over a cap is refused with 429 BILLING_LIMIT_EXCEEDED: a call to `POST /v1/send`, a campaign as a whole when it is sent. A workflow skips the step and goes on.",
  caller: "member",
  params,
  answers: { 200: caps },
});

export const updateBillingLimits = endpoint({
  name: "billing.updateLimits",
  method: "PUT",
  path: "/users/@me/projects/:projectId/billing-limits",
  summary: "Set or take away the caps of a project",
  description:
    "What is left out stays; null takes a cap away. A lower cap drops nothing that was accepted. Holds within five seconds.",
  caller: "member",
  leastRole: "ADMIN",
  params,
  body: z.object({ transactional: given, campaigns: given, workflows: given }),
  answers: { 200: caps },
});

export const getConsumption = endpoint({
  name: "billing.consumption",
  method: "GET",
  path: "/users/@me/projects/:projectId/billing-consumption",
  summary: "Read what a project has sent this calendar month",
  description:
    "By kind, in UTC; the same numbers as in the caps. Test mails never count. With what the next invoice of the project comes to.",
  caller: "member",
  params,
  answers: {
    200: z.object({
      period: z.object({ start: instant, end: instant }),
      usage: z.object({
        total: z.int(),
        records: z.array(z.object({ category: z.enum(CAP_CATEGORIES), count: z.int() })),
      }),
      billingState: z
        .enum(BILLING_STATES)
        .describe(
          "`off`: this installation does not bill. `no-subscription`: the project has none that runs. `subscribed`: it has. `unknown`: it has, and Stripe gave no answer about the invoice within three seconds.",
        ),
      upcomingInvoice: z
        .object({
          amountDue: amount,
          currency: z.string(),
          periodStart: instant,
          periodEnd: instant,
          subtotal: amount,
          total: amount,
        })
        .nullable()
        .describe(
          "The next invoice as it stands now at Stripe; null where `billingState` says why, or none is to come.",
        ),
    }),
  },
});
