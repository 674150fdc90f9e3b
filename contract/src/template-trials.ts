// Previews, test emails and previous versions of a template (docs/decisions/0062-blocks.md).
import { z } from "zod";
import { endpoint } from "./endpoint.ts";
import { contactData, emailAddress, id, instant, pathId } from "./field.ts";
import { LIMITS } from "./limits/limits.ts";
import { localeTag } from "./locale-field.ts";
import { byId, contentWarning, plainAddress, templateFields, wholeTemplate } from "./templates.ts";

/** An unsaved email, as its editor shows it. */
export const testDraft = z
  .object({
    subject: templateFields.subject,
    previewText: templateFields.previewText,
    body: templateFields.body,
    type: templateFields.type.optional(),
    from: templateFields.from,
    fromName: templateFields.fromName,
    replyTo: templateFields.replyTo,
  })
  .optional()
  .describe(
    "Unsaved content to send instead of the stored one, which stays as it is. A missing `previewText` means none; a missing `type` or sender is the stored one.",
  );

export const testTemplate = endpoint({
  name: "templates.test",
  method: "POST",
  path: "/templates/:id/test",
  summary: "Send a test email of a template",
  description:
    "Adds [TEST] to the subject and is left out of reports. Rendered for the contact with that address or for `contactId`. For any other recipient the links are marked as a test and change nothing.",
  caller: "project",
  sends: true,
  params: byId,
  body: z.object({
    email: emailAddress,
    contactId: id.optional(),
    locale: localeTag
      .optional()
      .describe("Tests the template in this language. Default: the template's own content."),
    from: plainAddress.optional().describe("The sender, if neither the template nor the project has one."),
    draft: testDraft,
  }),
  unknownFields: "refused",
  responses: { 200: z.object({ success: z.literal(true), email: z.uuid() }) },
  errors: ["TEMPLATE_NOT_FOUND", "CONTACT_NOT_FOUND", "DOMAIN_NOT_VERIFIED", "EMAIL_VERIFICATION_REQUIRED"],
});

export const templateVersion = z.object({
  id: z.uuid(),
  subject: z.string(),
  bytes: z.int().describe("Size of its body."),
  locale: z.string().nullable().describe("The language of the variant; null for the template's own content."),
  savedAt: instant.describe("The time at which this version was saved."),
  replacedAt: instant,
});
export const wholeTemplateVersion = templateVersion.extend({
  previewText: wholeTemplate.shape.previewText,
  body: z.string(),
  design: wholeTemplate.shape.design,
});
const byVersion = z.object({ id: pathId, versionId: pathId });

export const listTemplateVersions = endpoint({
  name: "templates.versions",
  method: "GET",
  path: "/templates/:id/versions",
  summary: "List previous versions of a template",
  description: `All replaced texts, newest first; up to ${LIMITS.templateVersions.value} versions and ${LIMITS.templateVersionBytes.value} bytes are kept for each language. Those of removed languages count together.`,
  caller: "project",
  params: byId,
  responses: { 200: z.object({ versions: z.array(templateVersion) }) },
  errors: ["TEMPLATE_NOT_FOUND"],
});

export const getTemplateVersion = endpoint({
  name: "templates.version",
  method: "GET",
  path: "/templates/:id/versions/:versionId",
  summary: "Read a previous version of a template",
  description: "One version with its complete body.",
  caller: "project",
  params: byVersion,
  responses: { 200: wholeTemplateVersion },
  errors: ["TEMPLATE_NOT_FOUND"],
});

export const restoreTemplateVersion = endpoint({
  name: "templates.restoreVersion",
  method: "POST",
  path: "/templates/:id/versions/:versionId/restore",
  summary: "Restore a previous version of a template",
  description:
    "Restores its subject, preview text and body, in the language of the version; the current text becomes a version.",
  caller: "project",
  params: byVersion,
  responses: { 200: wholeTemplate },
  errors: ["TEMPLATE_NOT_FOUND"],
});

export const previewTemplate = endpoint({
  name: "templates.preview",
  method: "POST",
  path: "/templates/preview",
  summary: "Preview an email with warnings",
  description:
    "Rendered like a real email, with a contact's data, the given data, or both; the given data wins. Nothing is sent or stored, and unsubscribe links are disabled.",
  caller: "project",
  isRead: true,
  body: z.object({
    subject: templateFields.subject,
    previewText: templateFields.previewText,
    body: templateFields.body,
    type: templateFields.type.optional().describe("The type to preview; MARKETING shows the footer."),
    contactId: id.optional().describe("Fills in the data of this contact."),
    data: contactData.optional(),
  }),
  responses: {
    200: z.object({
      subject: z.string(),
      previewText: z.string().describe("The preview text, or the first words of the email."),
      html: z.string(),
      text: z.string(),
      warnings: z.array(contentWarning),
    }),
  },
  errors: ["CONTACT_NOT_FOUND"],
});

export const TEMPLATE_TRIAL_ENDPOINTS = [
  testTemplate,
  listTemplateVersions,
  getTemplateVersion,
  restoreTemplateVersion,
  previewTemplate,
];
