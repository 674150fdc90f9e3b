// Deliverability of a project: DNS records, reports of receivers, rates by provider.
import { z } from "zod";
import { advice, IN_PARTS } from "./advice.ts";
import { breakdownRow } from "./analytics.ts";
import { dnsAdvice } from "./dns-advice.ts";
import { endpoint } from "./endpoint.ts";
import { instant, queryInteger } from "./field.ts";
import { LIMITS } from "./limits/limits.ts";

const messages = z.int();

export const getDeliverability = endpoint({
  name: "deliverability.get",
  method: "GET",
  path: "/deliverability",
  summary: "Read deliverability by domain and provider",
  description: `For each sender domain: its DNS records and their changes, reports of receivers (DMARC aggregate reports, RFC 9990; SMTP TLS reports, RFC 8460), and advice in one sentence each. For each receiving provider: bounces, complaints and opens, with the campaigns that caused the bounces and complaints. Advice has a code and values in addition to its English sentence, so that clients can translate it. Reports arrive by email at \`reportAddress\`, count for the day they cover, and are kept for ${LIMITS.domainReportDays.value} days. All numbers cover today and the previous \`days\`, as whole days in UTC. \`providers\` only covers days whose events are kept (\`eventRetentionDays\`), so that rates and campaigns match. The sender of a report is not authenticated.`,
  caller: "project",
  query: z.object({
    days: queryInteger(
      1,
      LIMITS.domainReportDays.value,
      "Number of days to look back; default 30.",
    ).optional(),
  }),
  responses: {
    200: z.object({
      days: z.int(),
      reportAddress: z
        .string()
        .nullable()
        .describe(
          "The address for `rua=mailto:…` in DMARC and TLS-RPT records; null without INBOUND_DOMAIN.",
        ),
      domains: z.array(
        z.object({
          domain: z.string(),
          verified: z.boolean(),
          records: z.array(
            z.object({
              purpose: z.string(),
              name: z.string(),
              status: z.string(),
              advice: z.string().nullable(),
              adviceParts: z.array(dnsAdvice).describe(IN_PARTS),
              history: z
                .array(
                  z.object({
                    since: instant,
                    status: z.string(),
                    found: z.string().nullable().describe("null if DNS had no record."),
                  }),
                )
                .describe("Changes found by checks, newest first, up to ten."),
            }),
          ),
          dmarc: z.object({
            reports: z.int(),
            lastReportAt: instant.nullable(),
            policy: z
              .string()
              .nullable()
              .describe("The policy in the latest report: none, quarantine or reject."),
            messages,
            aligned: messages.describe("Messages that passed DKIM or SPF with a domain aligned with From."),
            quarantined: messages,
            rejected: messages,
            reporters: z.array(z.object({ reporter: z.string(), messages })),
            sources: z
              .array(
                z.object({
                  ip: z.string(),
                  messages,
                  aligned: messages,
                  signers: z
                    .array(z.string())
                    .describe("Domains with valid DKIM signatures, aligned or not."),
                }),
              )
              .describe("Sources of the messages, most unaligned messages first."),
          }),
          tls: z.object({
            reports: z.int(),
            successes: z.int(),
            failures: z.int(),
            causes: z.array(z.object({ result: z.string(), count: z.int() })),
          }),
          advice: z.array(advice),
        }),
      ),
      providers: z.array(
        breakdownRow.extend({
          deferred: z
            .int()
            .describe(
              "Emails that its servers deferred at least once. Includes only direct responses of its servers, not those behind a relay.",
            ),
          blocked: z
            .int()
            .describe(
              "Emails that its servers rejected because of policy, as spam or due to the sender's reputation. They were never delivered.",
            ),
          campaigns: z
            .array(
              z.object({
                campaignId: z.uuid(),
                name: z.string().nullable(),
                bounces: z.int(),
                softBounces: z.int(),
                complaints: z.int(),
              }),
            )
            .describe("Campaigns with the most bounces and complaints there in this period, up to five."),
          advice: z.array(advice),
        }),
      ),
    }),
  },
});
