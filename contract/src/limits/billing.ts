// Monthly sending caps of a project and its usage (spec §4.13). They apply with and without Stripe (docs/decisions/0055-caps.md).
import { z } from "zod";
import { endpoint } from "../endpoint.ts";
import { instant, pathId } from "../field.ts";

export const CAP_CATEGORIES = ["transactional", "campaigns", "workflows"] as const;
export type CapCategory = (typeof CAP_CATEGORIES)[number];

/** Whether a project is billed, and whether Stripe responded. */
export const BILLING_STATES = ["off", "no-subscription", "subscribed", "unknown"] as const;
export type BillingState = (typeof BILLING_STATES)[number];

const amount = z.int().describe("In the smallest unit of the currency.");
const MOST = 2_147_483_647;
const params = z.object({ projectId: pathId });
const input = z
  .int()
  .min(1)
  .max(MOST)
  .nullable()
  .optional()
  .describe("Emails per calendar month; null for no cap.");
const cap = z.object({
  limit: z.int().nullable(),
  usage: z.int().describe("Emails of this calendar month (UTC), both sent and accepted."),
  percentage: z.number().nullable(),
  isWarning: z.boolean().describe("True from 80%."),
  isBlocked: z.boolean().describe("Whether no more email is accepted this month."),
});
const caps = z.object({ transactional: cap, campaigns: cap, workflows: cap });

export const getBillingLimits = endpoint({
  name: "billing.limits",
  method: "GET",
  path: "/users/@me/projects/:projectId/billing-limits",
  summary: "Read the caps and usage of a project",
  description:
    "Email over a cap fails with 429 BILLING_LIMIT_EXCEEDED. This applies to calls of `POST /v1/send`, and to a whole campaign when it is sent. A workflow skips the step and continues.",
  caller: "member",
  params,
  responses: { 200: caps },
});

export const updateBillingLimits = endpoint({
  name: "billing.updateLimits",
  method: "PUT",
  path: "/users/@me/projects/:projectId/billing-limits",
  summary: "Set or remove the caps of a project",
  description:
    "Omitted caps stay unchanged; null removes a cap. A lower cap never drops accepted email. Takes effect within five seconds.",
  caller: "member",
  leastRole: "ADMIN",
  params,
  body: z.object({ transactional: input, campaigns: input, workflows: input }),
  responses: { 200: caps },
});

export const getConsumption = endpoint({
  name: "billing.consumption",
  method: "GET",
  path: "/users/@me/projects/:projectId/billing-consumption",
  summary: "Read the email volume of a project this calendar month",
  description:
    "By kind, in UTC, with the same numbers as for the caps. Test emails are never counted. Includes the amount of the project's next invoice.",
  caller: "member",
  params,
  responses: {
    200: z.object({
      period: z.object({ start: instant, end: instant }),
      usage: z.object({
        total: z.int(),
        records: z.array(z.object({ category: z.enum(CAP_CATEGORIES), count: z.int() })),
      }),
      billingState: z
        .enum(BILLING_STATES)
        .describe(
          "`off`: this installation does not bill. `no-subscription`: the project has no active subscription. `subscribed`: it has one. `unknown`: it has one, but Stripe did not return the invoice within three seconds.",
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
          "The current state of the next invoice at Stripe; null if there is none, or for the reason in `billingState`.",
        ),
    }),
  },
});

/** In the order of the documentation. */
export const BILLING_LIMIT_ENDPOINTS = [getBillingLimits, updateBillingLimits, getConsumption] as const;
