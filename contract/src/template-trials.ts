// A mail to try a template out, and what a template said before (docs/decisions/0062-blocks.md).
import { z } from "zod";
import { endpoint } from "./endpoint.ts";
import { emailAddress, id, instant, pathId } from "./field.ts";
import { LIMITS } from "./limits/limits.ts";
import { byId, plainAddress, wholeTemplate } from "./templates.ts";

export const testTemplate = endpoint({
  name: "templates.test",
  method: "POST",
  path: "/templates/:id/test",
  summary: "Send a test mail of a template",
  description:
    "With [TEST] before its subject, rendered as the contact of that address or of `contactId`; counted nowhere. For anyone else its links are marked as a test and change nothing.",
  caller: "project",
  sends: true,
  params: byId,
  body: z.object({
    email: emailAddress,
    contactId: id.optional(),
    from: plainAddress.optional().describe("The sender, where neither the template nor the project has one."),
  }),
  unknownFields: "refused",
  answers: { 200: z.object({ success: z.literal(true), email: z.uuid() }) },
  errors: ["TEMPLATE_NOT_FOUND", "CONTACT_NOT_FOUND", "DOMAIN_NOT_VERIFIED", "EMAIL_VERIFICATION_REQUIRED"],
});

const version = z.object({
  id: z.uuid(),
  subject: z.string(),
  bytes: z.int().describe("Of its body."),
  savedAt: instant.describe("Since when it was what the template said."),
  replacedAt: instant,
});
const byVersion = z.object({ id: pathId, versionId: pathId });

export const listTemplateVersions = endpoint({
  name: "templates.versions",
  method: "GET",
  path: "/templates/:id/versions",
  summary: "List what a template said before",
  description: `Each text that was replaced, newest first; up to ${LIMITS.templateVersions.value} and ${LIMITS.templateVersionBytes.value} bytes are kept.`,
  caller: "project",
  params: byId,
  answers: { 200: z.object({ versions: z.array(version) }) },
  errors: ["TEMPLATE_NOT_FOUND"],
});

export const getTemplateVersion = endpoint({
  name: "templates.version",
  method: "GET",
  path: "/templates/:id/versions/:versionId",
  summary: "Read what a template said before",
  description: "One version with its whole body.",
  caller: "project",
  params: byVersion,
  answers: { 200: version.extend({ body: z.string(), design: wholeTemplate.shape.design }) },
  errors: ["TEMPLATE_NOT_FOUND"],
});

export const restoreTemplateVersion = endpoint({
  name: "templates.restoreVersion",
  method: "POST",
  path: "/templates/:id/versions/:versionId/restore",
  summary: "Let a template say again what it said before",
  description: "Its subject and its body; what it says now becomes a version.",
  caller: "project",
  params: byVersion,
  answers: { 200: wholeTemplate },
  errors: ["TEMPLATE_NOT_FOUND"],
});
