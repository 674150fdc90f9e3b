// Endpoints for the variants of a template: its content in other languages (docs/decisions/0144-variants-of-templates.md).
import { z } from "zod";
import { shownPreviewText } from "./content.ts";
import { endpoint } from "./endpoint.ts";
import { expectedUpdatedAt, instant, pathId, pathText } from "./field.ts";
import { LIMITS } from "./limits/limits.ts";
import { bodyMissing, contentFields, contentWarning, hasBody, storedDesign } from "./templates.ts";

export const templateVariant = z.object({
  locale: z.string().describe("The language tag in canonical form, such as `pt-BR`."),
  subject: z.string(),
  previewText: shownPreviewText,
  body: z.string(),
  design: storedDesign,
  createdAt: instant,
  updatedAt: instant,
});

/** The route checks the tag, so that a malformed one is an error that names it. */
const byLocale = z.object({ id: pathId, locale: pathText });

export const getTemplateVariant = endpoint({
  name: "templates.variant",
  method: "GET",
  path: "/templates/:id/variants/:locale",
  summary: "Read a template in a language",
  description: "The variant for exactly this language. `locales` of a template lists its languages.",
  caller: "project",
  params: byLocale,
  responses: { 200: templateVariant },
  errors: ["VALIDATION_ERROR", "TEMPLATE_NOT_FOUND"],
});

export const saveTemplateVariant = endpoint({
  name: "templates.saveVariant",
  method: "PUT",
  path: "/templates/:id/variants/:locale",
  summary: "Write a template in a language",
  description: `Creates or replaces the variant for this language (BCP 47), up to ${LIMITS.templateVariants.value} for each template. Emails get the variant for \`locale\` of the call or the contact, then the one for the language without its region, then the template's own content. Sender, reply address and type are those of the template. The replaced content becomes a version. Subject and body are checked as in the template.`,
  caller: "project",
  params: byLocale,
  body: z
    .object({
      subject: contentFields.subject,
      previewText: contentFields.previewText,
      body: contentFields.body
        .optional()
        .describe("HTML with Handlebars variables. Required unless there is a design with blocks."),
      design: contentFields.design,
      expectedUpdatedAt,
    })
    .refine(hasBody, bodyMissing),
  unknownFields: "refused-unless-returned",
  responses: {
    200: templateVariant.extend({
      warnings: z
        .array(contentWarning)
        .describe("Merge tags of other services, and variables for which no contact has a value."),
    }),
  },
  errors: ["TEMPLATE_NOT_FOUND", "CHANGED_MEANWHILE"],
});

export const deleteTemplateVariant = endpoint({
  name: "templates.deleteVariant",
  method: "DELETE",
  path: "/templates/:id/variants/:locale",
  summary: "Remove a language from a template",
  description:
    "Its contacts get the next best content from then on. Emails accepted earlier keep theirs. The removed content becomes a version, and restoring that version brings the language back.",
  caller: "project",
  params: byLocale,
  responses: { 204: null },
  errors: ["VALIDATION_ERROR", "TEMPLATE_NOT_FOUND"],
});

export const TEMPLATE_VARIANT_ENDPOINTS = [getTemplateVariant, saveTemplateVariant, deleteTemplateVariant];
