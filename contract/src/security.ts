// Reputation of a project: bounce and complaint rates, and their consequences (decisions §2).
import { z } from "zod";
import { endpoint } from "./endpoint.ts";
import { instant, pathId } from "./field.ts";
import { LIMITS } from "./limits/limits.ts";

export const LEVELS = ["healthy", "warning", "critical"] as const;
export type Level = (typeof LEVELS)[number];

const percent = z.number().describe("Percentage of `total`.");
const window = z.object({
  total: z
    .int()
    .describe("Emails that were sent, and emails that a server rejected because the address does not exist."),
  bounces: z.int().describe("Hard bounces among them."),
  complaints: z.int(),
  bounceRate: percent,
  complaintRate: percent,
});
const level = z.enum(LEVELS);
const badRate = z.object({
  of: z.enum(["bounces", "complaints"]),
  window: z.enum(["sevenDay", "allTime"]),
  level: z.enum(["warning", "critical"]),
  count: z.int(),
  mails: z.int().describe("Number of emails."),
  rate: z.number().describe("As a percentage."),
  threshold: z.number().describe("The percentage at which this level starts."),
});

/** A rate of a project above its limit. */
export type BadRate = z.output<typeof badRate>;

export const security = z.object({
  status: z.object({
    projectId: z.uuid(),
    isHealthy: z.boolean().describe("True if no level is warning or critical."),
    shouldDisable: z
      .boolean()
      .describe(
        `True if a level is critical, with at least ${LIMITS.criticalBounces.value} bounces or ${LIMITS.criticalComplaints.value} complaints.`,
      ),
    isNewProject: z
      .boolean()
      .describe(`True below ${LIMITS.ratedMails.value} emails, while rates are not checked yet.`),
    countedFrom: instant
      .nullable()
      .describe("The end of the last lifted suspension; earlier emails are no longer counted."),
    twentyFourHour: window.describe("Hourly counts of the hours within the last 24."),
    sevenDay: window.describe("Hourly counts of the hours within the last 7 days."),
    allTime: window,
    violations: z.array(z.string()),
    warnings: z.array(z.string()),
  }),
  levels: z.object({
    bounce7Day: level,
    bounceAllTime: level,
    complaint7Day: level,
    complaintAllTime: level,
  }),
  isDisabled: z.boolean(),
  disabledBy: z
    .enum(["RATES", "ADMIN"])
    .nullable()
    .describe(
      "Why the project is disabled. Its owner can enable it after `RATES`, and only the instance admin after `ADMIN`.",
    ),
  suspensions: z
    .array(
      z.object({
        at: instant,
        reasons: z.array(z.string()),
        rates: z.array(badRate).describe("The reasons as numbers; missing for old suspensions."),
      }),
    )
    .describe("Suspensions because of rates, newest first."),
});

const description =
  "Emails count in the hour they were sent, and bounces and complaints count for their email. " +
  "Bounces: warning from 5%, critical from 10% over 7 days; 4% and 8% over all time. Complaints: 0.075% and 0.15%; 0.03% and 0.12%. " +
  "A critical project is disabled and its members are notified, unless the setting `REPUTATION_GUARD` is off.";

export const getOwnSecurity = endpoint({
  name: "projects.ownSecurity",
  method: "GET",
  path: "/users/@me/projects/:projectId/security",
  summary: "Read the reputation of your project",
  description,
  caller: "member",
  params: z.object({ projectId: pathId }),
  responses: { 200: security },
});

export const getSecurity = endpoint({
  name: "projects.security",
  method: "GET",
  path: "/projects/:projectId/security",
  summary: "Read the reputation of a project",
  description,
  caller: "project-by-path",
  params: z.object({ projectId: pathId }),
  responses: { 200: security },
});
