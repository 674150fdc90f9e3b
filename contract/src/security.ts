// How the mail of a project is received: rates of bounces and complaints, and what follows from them (decisions §2).
import { z } from "zod";
import { endpoint } from "./endpoint.ts";
import { instant, pathId } from "./field.ts";
import { LIMITS } from "./limits/limits.ts";

export const LEVELS = ["healthy", "warning", "critical"] as const;
export type Level = (typeof LEVELS)[number];

const percent = z.number().describe("Percent of `total`.");
const window = z.object({
  total: z
    .int()
    .describe("Mails that left, and mails that a server refused because the address does not exist."),
  bounces: z.int().describe("Of these, how many came back for good."),
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
  mails: z.int().describe("Of how many."),
  rate: z.number().describe("In percent."),
  threshold: z.number().describe("From which percentage on it is of that level."),
});

/** A rate of a project that is worse than it may be. */
export type BadRate = z.output<typeof badRate>;

export const security = z.object({
  status: z.object({
    projectId: z.uuid(),
    isHealthy: z.boolean().describe("No level is warning or critical."),
    shouldDisable: z
      .boolean()
      .describe(
        `Something is critical, with at least ${LIMITS.criticalBounces.value} bounces or ${LIMITS.criticalComplaints.value} complaints.`,
      ),
    isNewProject: z.boolean().describe(`Fewer than ${LIMITS.ratedMails.value} mails: no rate is judged yet.`),
    countedFrom: instant
      .nullable()
      .describe("The last suspension that was lifted: mails before it are not counted any more."),
    twentyFourHour: window.describe("By the hour: the hours that touch the last 24."),
    sevenDay: window.describe("By the hour: the hours that touch the last 7 days."),
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
  suspensions: z
    .array(
      z.object({
        at: instant,
        reasons: z.array(z.string()),
        rates: z
          .array(badRate)
          .describe("What the reasons say, in numbers; none for suspensions from before they were kept."),
      }),
    )
    .describe("When the project was disabled for its rates, newest first."),
});

const description =
  "Counted are mails by the hour in which they left; a bounce or a complaint counts to the mail it is about. " +
  "Bounces: warning from 5 %, critical from 10 % over 7 days; 4 % and 8 % over all time. Complaints: 0.075 % and 0.15 %; 0.03 % and 0.12 %. " +
  "A critical project is disabled and its members are told, unless the setting `REPUTATION_GUARD` is off.";

export const getOwnSecurity = endpoint({
  name: "projects.ownSecurity",
  method: "GET",
  path: "/users/@me/projects/:projectId/security",
  summary: "Read how the mail of a project of yours is received",
  description,
  caller: "member",
  params: z.object({ projectId: pathId }),
  answers: { 200: security },
});

export const getSecurity = endpoint({
  name: "projects.security",
  method: "GET",
  path: "/projects/:projectId/security",
  summary: "Read how the mail of a project is received",
  description,
  caller: "project-by-path",
  params: z.object({ projectId: pathId }),
  answers: { 200: security },
});
