// Template endpoints: reusable email content with an id (spec §2.5, 4.5; decisions §6).
import { z } from "zod";
import { IN_PARTS } from "./advice.ts";
import { contentWarningPart } from "./content-warnings.ts";
import { bodyText, previewText, shownPreviewText, subject } from "./content.ts";
import { DESIGN_FORMAT, problemsOfDesign } from "./design.ts";
import { endpoint } from "./endpoint.ts";
import {
  cursorList,
  displayName,
  emailAddress,
  expectedUpdatedAt,
  instant,
  jsonSchemas,
  pageQuery,
  pathId,
} from "./field.ts";
import { nameText } from "./name-text.ts";
import { LIMITS } from "./limits/limits.ts";

/**
 * MARKETING goes to subscribed contacts only, with an unsubscribe footer and header. HEADLESS is the same without the footer. TRANSACTIONAL
 * goes to everyone, with neither.
 */
export const TEMPLATE_TYPES = ["TRANSACTIONAL", "MARKETING", "HEADLESS"] as const;
export type TemplateType = (typeof TEMPLATE_TYPES)[number];

export const template = z.object({
  id: z.uuid(),
  name: z.string(),
  description: z.string().nullable(),
  type: z.enum(TEMPLATE_TYPES),
  subject: z.string(),
  body: z.string(),
  from: z.string().nullable(),
  fromName: z.string().nullable(),
  replyTo: z.string().nullable(),
  locales: z
    .array(z.string())
    .describe(
      "The languages that have a variant, as tags in canonical form. The template's own content is for all others.",
    ),
  createdAt: instant,
  updatedAt: instant,
});

/** The design in a response. */
export const storedDesign = z
  .record(z.string(), z.unknown())
  .nullable()
  .describe("The editor's data in addition to the body; not included in lists.");

export const wholeTemplate = template.extend({
  previewText: shownPreviewText,
  design: storedDesign,
});

export const byId = z.object({ id: pathId });

/** A template's sender is checked once, when it is saved, so no contact's data can change it. */
const noVariables = {
  message: "Must not contain {{…}}, because variables are filled in only in the subject and the body.",
  params: { code: "invalid_string" },
};
export const plainAddress = emailAddress
  .refine((address) => !address.includes("{{"), noVariables)
  .register(jsonSchemas, { jsonSchema: { type: "string", format: "email", examples: ["news@example.com"] } });
const plainName = displayName.trim().refine((name) => !name.includes("{{"), noVariables);

/** The data of an editor; a design in our own format must be valid. */
export const design = z
  .record(z.string(), z.unknown())
  .superRefine((input, ctx) => {
    if (input["format"] !== DESIGN_FORMAT) return;
    for (const { path, message, translation } of problemsOfDesign(input))
      ctx.addIssue({ code: "custom", path: [...path], message, params: { translation } });
  })
  .nullable();

/** Returns whether there is content to send: a body, or blocks that produce one. */
export const hasBody = ({ body, design: input }: { body?: unknown; design?: unknown }) =>
  body !== undefined || (input as Record<string, unknown> | null | undefined)?.["format"] === DESIGN_FORMAT;
export const bodyMissing = {
  path: ["body"],
  message: "Required.",
  params: { code: "required" },
  // Reported together with the other faults, like every missing field.
  when: ({ value }: { value: unknown }) => typeof value === "object" && value !== null,
};

/** The content of a template, which each of its languages has. */
export const contentFields = {
  subject: subject.describe("Handlebars variables are filled in for each recipient."),
  previewText: previewText.optional(),
  body: bodyText.describe("HTML; Handlebars variables are filled in for each recipient."),
  design: design
    .optional()
    .describe(
      `The editor's data; \`body\` is what gets sent. With \`format: "${DESIGN_FORMAT}"\` it contains blocks, and the body is generated from them. Changing only the body clears such a design.`,
    ),
};

/** The fields of a template in a request. */
export const templateFields = {
  ...contentFields,
  name: nameText,
  description: z
    .string()
    .max(LIMITS.descriptionLength.value)
    .nullable()
    .optional()
    .describe("A note; null for none."),
  type: z
    .enum(TEMPLATE_TYPES)
    .describe(
      "MARKETING goes to subscribed contacts only, with an unsubscribe footer and header. HEADLESS is the same without the footer. TRANSACTIONAL goes to everyone, with neither.",
    ),
  from: plainAddress
    .nullable()
    .optional()
    .describe("The sender's address at a verified domain; null for none."),
  fromName: plainName.nullable().optional().describe("The sender's display name; null for none."),
  replyTo: plainAddress.nullable().optional().describe("The reply address; null for the sender."),
};

