// Projects, the tenants, and their keys (spec §4.13, §5; decisions §2).
// Before it: field.ts. After it: server/src/projects/routes.ts.
import { z } from "zod";
import { endpoint } from "./endpoint.ts";
import { hasControlCharacters, instant, mailbox, pathId } from "./field.ts";
import { LIMITS } from "./limits.ts";
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
  secret: z.string(),
  role: z.enum(ROLES),
  language: z.string(),
  tracking: z.enum(TRACKING_MODES),
  whenInDoubt: z.enum(DOUBT_POLICIES),
  defaultFrom: z.string().nullable(),
  inboundAddress: z
    .string()
    .nullable()
    .describe(
      "Where people write to the project: their mail becomes `email.received`. null where the installation takes none (INBOUND_DOMAIN).",
    ),
  disabled: z.boolean(),
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
const byId = z.object({ projectId: pathId });

export const listProjects = endpoint({
  name: "projects.list",
  method: "GET",
  path: "/users/@me/projects",
  summary: "List the projects you are a member of",
  description: "Each with its keys and settings, and your role in it.",
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
  answers: { 201: project },
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
    defaultFrom: mailbox
      .nullable()
      .optional()
      .describe("The sender of a mail that names none; null unsets it."),
  }),
  answers: { 200: project },
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
