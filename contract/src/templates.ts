// Templates: what mails say, kept under an id (spec §2.5, 4.5; decisions §6), and how one would look.
import { z } from "zod";
import { IN_PARTS } from "./advice.ts";
import { contentWarningPart } from "./content-warnings.ts";
import { bodyText, subject } from "./content.ts";
import { DESIGN_FORMAT, problemsOfDesign } from "./design.ts";
import { endpoint } from "./endpoint.ts";
import {
  contactData,
  cursorList,
  displayName,
  emailAddress,
  expectedUpdatedAt,
  hasControlCharacters,
  id,
  instant,
  jsonSchemas,
  pageQuery,
  pathId,
} from "./field.ts";
import { LIMITS } from "./limits/limits.ts";

/**
 * MARKETING: to subscribed contacts only, with an unsubscribe footer and header. HEADLESS: the same without the footer.
 * TRANSACTIONAL: to everybody, with neither.
 */
export const TEMPLATE_TYPES = ["TRANSACTIONAL", "MARKETING", "HEADLESS"] as const;
export type TemplateType = (typeof TEMPLATE_TYPES)[number];

const template = z.object({
  id: z.uuid(),
  name: z.string(),
  description: z.string().nullable(),
  type: z.enum(TEMPLATE_TYPES),
  subject: z.string(),
  body: z.string(),
  from: z.string().nullable(),
  fromName: z.string().nullable(),
  replyTo: z.string().nullable(),
  createdAt: instant,
  updatedAt: instant,
});

/** As it is answered. */
export const keptDesign = z
  .record(z.string(), z.unknown())
  .nullable()
  .describe("What the editor keeps beside the body; lists leave it out.");

export const wholeTemplate = template.extend({ design: keptDesign });

export const byId = z.object({ id: pathId });

const templateName = z
  .string()
  .trim()
  .min(1)
  .max(LIMITS.nameLength.value)
  .refine((name) => !hasControlCharacters(name), {
    message: "Must not contain line breaks or control characters.",
    params: { code: "invalid_string" },
  });

/** A template's sender is checked once, when it is saved, so no contact's data can change it. */
const noVariables = {
  message: "Must not contain {{…}}: variables are filled in in the subject and the body only.",
  params: { code: "invalid_string" },
};
export const plainAddress = emailAddress
  .refine((address) => !address.includes("{{"), noVariables)
  .register(jsonSchemas, { jsonSchema: { type: "string", format: "email", examples: ["news@example.com"] } });
const plainName = displayName.trim().refine((name) => !name.includes("{{"), noVariables);

/** What an editor keeps; a design of our own blocks has to be one. */
export const design = z
  .record(z.string(), z.unknown())
  .superRefine((given, ctx) => {
    if (given["format"] !== DESIGN_FORMAT) return;
    for (const { path, message } of problemsOfDesign(given))
      ctx.addIssue({ code: "custom", path: [...path], message });
  })
  .nullable();

/** Whether something says what is sent: a body, or blocks that make one. */
export const hasBody = ({ body, design: given }: { body?: unknown; design?: unknown }) =>
  body !== undefined || (given as Record<string, unknown> | null | undefined)?.["format"] === DESIGN_FORMAT;
export const bodyMissing = {
  path: ["body"],
  message: "Required.",
  params: { code: "required" },
  // Told with the other faults, as every missing field is.
  when: ({ value }: { value: unknown }) => typeof value === "object" && value !== null,
};

const fields = {
  name: templateName,
  description: z
    .string()
    .max(LIMITS.descriptionLength.value)
    .nullable()
    .optional()
    .describe("A note; null: none."),
  type: z
    .enum(TEMPLATE_TYPES)
    .describe(
      "MARKETING: to subscribed contacts only, with a footer and a header to unsubscribe. HEADLESS: the same without the footer. TRANSACTIONAL: to everybody, with neither.",
    ),
  subject: subject.describe("Handlebars variables are filled in for each recipient."),
  body: bodyText.describe("HTML; Handlebars variables are filled in for each recipient."),
  from: plainAddress.nullable().optional().describe("The sender, at a verified domain; null: none."),
  fromName: plainName.nullable().optional().describe("The sender's display name; null: none."),
  replyTo: plainAddress.nullable().optional().describe("Where answers go; null: to the sender."),
  design: design
    .optional()
    .describe(
      `What an editor needs to go on; \`body\` is what is sent. With \`format: "${DESIGN_FORMAT}"\` it holds blocks, and the body is made of them. A body that is changed alone empties such a design.`,
    ),
};