/** A warning about content, with its position. */
export const contentWarning = z.object({
  code: z.string(),
  message: z.string(),
  replacement: z
    .string()
    .nullable()
    .optional()
    .describe(
      "With the code `merge_tag`, the replacement for the tag. Empty if the tag can be removed, null without an equivalent.",
    ),
  messageParts: z.array(contentWarningPart).describe(IN_PARTS),
  where: z.object({
    field: z.enum(["subject", "previewText", "body", "text"]),
    line: z.int().nullable(),
    column: z.int().nullable(),
  }),
});
const savedTemplate = wholeTemplate.extend({
  warnings: z
    .array(contentWarning)
    .describe("Merge tags of other services, and variables for which no contact has a value."),
});
const DESCRIPTION_OF_SAVING =
  "Subject and body are checked, and faults in their variables are returned with line and column. The domain of `from` must be verified.";

export const listTemplates = endpoint({
  name: "templates.list",
  method: "GET",
  path: "/templates",
  summary: "List templates, newest first",
  description: `Without \`limit\` and \`cursor\` returns all templates, up to ${LIMITS.templatesListed.value}. \`hasMore\` is true if there are more; a response also ends at the maximum number of bytes.`,
  caller: "project",
  query: pageQuery.extend({
    search: z
      .string()
      .max(LIMITS.searchLength.value)
      .optional()
      .describe("A part of the name, case-insensitive."),
    type: z.enum(TEMPLATE_TYPES).optional(),
  }),
  responses: { 200: cursorList(template) },
});

export const createTemplate = endpoint({
  name: "templates.create",
  method: "POST",
  path: "/templates",
  summary: "Create a template",
  description: DESCRIPTION_OF_SAVING,
  caller: "project",
  body: z
    .object({
      ...templateFields,
      body: templateFields.body
        .optional()
        .describe("HTML with Handlebars variables. Required unless there is a design with blocks."),
    })
    .refine(hasBody, bodyMissing),
  unknownFields: "refused-unless-returned",
  responses: { 201: savedTemplate },
  errors: ["DOMAIN_NOT_VERIFIED"],
});

export const getTemplate = endpoint({
  name: "templates.get",
  method: "GET",
  path: "/templates/:id",
  summary: "Read a template",
  description: "The template with its complete body.",
  caller: "project",
  params: byId,
  responses: { 200: wholeTemplate },
  errors: ["TEMPLATE_NOT_FOUND"],
});

export const updateTemplate = endpoint({
  name: "templates.update",
  method: "PATCH",
  path: "/templates/:id",
  summary: "Change a template",
  description: `Only the given fields change; null clears an optional field. Emails accepted earlier keep their content. ${DESCRIPTION_OF_SAVING}`,
  caller: "project",
  params: byId,
  body: z.object({
    ...templateFields,
    name: templateFields.name.optional(),
    type: templateFields.type.optional(),
    subject: templateFields.subject.optional(),
    body: templateFields.body.optional(),
    expectedUpdatedAt,
  }),
  unknownFields: "refused-unless-returned",
  responses: { 200: savedTemplate },
  errors: ["DOMAIN_NOT_VERIFIED", "TEMPLATE_NOT_FOUND", "CHANGED_MEANWHILE"],
});

export const deleteTemplate = endpoint({
  name: "templates.delete",
  method: "DELETE",
  path: "/templates/:id",
  summary: "Delete a template",
  description: "Emails accepted earlier keep their content. 409 while the template is in use.",
  caller: "project",
  params: byId,
  responses: { 204: null },
  errors: ["TEMPLATE_NOT_FOUND", "CONFLICT"],
});

export const duplicateTemplate = endpoint({
  name: "templates.duplicate",
  method: "POST",
  path: "/templates/:id/duplicate",
  summary: "Copy a template",
  description: "Copies all languages. The copy's name ends in ` (copy)`.",
  caller: "project",
  params: byId,
  responses: { 201: wholeTemplate },
  errors: ["TEMPLATE_NOT_FOUND"],
});

export const getTemplateUsage = endpoint({
  name: "templates.usage",
  method: "GET",
  path: "/templates/:id/usage",
  summary: "Read where a template is used",
  description: "The uses that prevent deletion, and the number of emails made with the template.",
  caller: "project",
  params: byId,
  responses: {
    200: z.object({
      campaigns: z
        .array(z.object({ id: z.uuid(), name: z.string() }))
        .describe("Unsent campaigns that use it."),
      workflowSteps: z.array(z.object({ workflowId: z.uuid(), workflowName: z.string(), stepId: z.uuid() })),
      executions: z
        .array(
          z.object({
            workflowId: z.uuid(),
            workflowName: z.string(),
            version: z.int(),
            stepId: z.uuid(),
            count: z.int().describe("The number of active executions that will still reach the step."),
          }),
        )
        .describe("Active executions that will still send it, also in earlier versions of a workflow."),
      emailsSent: z.int().describe("Sent emails that used it."),
    }),
  },
  errors: ["TEMPLATE_NOT_FOUND"],
});
