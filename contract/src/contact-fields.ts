// Contact field endpoints: names, fill rate, values and usage (spec §2.3, 2.4, 4.4; decisions §3).
import { z } from "zod";
import { endpoint } from "./endpoint.ts";
import { queryBoolean, queryInteger } from "./field.ts";
import { LIMITS } from "./limits/limits.ts";

export const FIELD_TYPES = ["string", "number", "boolean", "date"] as const;

const fieldName = z.string().describe("Standard fields by their plain name, custom ones as `data.<key>`.");

export const contactField = z.object({
  field: fieldName,
  type: z
    .enum(FIELD_TYPES)
    .describe(
      "For a custom field, the type of its first value. It stays the same until the type is reset or the field is deleted.",
    ),
  isCustom: z.boolean(),
  coverage: z
    .number()
    .optional()
    .describe("Share of contacts that have the field, 0 to 1. Omitted only with `withCoverage=false`."),
});

/** Accepts any name, and an unknown one returns 404. */
const byField = z.object({
  field: z
    .string()
    .describe(
      "The URL-encoded name. The `data.` of a custom field is optional, unless it has the name of a standard field.",
    ),
});

export const listContactFields = endpoint({
  name: "contacts.listFields",
  method: "GET",
  path: "/contacts/fields",
  summary: "List contact fields",
  description:
    "Standard fields, then custom fields by name. The fill rate is counted over all contacts, which takes a second or two for a million contacts.",
  caller: "project",
  query: z.object({
    withCoverage: queryBoolean("`false` skips the fill rate, which makes the response faster.").optional(),
  }),
  responses: {
    200: z.object({
      fields: z.array(contactField),
      count: z.int(),
    }),
  },
});

export const listFieldValues = endpoint({
  name: "contacts.listFieldValues",
  method: "GET",
  path: "/contacts/fields/:field/values",
  summary: "List the values of a field, most frequent first",
  description: `Stored values, counted over all contacts. Values longer than ${LIMITS.fieldValueLength.value} characters are left out. \`email\` is sorted alphabetically, and \`createdAt\` and \`updatedAt\` newest first.`,
  caller: "project",
  params: byField,
  query: z.object({
    limit: queryInteger(
      1,
      LIMITS.fieldValuesMaximum.value,
      `Maximum number of values; default ${LIMITS.fieldValuesDefault.value}.`,
    ).optional(),
    search: z
      .string()
      .max(LIMITS.searchLength.value)
      .optional()
      .describe("A part of the value as text, case-insensitive."),
  }),
  responses: {
    200: z.object({
      field: fieldName,
      values: z.array(z.unknown()),
      count: z.int().describe("Number of values in this response."),
      limit: z.int(),
    }),
  },
  errors: ["FIELD_NOT_FOUND"],
});

const named = z.object({ id: z.uuid(), name: z.string() });

export const getFieldUsage = endpoint({
  name: "contacts.getFieldUsage",
  method: "GET",
  path: "/contacts/fields/:field/usage",
  summary: "Show where a field is used",
  description:
    "Segments, campaigns and workflows with a condition on the field, and the number of contacts that have it.",
  caller: "project",
  params: byField,
  responses: {
    200: z.object({
      usedInSegments: z.array(named),
      usedInCampaigns: z.array(named),
      usedInWorkflows: z.array(named),
      contactCount: z.int(),
    }),
  },
  errors: ["FIELD_NOT_FOUND"],
});

export const resetFieldType = endpoint({
  name: "contacts.resetFieldType",
  method: "POST",
  path: "/contacts/fields/:field/reset-type",
  summary: "Detect the type of a custom field again",
  description:
    "The field gets the type of most of its values, or text in case of a tie. Values and conditions stay unchanged. If no contact has the field, its type stays the same; delete the field and write it again to get another type.",
  caller: "project",
  params: byField,
  responses: {
    200: z.object({
      field: fieldName,
      type: z.enum(FIELD_TYPES),
      contactCount: z.int().describe("Number of contacts that have the field."),
      ofType: z.int().describe("Number of contacts with a value of this type."),
    }),
  },
  errors: ["VALIDATION_ERROR", "FIELD_NOT_FOUND"],
});

export const deleteContactField = endpoint({
  name: "contacts.deleteField",
  method: "DELETE",
  path: "/contacts/fields/:field",
  summary: "Remove a custom field from all contacts",
  description:
    "The field disappears from the list immediately, and its values within minutes. If the field is written again, it gets the type of the new first value, and values written after this call are kept. Conditions on it remain and match no contacts.",
  caller: "project",
  params: byField,
  responses: { 200: z.object({ deletedFrom: z.int().describe("Number of contacts that had the field.") }) },
  errors: ["VALIDATION_ERROR", "FIELD_NOT_FOUND"],
});