/** A warning about a content, with its place. */
export const contentWarning = z.object({
  code: z.string(),
  message: z.string(),
  replacement: z
    .string()
    .nullable()
    .optional()
    .describe(
      "With the code `merge_tag`: the text for the place of the tag. Empty if the tag can go, null without an equivalent.",
    ),
  messageParts: z.array(contentWarningPart).describe(IN_PARTS),
  where: z.object({
    field: z.enum(["subject", "body", "text"]),
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
  "Subject and body are checked: a fault in their variables is told with line and column. The domain of `from` must be verified.";

export const listTemplates = endpoint({
  name: "templates.list",
  method: "GET",
  path: "/templates",
  summary: "List templates, newest first",
  description: `Without \`limit\` and \`cursor\` all of them, up to ${LIMITS.templatesListed.value}. \`hasMore\` says whether there are more; an answer also ends where it would hold too many bytes.`,
  caller: "project",
  query: pageQuery.extend({
    search: z.string().max(LIMITS.searchLength.value).optional().describe("A part of the name, in any case."),
    type: z.enum(TEMPLATE_TYPES).optional(),
  }),
  answers: { 200: cursorList(template) },
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
      ...fields,
      body: fields.body
        .optional()
        .describe("HTML with Handlebars variables. Required without a design of blocks."),
    })
    .refine(hasBody, bodyMissing),
  unknownFields: "refused-unless-returned",
  answers: { 201: savedTemplate },
  errors: ["DOMAIN_NOT_VERIFIED"],
});

export const getTemplate = endpoint({
  name: "templates.get",
  method: "GET",
  path: "/templates/:id",
  summary: "Read a template",
  description: "The template with its whole body.",
  caller: "project",
  params: byId,
  answers: { 200: wholeTemplate },
  errors: ["TEMPLATE_NOT_FOUND"],
});

export const updateTemplate = endpoint({
  name: "templates.update",
  method: "PATCH",
  path: "/templates/:id",
  summary: "Change a template",
  description: `Only what is sent changes; null empties a field that may be empty. Mails that were accepted before keep what they say. ${DESCRIPTION_OF_SAVING}`,
  caller: "project",
  params: byId,
  body: z.object({
    ...fields,
    name: fields.name.optional(),
    type: fields.type.optional(),
    subject: fields.subject.optional(),
    body: fields.body.optional(),
    expectedUpdatedAt,
  }),
  unknownFields: "refused-unless-returned",
  answers: { 200: savedTemplate },
  errors: ["DOMAIN_NOT_VERIFIED", "TEMPLATE_NOT_FOUND", "CHANGED_MEANWHILE"],
});

export const deleteTemplate = endpoint({
  name: "templates.delete",
  method: "DELETE",
  path: "/templates/:id",
  summary: "Delete a template",
  description: "Mails that were accepted before keep what they say. 409 while something would miss it.",
  caller: "project",
  params: byId,
  answers: { 204: null },
  errors: ["TEMPLATE_NOT_FOUND", "CONFLICT"],
});

export const duplicateTemplate = endpoint({
  name: "templates.duplicate",
  method: "POST",
  path: "/templates/:id/duplicate",
  summary: "Copy a template",
  description: "The copy's name ends in ` (copy)`.",
  caller: "project",
  params: byId,
  answers: { 201: wholeTemplate },
  errors: ["TEMPLATE_NOT_FOUND"],
});

export const getTemplateUsage = endpoint({
  name: "templates.usage",
  method: "GET",
  path: "/templates/:id/usage",
  summary: "Read what uses a template",
  description: "What must change before the template can be deleted, and how many mails were made with it.",
  caller: "project",
  params: byId,
  answers: {
    200: z.object({
      campaigns: z
        .array(z.object({ id: z.uuid(), name: z.string() }))
        .describe("Campaigns not sent yet that would miss it."),
      workflowSteps: z.array(z.object({ workflowId: z.uuid(), workflowName: z.string(), stepId: z.uuid() })),
      emailsSent: z.int().describe("Mails with it that have left."),
    }),
  },
  errors: ["TEMPLATE_NOT_FOUND"],
});

export const previewTemplate = endpoint({
  name: "templates.preview",
  method: "POST",
  path: "/templates/preview",
  summary: "See what a mail would say, and what could be better",
  description:
    "Rendered as a mail is, with a contact's data, the data given, or both, the latter first. Nothing is sent or stored; the links to unsubscribe lead nowhere.",
  caller: "project",
  isRead: true,
  body: z.object({
    subject: fields.subject,
    body: fields.body,
    type: fields.type.optional().describe("As what it would be sent: MARKETING shows the footer."),
    contactId: id.optional().describe("Whose data to fill in."),
    data: contactData.optional(),
  }),
  answers: {
    200: z.object({
      subject: z.string(),
      html: z.string(),
      text: z.string(),
      warnings: z.array(contentWarning),
    }),
  },
  errors: ["CONTACT_NOT_FOUND"],
});
