// The installation page of instance admins: the state of the whole installation, and its projects (decision 0150).
import { z } from "zod";
import { EMAIL_KINDS } from "./emails.ts";
import { endpoint } from "./endpoint.ts";
import { instant, pathId } from "./field.ts";
import { JOB_STATES } from "./job.ts";
import { growth, process } from "./installation-processes.ts";
import { LIMITS } from "./limits/limits.ts";
import { translation } from "./translation.ts";

/** Every list of these responses has up to this many items. */
export const INSTALLATION_ITEMS = 100;
/** Emails of one queue are counted up to this number. */
export const INSTALLATION_COUNTED = 10_000;

export const ONLY_ADMINS =
  "Only for accounts whose confirmed address is in `ADMIN_EMAILS`, with a session. Other accounts get a 404.";
const inTime = "Null if reading it took too long.";

const reference = z.object({ id: z.uuid(), name: z.string() });
const projectOf = reference.nullable().describe("Null for platform email.");

export const QUEUE_REASONS = [
  "PROJECT_DISABLED",
  "PROJECT_CLOSED",
  "CAMPAIGN_PAUSED",
  "CAMPAIGN_CLOSED",
  "HELD",
  "DOMAIN_THROTTLED",
  "RETRY",
  "LATER",
  "NO_PROCESS",
  "TRANSPORT_OUTAGE",
  "SENDING_RATE",
] as const;
export type QueueReason = (typeof QUEUE_REASONS)[number];

const finding = z.object({
  check: z.string(),
  state: z.enum(["ok", "warning", "problem"]),
  message: z.string(),
  translation: translation.optional(),
  advice: z.string().nullable(),
});

const queue = z.object({
  project: projectOf,
  kind: z.enum(EMAIL_KINDS),
  campaign: reference.nullable(),
  waiting: z.int().describe(`Counted up to ${INSTALLATION_COUNTED}.`),
  due: z.int().describe("Waiting emails that could be sent now."),
  held: z.boolean().describe("Whether some wait for a decision about held email."),
  oldestDueAt: instant.nullable().describe("The oldest due time. Null if all are held."),
  reason: z
    .enum(QUEUE_REASONS)
    .nullable()
    .describe(
      "Why they wait. Null if they are being sent. `LATER`: none is due yet. `RETRY`: the next one was deferred.",
    ),
});

const job = z.object({
  id: z.uuid(),
  project: reference,
  kind: z.string(),
  state: z.enum(JOB_STATES),
  isLate: z.boolean(),
  failures: z.int().describe("Failures since the last successful step."),
  failedReason: z.string().nullable(),
  createdAt: instant,
});

const schedule = z.object({
  kind: z.enum(["CAMPAIGN", "WORKFLOW"]),
  id: z.uuid(),
  name: z.string(),
  project: reference,
  at: instant,
  isLate: z.boolean(),
});

const throttledDomain = z.object({
  project: reference,
  campaignId: z.uuid().nullable(),
  destination: z.string(),
  reply: z.string(),
  since: instant,
  nextTryAt: instant,
});

export const getInstallation = endpoint({
  name: "installation.get",
  method: "GET",
  path: "/installation",
  summary: "Read the state of the installation",
  description: `${ONLY_ADMINS} Lists have up to ${INSTALLATION_ITEMS} items. A part that can't be read in time is null.`,
  caller: "session",
  responses: {
    200: z.object({
      at: instant,
      version: z.string(),
      settings: z.object({
        roles: z.array(z.string()).describe("Of the process that responds."),
        signUps: z.boolean(),
        verificationRequired: z.boolean(),
        reputationGuard: z.boolean(),
        systemFrom: z.string().describe("The sender of platform email."),
      }),
      findings: z.array(finding).nullable().describe(`The quick checks of \`npm run doctor\`. ${inTime}`),
      processes: z.array(process).nullable().describe(`All processes, whatever their roles. ${inTime}`),
      transports: z
        .array(
          z.object({
            label: z.string(),
            outage: z.string().nullable().describe("As a live process reports it."),
          }),
        )
        .nullable()
        .describe(`In the order of \`MAIL_TRANSPORT\`. ${inTime}`),
      throttledDomains: z.array(throttledDomain).nullable().describe(inTime),
      queues: z
        .array(queue)
        .nullable()
        .describe(
          `Queues with waiting email. Those of suspended projects and paused campaigns come last, otherwise the oldest first. ${inTime}`,
        ),
      unconfirmed: z.int().nullable().describe(`Emails in doubt, up to ${INSTALLATION_COUNTED}. ${inTime}`),
      jobs: z.array(job).nullable().describe(`Open jobs, and those that failed within a day. ${inTime}`),
      schedules: z.array(schedule).nullable().describe(`The next ones. ${inTime}`),
      database: z
        .object({
          version: z.string(),
          bytes: z.number(),
          connections: z.int(),
          maxConnections: z.int(),
          isElsewhere: z.boolean().describe("Whether DATABASE_URL names it."),
        })
        .nullable()
        .describe(inTime),
      tables: z
        .array(
          z.object({
            name: z.string(),
            bytes: z.number(),
            rows: z.number().describe("Estimated."),
            bytesPerDay: z.number().nullable().describe("Null if the history is too short."),
          }),
        )
        .nullable()
        .describe(`The largest tables, with their indexes. ${inTime}`),
      disk: z
        .object({ freeBytes: z.number(), totalBytes: z.number() })
        .nullable()
        .describe("The disk of DATA_DIR. Null if it can't be read."),
      growth: growth
        .nullable()
        .describe(
          "Growth over the last 30 days, measured every hour by a process with the role `worker`. Null with less than three days of history.",
        ),
    }),
  },
  errors: ["RESOURCE_NOT_FOUND"],
});

