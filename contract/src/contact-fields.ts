// The fields contacts have: which there are, how many contacts have them, their values, who uses them (spec §2.3, 2.4, 4.4; decisions §3).
import { z } from "zod";
import { endpoint } from "./endpoint.ts";
import { queryBoolean, queryInteger } from "./field.ts";
import { LIMITS } from "./limits/limits.ts";

export const FIELD_TYPES = ["string", "number", "boolean", "date"] as const;

const fieldName = z.string().describe("Standard fields by their plain name, custom ones as `data.<key>`.");

/** Taken as it comes: what it does not find is a 404. */
const byField = z.object({
  field: z
    .string()
    .describe(
      "The name, URL-encoded. `data.` before a custom one may be left out, unless it has the name of a standard field.",
    ),
});

export const listContactFields = endpoint({
  name: "contacts.listFields",
  method: "GET",
  path: "/contacts/fields",
  summary: "List the fields contacts have",
  description:
    "The standard fields, then the custom ones by name. Coverage is counted over all contacts, not estimated: over a million of them that takes a second or two.",
  caller: "project",
  query: z.object({
    withCoverage: queryBoolean("`false` returns the fields at once, without their coverage.").optional(),
  }),
  answers: {
    200: z.object({
      fields: z.array(
        z.object({
          field: fieldName,
          type: z
            .enum(FIELD_TYPES)
            .describe(
              "Of a custom field: as its first value was; it stays so until it is reset or the field is deleted.",
            ),
          isCustom: z.boolean(),
          coverage: z
            .number()
            .optional()
            .describe(
              "Which part of the contacts has the field, 0 to 1. Left out only with `withCoverage=false`.",
            ),
        }),
      ),
      count: z.int(),
    }),
  },
});

export const listFieldValues = endpoint({
  name: "contacts.listFieldValues",
  method: "GET",
  path: "/contacts/fields/:field/values",
  summary: "List the values of a field, the most frequent first",
  description: `Values as they are stored, counted over all contacts; those longer than ${LIMITS.fieldValueLength.value} characters are left out. Of \`email\` in the order of the alphabet, of \`createdAt\` and \`updatedAt\` the newest.`,
  caller: "project",
  params: byField,
  query: z.object({
    limit: queryInteger(
      1,
      LIMITS.fieldValuesMaximum.value,
      `Values at most; default ${LIMITS.fieldValuesDefault.value}.`,
    ).optional(),
    search: z
      .string()
      .max(LIMITS.searchLength.value)
      .optional()
      .describe("A part of the value as text, in any case."),
  }),
  answers: {
    200: z.object({
      field: fieldName,
      values: z.array(z.unknown()),
      count: z.int().describe("How many values are in this answer."),
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
  summary: "Tell who uses a field",
  description: "Segments, campaigns and workflows with a condition on it, and how many contacts have it.",
  caller: "project",
  params: byField,
  answers: {
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
  summary: "Take the type of a custom field anew from its values",
  description:
    "The field gets the type that most of its values have, text where as many have another. Values stay as they are, and so do conditions on them. Where no contact has the field its type stays: deleted and written again it gets another.",
  caller: "project",
  params: byField,
  answers: {
    200: z.object({
      field: fieldName,
      type: z.enum(FIELD_TYPES),
      contactCount: z.int().describe("How many contacts have the field."),
      ofType: z.int().describe("How many of them have a value of this type."),
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
    "The field is gone from the list at once, its values within the next minutes. Written again, it gets the type of its new first value; values written after this call stay. Conditions on it remain and match nobody.",
  caller: "project",
  params: byField,
  answers: { 200: z.object({ deletedFrom: z.int().describe("How many contacts had it.") }) },
  errors: ["VALIDATION_ERROR", "FIELD_NOT_FOUND"],
});
