// Audit log of a project: the author, time and origin of each change.
import { z } from "zod";
import { endpoint } from "./endpoint.ts";
import { cursorList, id, inputInstant, instant, pageQuery, pathId } from "./field.ts";

/** Recorded actions, as `<object>.<action>`. */
export const AUDIT_ACTIONS = [
  "project.created",
  "project.updated",
  "project.suspended",
  "project.enabled",
  "project.resetRequested",
  "project.reset",
  "project.deletionRequested",
  "project.deleted",
  "billing.checkoutOpened",
  "billing.subscriptionChanged",
  "billing.limitsChanged",
  "keys.regenerated",
  "key.created",
  "key.revoked",
  "inboundAddress.regenerated",
  "member.added",
  "member.roleChanged",
  "member.removed",
  "member.left",
  "ownership.transferred",
  "invitation.sent",
  "invitation.accepted",
  "invitation.revoked",
  "domain.added",
  "domain.updated",
  "domain.keyRotated",
  "domain.removed",
  "linkDomain.set",
  "linkDomain.removed",
  "transport.added",
  "transport.updated",
  "transport.removed",
  "webhookSecret.rotated",
  "webhookEndpoint.added",
  "webhookEndpoint.updated",
  "webhookEndpoint.secretRotated",
  "webhookEndpoint.disabled",
  "webhookEndpoint.removed",
  "suppressions.added",
  "suppressions.imported",
  "suppressions.exported",
  "suppression.removed",
  "contacts.exported",
  "campaign.exported",
  "campaign.sent",
  "campaign.scheduled",
  "campaign.cancelled",
] as const;
export type AuditAction = (typeof AUDIT_ACTIONS)[number];

/** The kind of author: a member, the secret key or the service. */
export const ACTOR_KINDS = ["person", "key", "service"] as const;
export type ActorKind = (typeof ACTOR_KINDS)[number];

export const auditEntry = z.object({
  id: z.uuid(),
  number: z.int().describe("Counts the project's entries from 1, without gaps."),
  at: instant,
  actor: z.object({
    kind: z.enum(ACTOR_KINDS),
    userId: z.uuid().nullable(),
    email: z.string().nullable().describe("The address at that time."),
    ip: z.string().nullable().describe("The IP address of the request."),
  }),
  action: z.enum(AUDIT_ACTIONS),
  target: z
    .object({ id: z.string(), name: z.string().nullable() })
    .nullable()
    .describe("The target of the action, unless it is the project itself."),
  details: z
    .record(z.string(), z.unknown())
    .describe("The changes: `{from, to}` for each setting, roles, and details specific to the action."),
  hash: z.string().describe("SHA-256 of this entry and the previous hash, in hexadecimal."),
});

export const listAuditLog = endpoint({
  name: "audit.list",
  method: "GET",
  path: "/projects/:projectId/audit-log",
  summary: "List changes of a project with their authors, newest first",
  description:
    "Settings, keys, members, suspensions, domains, transports, the webhook secret, webhook endpoints, the suppression list, CSV exports, sent or cancelled campaigns, reset and deletion. No entry contains a contact's address. An entry is written together with its change and never modified. Each contains the previous entry's hash, so a missing or edited entry is detectable.",
  caller: "project-by-path",
  leastRole: "ADMIN",
  params: z.object({ projectId: pathId }),
  query: pageQuery.extend({
    action: z.enum(AUDIT_ACTIONS).optional(),
    actorKind: z.enum(ACTOR_KINDS).optional(),
    userId: id.optional().describe("Only entries by this user."),
    since: inputInstant.optional().describe("Only entries at or after this time (ISO 8601)."),
    until: inputInstant.optional().describe("Only entries before this time (ISO 8601)."),
  }),
  responses: { 200: cursorList(auditEntry) },
});