export const getInstallationAccess = endpoint({
  name: "installation.access",
  method: "GET",
  path: "/installation/access",
  summary: "Check whether the account administers the installation",
  description: "For any account, so that a dashboard can show the link only to instance admins.",
  caller: "session",
  responses: { 200: z.object({ isAdmin: z.boolean() }) },
});

const cap = z.int().nullable();
export const installationProject = z.object({
  id: z.uuid(),
  name: z.string(),
  owner: z.string().nullable().describe("The address of its owner."),
  createdAt: instant,
  disabled: z.boolean(),
  removal: z.enum(["RESET", "DELETE"]).nullable(),
  sendingRate: z.int().nullable(),
  caps: z.object({ transactional: cap, campaigns: cap, workflows: cap }).describe("Emails per month."),
  sentLast30Days: z.int(),
});

export const listInstallationProjects = endpoint({
  name: "installation.projects",
  method: "GET",
  path: "/installation/projects",
  summary: "List the projects of the installation",
  description: `${ONLY_ADMINS} Disabled projects come first, then the newest. Returns up to ${INSTALLATION_ITEMS}; use \`search\` to find others.`,
  caller: "session",
  query: z.object({
    search: z
      .string()
      .max(LIMITS.searchLength.value)
      .optional()
      .describe("Part of a name or of the owner's address, or an id."),
  }),
  responses: { 200: z.object({ data: z.array(installationProject), total: z.int() }) },
  errors: ["RESOURCE_NOT_FOUND"],
});

const byProject = z.object({ id: pathId });
const reason = z.object({
  reason: z
    .string()
    .trim()
    .min(LIMITS.enableReasonMinimum.value)
    .max(LIMITS.enableReasonMaximum.value)
    .describe("Recorded in the project's audit log, which its members can read."),
});
const changed = z.object({ changed: z.boolean().describe("False if it already was.") });

export const suspendInstallationProject = endpoint({
  name: "installation.suspendProject",
  method: "POST",
  path: "/installation/projects/:id/suspend",
  summary: "Suspend a project of the installation",
  description: `${ONLY_ADMINS} Its email waits, and its API returns PROJECT_DISABLED. Its owner can't enable it.`,
  caller: "session",
  params: byProject,
  body: reason,
  unknownFields: "refused",
  responses: { 200: changed },
  errors: ["RESOURCE_NOT_FOUND", "PROJECT_NOT_FOUND"],
});

export const enableInstallationProject = endpoint({
  name: "installation.enableProject",
  method: "POST",
  path: "/installation/projects/:id/enable",
  summary: "Enable a project of the installation",
  description: `${ONLY_ADMINS} Its email is sent again, and its rates are counted from now on.`,
  caller: "session",
  params: byProject,
  body: reason,
  unknownFields: "refused",
  responses: { 200: changed },
  errors: ["RESOURCE_NOT_FOUND", "PROJECT_NOT_FOUND", "CONFLICT"],
});

export const testTransports = endpoint({
  name: "installation.testTransports",
  method: "POST",
  path: "/installation/test-transports",
  summary: "Connect to every transport without sending",
  description: `${ONLY_ADMINS} Connects and signs in from the process that responds. Takes up to 15 seconds.`,
  caller: "session",
  responses: {
    200: z.object({
      transports: z.array(z.object({ label: z.string(), works: z.boolean(), message: z.string() })),
    }),
  },
  errors: ["RESOURCE_NOT_FOUND", "RATE_LIMIT_EXCEEDED"],
});

export const sendInstallationTest = endpoint({
  name: "installation.sendTest",
  method: "POST",
  path: "/installation/test-email",
  summary: "Send a test email to your own address",
  description: `${ONLY_ADMINS} Sends platform email and waits up to ten seconds for the mail server's reply. \`QUEUED\` with a reply means that it will be retried.`,
  caller: "session",
  responses: {
    200: z.object({
      id: z.uuid(),
      status: z.string(),
      transport: z.string().nullable(),
      reply: z.string().nullable().describe("The mail server's latest reply. Null if there is none yet."),
    }),
  },
  errors: ["RESOURCE_NOT_FOUND", "RATE_LIMIT_EXCEEDED"],
});

/** In the order of the documentation. */
export const INSTALLATION_ENDPOINTS = [
  getInstallation,
  getInstallationAccess,
  listInstallationProjects,
  suspendInstallationProject,
  enableInstallationProject,
  testTransports,
  sendInstallationTest,
] as const;
