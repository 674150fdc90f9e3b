// Endpoints for projects, the tenants, and their keys (spec §4.13, §5; decisions §2).
import { z } from "zod";
import { endpoint } from "./endpoint.ts";
import { hasControlCharacters, instant, mailbox, pathId } from "./field.ts";
import { LIMITS } from "./limits/limits.ts";
import { ROLES } from "./roles.ts";

export const TRACKING_MODES = ["ENABLED", "DISABLED", "MARKETING_ONLY"] as const;
export type TrackingMode = (typeof TRACKING_MODES)[number];

/** What is done with transactional mail of which nobody knows whether it was taken. */
export const DOUBT_POLICIES = ["RETRY", "WAIT"] as const;
export type DoubtPolicy = (typeof DOUBT_POLICIES)[number];

const project = z.object({
  id: z.uuid(),
  name: z.string(),
  public: z.string(),
  secret: z.string().nullable().describe("null for a MEMBER, who creates scoped keys instead."),
  role: z.enum(ROLES),
  language: z.string(),
  tracking: z.enum(TRACKING_MODES),
  whenInDoubt: z.enum(DOUBT_POLICIES),
  suppressionList: z.boolean(),
  defaultFrom: z.string().nullable(),
  sendingRate: z
    .int()
    .nullable()
    .describe("Mails a second; null: as many as the installation lets a project send."),
  eventRetentionDays: z.int().nullable().describe("How many days events are kept at least; null: for ever."),
  emailRetentionDays: z
    .int()
    .nullable()
    .describe("How many days what mails said and to whom is kept at least; null: for ever."),
  postalAddress: z.string().nullable(),
  logoUrl: z.string().nullable(),
  inboundAddress: z
    .string()
    .nullable()
    .describe(
      "Where people write to the project: their mail becomes `email.received`. null where the installation takes none (INBOUND_DOMAIN).",
    ),
  disabled: z.boolean(),
  removal: z
    .enum(["RESET", "DELETE"])
    .nullable()
    .describe("What is being done away with: its data, or all of it."),
  createdAt: instant,
  updatedAt: instant,
});

const projectName = z
  .string()
  .trim()
  .min(1)
  .max(LIMITS.nameLength.value)
  .refine((name) => !hasControlCharacters(name), {
    message: "Must not contain line breaks or control characters.",
    params: { code: "invalid_string" },
  });

const language = z.string().regex(/^[a-z]{2}(-[A-Z]{2})?$/, "Must be a language code such as en or pt-BR.");
const postalAddress = z
  .string()
  .trim()
  .min(1)
  .max(LIMITS.postalAddressLength.value)
  .transform((text) =>
    text
      .split(/\r\n|\r|\n/)
      .map((line) => line.trim())
      .filter((line) => line !== "")
      .join("\n"),
  )
  .refine((text) => !text.split("\n").some(hasControlCharacters), {
    message: "Must not contain control characters.",
    params: { code: "invalid_string" },
  })
  .refine((text) => text.split("\n").length <= LIMITS.postalAddressLines.value, {
    message: `Must have at most ${LIMITS.postalAddressLines.value} lines.`,
    params: { code: "too_big" },
  });

const logoUrl = z
  .string()
  .trim()
  .max(LIMITS.logoUrlLength.value)
  .refine((text) => isPublicHttps(text), {
    message: "Must be an https address without a user name, a password or a port.",
    params: { code: "invalid_string" },
  })
  .transform((text) => new URL(text).href);

/** What every mail program may load: nothing else shows an image to everybody. */
function isPublicHttps(text: string): boolean {
  const url = URL.canParse(text) ? new URL(text) : null;
  return (
    url?.protocol === "https:" &&
    url.username === "" &&
    url.password === "" &&
    url.port === "" &&
    url.hostname.includes(".")
  );
}

const byId = z.object({ projectId: pathId });

export const listProjects = endpoint({
  name: "projects.list",
  method: "GET",
  path: "/users/@me/projects",
  summary: "List the projects you are a member of",
  description: "Each with its keys and settings, and your role in it. A MEMBER doesn't see the secret key.",
  caller: "session",
  answers: { 200: z.array(project) },
});

export const createProject = endpoint({
  name: "projects.create",
  method: "POST",
  path: "/users/@me/projects",
  summary: "Create a project; you become its owner",
  description:
    "The answer holds both API keys. With the local mailbox the project may send from `sandbox.localhost` at once.",
  caller: "session",
  body: z.object({ name: projectName }),
  unknownFields: "refused-unless-returned",
  answers: { 201: project },
  errors: ["CONFLICT"],
});

