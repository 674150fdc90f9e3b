// Endpoints for the transports of a project (docs/decisions/0153-a-transport-per-project.md).
import { z } from "zod";
import { EMAIL_KINDS } from "./emails.ts";
import { endpoint } from "./endpoint.ts";
import { instant, pathId } from "./field.ts";
import { LIMITS } from "./limits/limits.ts";
import { nameText } from "./name-text.ts";

const settings = {
  name: nameText,
  url: z
    .string()
    .trim()
    .min(1)
    .max(LIMITS.projectTransportUrl.value)
    .describe(
      "`smtp://user:password@host:587`, `smtps://…` or `ses://accessKeyId:secretAccessKey@region`, with the options of `MAIL_TRANSPORT`. It is encrypted, and its credentials are shown as a mask. A mask keeps the stored credentials if the server is the same.",
    ),
  kinds: z
    .array(z.enum(EMAIL_KINDS))
    .min(1)
    .max(EMAIL_KINDS.length)
    .nullable()
    .optional()
    .describe("The kinds of email that take this transport. null, the default, for all kinds."),
  domain: z
    .string()
    .trim()
    .toLowerCase()
    .min(1)
    .nullable()
    .optional()
    .describe("The domain of the sender, one of the project's domains. null, the default, for all domains."),
  enabled: z
    .boolean()
    .optional()
    .describe("Default: true. Email takes the next match while a transport is disabled."),
};

const projectTransport = z.object({
  id: z.uuid(),
  name: z.string(),
  url: z.string(),
  kinds: z.array(z.enum(EMAIL_KINDS)).nullable(),
  domain: z.string().nullable(),
  enabled: z.boolean(),
  failingSince: instant.nullable().describe("Since when the server is out of service; null if it works."),
  lastError: z.string().nullable().describe("The reply or error at the current outage."),
  createdAt: instant,
  updatedAt: instant,
});
const ofProject = z.object({ projectId: pathId });
const byId = ofProject.extend({ id: pathId });

export const listProjectTransports = endpoint({
  name: "projects.listTransports",
  method: "GET",
  path: "/projects/:projectId/transports",
  summary: "List the transports of a project, oldest first",
  description:
    "Email takes the most specific enabled match: domain and kind, then domain, then kind, then neither. Without a match it takes the transport of the installation. See `docs/transports.md`.",
  caller: "member",
  leastRole: "ADMIN",
  params: ofProject,
  responses: {
    200: z.object({
      data: z.array(projectTransport),
      areUsed: z
        .boolean()
        .describe(
          "false if the installation keeps all email in its local mailbox, also that of these transports.",
        ),
    }),
  },
});

export const createProjectTransport = endpoint({
  name: "projects.createTransport",
  method: "POST",
  path: "/projects/:projectId/transports",
  summary: "Add a transport to a project",
  description: `A project can have up to ${LIMITS.projectTransports.value}. Two transports must not match the same email equally well (409).`,
  caller: "member",
  leastRole: "ADMIN",
  params: ofProject,
  body: z.object(settings),
  unknownFields: "refused",
  responses: { 201: projectTransport },
  errors: ["CONFLICT"],
});

export const updateProjectTransport = endpoint({
  name: "projects.updateTransport",
  method: "PATCH",
  path: "/projects/:projectId/transports/:id",
  summary: "Change, disable or enable a transport of a project",
  description:
    "Only the given fields change. The change applies to every email that is not on its way to the server yet, also to email that waits for a retry.",
  caller: "member",
  leastRole: "ADMIN",
  params: byId,
  body: z.object({ ...settings, name: settings.name.optional(), url: settings.url.optional() }),
  unknownFields: "refused",
  responses: { 200: projectTransport },
  errors: ["RESOURCE_NOT_FOUND", "CONFLICT"],
});

export const deleteProjectTransport = endpoint({
  name: "projects.deleteTransport",
  method: "DELETE",
  path: "/projects/:projectId/transports/:id",
  summary: "Delete a transport of a project",
  description: "Waiting email takes the next match.",
  caller: "member",
  leastRole: "ADMIN",
  params: byId,
  responses: { 204: null },
  errors: ["RESOURCE_NOT_FOUND"],
});

export const testProjectTransport = endpoint({
  name: "projects.testTransport",
  method: "POST",
  path: "/projects/:projectId/transports/:id/test",
  summary: "Connect to the server of a transport without sending",
  description: `Connects and signs in, also while the transport is disabled, and responds within ${LIMITS.transportTestSeconds.value} seconds. The access key of SES is tested only by the first email. Up to ${LIMITS.transportTests.value} per hour and project.`,
  caller: "member",
  leastRole: "ADMIN",
  params: byId,
  responses: {
    200: z.object({
      error: z.string().nullable().describe("Why the server can't be used; null if it can."),
      serverName: z.string().nullable().describe("The name of the server, if it gives one."),
      tls: z.string().nullable().describe("The TLS version; null without encryption."),
      login: z.enum(["accepted", "none", "untried"]).nullable(),
    }),
  },
  errors: ["RESOURCE_NOT_FOUND", "RATE_LIMIT_EXCEEDED"],
});

export const PROJECT_TRANSPORT_ENDPOINTS = [
  listProjectTransports,
  createProjectTransport,
  updateProjectTransport,
  deleteProjectTransport,
  testProjectTransport,
] as const;
