// How the mail of a project is judged where it arrives: records, reports of receivers, rates by provider.
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
  summary: "Read how receivers judge your mail",
  description: `For each sender domain its records, what receivers report of it (DMARC aggregate reports, RFC 9990; SMTP TLS reports, RFC 8460) and what to do next in a sentence each; how its records changed in DNS; then bounces, complaints and opens by receiving provider, with the campaigns that caused what came back. Advice has a code and values beside its English sentence, for who says it in another language. Reports come by mail to \`reportAddress\`, count from the day they are about, and are kept for ${LIMITS.domainReportDays.value} days. All of it is of today and the \`days\` before it, whole days in UTC; \`providers\` only of those whose events are kept (\`eventRetentionDays\`), so that numbers and campaigns are of the same time. Nobody proves who wrote a report.`,
  caller: "project",
  query: z.object({
    days: queryInteger(1, LIMITS.domainReportDays.value, "How far back; default 30.").optional(),
  }),
  answers: {
    200: z.object({
      days: z.int(),
      reportAddress: z
        .string()
        .nullable()
        .describe("For `rua=mailto:…` of DMARC and TLS-RPT records; null without INBOUND_DOMAIN."),
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
                    found: z.string().nullable().describe("null: DNS had none."),
                  }),
                )
                .describe("What checks found of it, and since when; the last change first, at most ten."),
            }),
          ),
          dmarc: z.object({
            reports: z.int(),
            lastReportAt: instant.nullable(),
            policy: z.string().nullable().describe("As the last report found it: none, quarantine, reject."),
            messages,
            aligned: messages.describe("Passed by DKIM or SPF of a domain that fits the one in From."),
            quarantined: messages,
            rejected: messages,
            reporters: z.array(z.object({ reporter: z.string(), messages })),
            sources: z
              .array(
                z.object({
                  ip: z.string(),
                  messages,
                  aligned: messages,
                  signers: z.array(z.string()).describe("Whose DKIM signatures passed, fitting or not."),
                }),
              )
              .describe("Who sent, those with the most that was not aligned first."),
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
              "Mails that its servers deferred at least once. As far as they said so themselves: not through a relay.",
            ),
          blocked: z
            .int()
            .describe(
              "Mails that its servers refused for their policy: as spam, or for what they think of the sender. They never left.",
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
            .describe(
              "Whose mail came back from there in these days, those that brought most first; at most five.",
            ),
          advice: z.array(advice),
        }),
      ),
    }),
  },
});
