// Endpoints for projects, the tenants, and their keys (spec §4.13, §5; decisions §2).
import { z } from "zod";
import { brand, brandChange } from "./brand.ts";
import { endpoint } from "./endpoint.ts";
import { hasControlCharacters, instant, mailbox, pathId, rule } from "./field.ts";
import { nameText } from "./name-text.ts";
import { LIMITS } from "./limits/limits.ts";
import { ROLES } from "./roles.ts";
import { withValues } from "./translation.ts";

export const TRACKING_MODES = ["ENABLED", "DISABLED", "MARKETING_ONLY"] as const;
export type TrackingMode = (typeof TRACKING_MODES)[number];

/** Handling of transactional email when it is unknown whether the server accepted it. */
export const DOUBT_POLICIES = ["RETRY", "WAIT"] as const;
export type DoubtPolicy = (typeof DOUBT_POLICIES)[number];

export const project = z.object({
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
  sendingRate: z.int().nullable().describe("Emails per second; null for the maximum of the installation."),
  eventRetentionDays: z
    .int()
    .nullable()
    .describe("Minimum retention of events in days; null to keep them permanently."),
  emailRetentionDays: z
    .int()
    .nullable()
    .describe("Minimum retention of email content and recipients in days; null to keep them permanently."),
  postalAddress: z.string().nullable(),
  logoUrl: z.string().nullable(),
  brand: brand.describe("Colors, font and footer of new emails and public pages."),
  inboundAddress: z
    .string()
    .nullable()
    .describe(
      "The project's inbound address; email to it becomes `email.received`. null if the installation accepts no email (INBOUND_DOMAIN).",
    ),
  disabled: z.boolean(),
  removal: z
    .enum(["RESET", "DELETE"])
    .nullable()
    .describe("The running removal: of its data, or of the whole project."),
  createdAt: instant,
  updatedAt: instant,
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
  .refine(
    (text) => text.split("\n").length <= LIMITS.postalAddressLines.value,
    rule(withValues("Must have at most {most} lines.", { most: LIMITS.postalAddressLines.value }), "too_big"),
  );

const logoUrl = z
  .string()
  .trim()
  .max(LIMITS.logoUrlLength.value)
  .refine((text) => isPublicHttps(text) || isImageUrl(text), {
    message:
      "Must be an image of this project, or an https address without a user name, a password or a port.",
    params: { code: "invalid_string" },
  })
  .transform((text) => new URL(text).href);

/** Returns whether every email program can load the address, because an image at any other address is not shown to everyone. */
export function isPublicHttps(text: string): boolean {
  const url = URL.canParse(text) ? new URL(text) : null;
  return (
    url?.protocol === "https:" &&
    url.username === "" &&
    url.password === "" &&
    url.port === "" &&
    url.hostname.includes(".")
  );
}

/** Returns whether it is the address of an uploaded image, of this installation or another. Installations for development have http. */
function isImageUrl(text: string): boolean {
  return /^https?:\/\/[^/@]{1,300}\/images\/[0-9a-f]{64}\.(?:png|jpg|gif|webp)$/.test(text);
}

const byId = z.object({ projectId: pathId });

export const listProjects = endpoint({
  name: "projects.list",
  method: "GET",
  path: "/users/@me/projects",
  summary: "List the projects you are a member of",
  description: "Each with its keys, settings and your role. A MEMBER doesn't see the secret key.",
  caller: "session",
  responses: { 200: z.array(project) },
});

export const createProject = endpoint({
  name: "projects.create",
  method: "POST",
  path: "/users/@me/projects",
  summary: "Create a project; you become its owner",
  description:
    "The response contains both API keys. With the local mailbox, the project can send from `sandbox.localhost` immediately.",
  caller: "session",
  body: z.object({ name: nameText }),
  unknownFields: "refused-unless-returned",
  responses: { 201: project },
  errors: ["CONFLICT"],
});

export const updateProject = endpoint({
  name: "projects.update",
  method: "PATCH",
  path: "/users/@me/projects/:projectId",
  summary: "Change the settings of a project",
  description: "Only the given fields change.",
  caller: "member",
  leastRole: "ADMIN",
  params: byId,
  body: z.object({
    name: nameText.optional(),
    language: language.optional().describe("Language of pages and footers for contacts without a language."),
    tracking: z.enum(TRACKING_MODES).optional().describe("The kinds of email with open and click tracking."),
    whenInDoubt: z
      .enum(DOUBT_POLICIES)
      .optional()
      .describe(
        "For transactional email without a confirmation from the server. RETRY (default) sends it once more with the same Message-ID, so it may arrive twice. WAIT leaves it UNCONFIRMED for you to decide.",
      ),
    suppressionList: z
      .boolean()
      .optional()
      .describe(
        "Whether addresses on the suppression list get no email, not even transactional; default false.",
      ),
    defaultFrom: mailbox.nullable().optional().describe("The sender of emails without one; null removes it."),
    sendingRate: z
      .int()
      .min(1)
      .max(LIMITS.sendingRate.value)
      .nullable()
      .optional()
      .describe("Emails per second, up to the maximum of the installation; null for that maximum."),
    eventRetentionDays: z
      .int()
      .min(LIMITS.eventRetentionMinimum.value)
      .max(LIMITS.eventRetentionMaximum.value)
      .nullable()
      .optional()
      .describe(
        "Minimum retention of events in days. Events of a month (UTC) are deleted once its last day is older than that. Report totals are kept, and segment conditions only see kept events. null to keep events permanently.",
      ),
    emailRetentionDays: z
      .int()
      .min(LIMITS.emailRetentionMinimum.value)
      .max(LIMITS.emailRetentionMaximum.value)
      .nullable()
      .optional()
      .describe(
        "Minimum retention of email content and recipients in days. After that, address, variables and subject are deleted. Shared content is deleted once all emails of its month (UTC) are redacted. Emails that have not ended keep it until the same number of days after they end. Times, delivery status and report totals are kept. null to keep everything permanently.",
      ),
    postalAddress: postalAddress
      .nullable()
      .optional()
      .describe("Shown in the footer of MARKETING emails, line by line; null for none."),
    logoUrl: logoUrl
      .nullable()
      .optional()
      .describe(
        "The `url` of an uploaded image of the project. New emails, the footer of MARKETING emails and public pages show it. An image at another https address appears only in emails. null for none.",
      ),
    brand: brandChange
      .optional()
      .describe("Only the given fields change. Emails that exist keep their colors and font."),
  }),
  unknownFields: "refused-unless-returned",
  responses: { 200: project },
});

export const getSetupState = endpoint({
  name: "projects.setupState",
  method: "GET",
  path: "/projects/:projectId/setup-state",
  summary: "Read the setup progress of a project",
  description: "For the first steps in a dashboard.",
  caller: "project-by-path",
  params: byId,
  envelope: "wrapped",
  responses: {
    200: z.object({
      hasSubscription: z
        .boolean()
        .describe("Whether the project is paid for, if the installation requires it."),
      hasVerifiedDomain: z.boolean(),
      hasOwnDomain: z
        .boolean()
        .describe(
          "Whether a domain is verified in addition to the domain shared by all projects in local mailbox mode.",
        ),
      contactCount: z.int(),
      firstMailAt: instant.nullable().describe("The time at which its first email was accepted."),
      hasReachedMember: z
        .boolean()
        .describe("Whether an email to a member of the project was sent, which proves that sending works."),
      lastCampaignSentAt: instant
        .nullable()
        .describe("The time at which the latest campaign started sending."),
      hasEnabledWorkflow: z.boolean(),
    }),
  },
});

export const enableProject = endpoint({
  name: "projects.enable",
  method: "POST",
  path: "/projects/:projectId/enable",
  summary: "Enable a suspended project",
  description: `For the owner of a project that was disabled because of its rates, after fixing the cause. Earlier emails are no longer counted. Possible once in ${LIMITS.selfEnableDays.value} days. After that, or if someone else disabled it, only an instance admin can enable it (409).`,
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
      .describe("The cause and the fix; recorded in the audit log."),
  }),
  unknownFields: "refused",
  responses: { 200: project },
  errors: ["CONFLICT"],
});

export const regenerateKeys = endpoint({
  name: "projects.regenerateKeys",
  method: "POST",
  path: "/users/@me/projects/:projectId/regenerate-keys",
  summary: "Replace both API keys immediately",
  description:
    "There is no grace period: programs with the old keys get 401 immediately. Also possible in a disabled project, so that a leaked key can be replaced.",
  caller: "member",
  leastRole: "ADMIN",
  isOpenWhenDisabled: true,
  params: byId,
  responses: { 200: project },
});

export const regenerateInboundAddress = endpoint({
  name: "projects.regenerateInboundAddress",
  method: "POST",
  path: "/users/@me/projects/:projectId/regenerate-inbound-address",
  summary: "Replace the inbound address; email to the old one is dropped",
  description: "There is no grace period, as with keys. Also possible in a disabled project.",
  caller: "member",
  leastRole: "ADMIN",
  isOpenWhenDisabled: true,
  params: byId,
  responses: { 200: project },
});