export const updateProject = endpoint({
  name: "projects.update",
  method: "PATCH",
  path: "/users/@me/projects/:projectId",
  summary: "Change the settings of a project",
  description: "Only what is sent changes.",
  caller: "member",
  leastRole: "ADMIN",
  params: byId,
  body: z.object({
    name: projectName.optional(),
    language: language.optional().describe("Of pages and footers for contacts without one of their own."),
    tracking: z.enum(TRACKING_MODES).optional().describe("Of which mails opens and clicks are tracked."),
    whenInDoubt: z
      .enum(DOUBT_POLICIES)
      .optional()
      .describe(
        "Transactional mail that was handed over without an answer: RETRY (default) sends it once more under the same Message-ID, so that it may arrive twice; WAIT leaves it UNCONFIRMED for a person.",
      ),
    suppressionList: z
      .boolean()
      .optional()
      .describe(
        "Whether addresses on the suppression list get nothing, not even transactional mail; false unless said otherwise.",
      ),
    defaultFrom: mailbox
      .nullable()
      .optional()
      .describe("The sender of a mail that names none; null unsets it."),
    sendingRate: z
      .int()
      .min(1)
      .max(LIMITS.sendingRate.value)
      .nullable()
      .optional()
      .describe("Mails a second, at most what the installation lets a project send; null: as many as that."),
    eventRetentionDays: z
      .int()
      .min(LIMITS.eventRetentionMinimum.value)
      .max(LIMITS.eventRetentionMaximum.value)
      .nullable()
      .optional()
      .describe(
        "How many days events are kept at least: those of a month (UTC) are deleted once its last day is so many days ago. Numbers of reports stay; conditions of segments see what is kept. null: for ever.",
      ),
    emailRetentionDays: z
      .int()
      .min(LIMITS.emailRetentionMinimum.value)
      .max(LIMITS.emailRetentionMaximum.value)
      .nullable()
      .optional()
      .describe(
        "How many days what mails said and to whom is kept at least. After that address, variables and subject are forgotten, and what mails said once all mails of its month (UTC) are; mails that have not ended keep it until so many days after they did. That they were sent, when, and what came back stays, and so do the numbers of reports. null: for ever.",
      ),
    postalAddress: postalAddress
      .nullable()
      .optional()
      .describe("Shown in the footer of MARKETING mails, line by line; null: none."),
    logoUrl: logoUrl
      .nullable()
      .optional()
      .describe(
        "An image shown above the footer of MARKETING mails, and on the pages for unsubscribing when it was uploaded here; https, null: none.",
      ),
  }),
  unknownFields: "refused-unless-returned",
  answers: { 200: project },
});

export const getSetupState = endpoint({
  name: "projects.setupState",
  method: "GET",
  path: "/projects/:projectId/setup-state",
  summary: "Read how far a project has come",
  description: "What a dashboard shows to whoever begins.",
  caller: "project-by-path",
  params: byId,
  envelope: "wrapped",
  answers: {
    200: z.object({
      hasSubscription: z.boolean().describe("Whether it is paid for, where the installation asks for that."),
      hasVerifiedDomain: z.boolean(),
      hasOwnDomain: z
        .boolean()
        .describe("Whether one is verified beside the domain that all projects share while mail stays here."),
      contactCount: z.int(),
      firstMailAt: instant.nullable().describe("When its first mail was accepted."),
      hasReachedMember: z
        .boolean()
        .describe("Whether a mail to a member of the project has left: then the way out was tried."),
      lastCampaignSentAt: instant.nullable().describe("When the newest campaign began to leave."),
      hasEnabledWorkflow: z.boolean(),
    }),
  },
});

export const enableProject = endpoint({
  name: "projects.enable",
  method: "POST",
  path: "/projects/:projectId/enable",
  summary: "Enable a project again after a suspension",
  description: `For the owner of a project that was disabled for its rates, once the cause is gone; mails before it are not counted any more. Once in ${LIMITS.selfEnableDays.value} days: after that, or when somebody else disabled it, only whoever runs the installation can (409).`,
  caller: "member",
  leastRole: "OWNER",
  isOpenWhenDisabled: true,
  params: byId,
  body: z.object({
    reason: z
      .string()
      .trim()
      .min(LIMITS.enableReasonMinimum.value)
      .max(LIMITS.enableReasonMaximum.value)
      .describe("What the cause was and what was done about it; stands in the audit log."),
  }),
  unknownFields: "refused",
  answers: { 200: project },
  errors: ["CONFLICT"],
});

export const regenerateKeys = endpoint({
  name: "projects.regenerateKeys",
  method: "POST",
  path: "/users/@me/projects/:projectId/regenerate-keys",
  summary: "Replace both API keys; the old ones stop working at once",
  description:
    "There is no grace period: whatever uses the old keys gets 401 from this moment on. A disabled project may do so too: a key that leaked must go.",
  caller: "member",
  leastRole: "ADMIN",
  isOpenWhenDisabled: true,
  params: byId,
  answers: { 200: project },
});

export const regenerateInboundAddress = endpoint({
  name: "projects.regenerateInboundAddress",
  method: "POST",
  path: "/users/@me/projects/:projectId/regenerate-inbound-address",
  summary: "Replace the address people write to; mail to the old one is dropped from then on",
  description: "There is no grace period, as with keys. A disabled project may do so too.",
  caller: "member",
  leastRole: "ADMIN",
  isOpenWhenDisabled: true,
  params: byId,
  answers: { 200: project },
});
