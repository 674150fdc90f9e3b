// Who did what to a project, and from where.
import { z } from "zod";
import { endpoint } from "./endpoint.ts";
import { cursorList, instant, pageQuery, pathId } from "./field.ts";

/** What is noted, as `<what>.<done>`. */
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
  "webhookSecret.rotated",
  "suppressions.added",
  "suppressions.imported",
  "suppressions.exported",
  "suppression.removed",
  "contacts.exported",
  "campaign.sent",
  "campaign.scheduled",
  "campaign.cancelled",
] as const;
export type AuditAction = (typeof AUDIT_ACTIONS)[number];

/** Whose hand it was: a member's, the secret key's, or the service's own. */
export const ACTOR_KINDS = ["person", "key", "service"] as const;
export type ActorKind = (typeof ACTOR_KINDS)[number];

const auditEntry = z.object({
  id: z.uuid(),
  number: z.int().describe("Counts the entries of the project from 1, without a gap."),
  at: instant,
  actor: z.object({
    kind: z.enum(ACTOR_KINDS),
    userId: z.uuid().nullable(),
    email: z.string().nullable().describe("As it was then."),
    ip: z.string().nullable().describe("Where the request came from."),
  }),
  action: z.enum(AUDIT_ACTIONS),
  target: z
    .object({ id: z.string(), name: z.string().nullable() })
    .nullable()
    .describe("Whom or what it was done to, where that is not the project itself."),
  details: z
    .record(z.string(), z.unknown())
    .describe("What changed: `{from, to}` of each setting, roles, and what else the action says."),
  hash: z.string().describe("SHA-256 of this entry and the hash of the one before, in hexadecimal."),
});

export const listAuditLog = endpoint({
  name: "audit.list",
  method: "GET",
  path: "/projects/:projectId/audit-log",
  summary: "List who changed what of a project, newest first",
  description:
    "Settings, keys, members, suspensions, domains, the webhook secret, the suppression list, exports as CSV, campaigns that are sent or cancelled, reset and deletion. No entry has the address of a contact. An entry is written with the change itself and never changed; each carries the hash of the one before, so that a missing or edited one shows.",
  caller: "project-by-path",
  leastRole: "ADMIN",
  params: z.object({ projectId: pathId }),
  query: pageQuery,
  answers: { 200: cursorList(auditEntry) },
});
