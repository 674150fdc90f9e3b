// Rewrites types of JSON Schema that code generators of other languages reject into equivalent unions.
import type { JsonSchema } from "./schemas.ts";

/** Keywords that describe a union as a whole and not one of its branches. */
const ANNOTATIONS = ["description", "deprecated", "examples", "default"] as const;

/** Keywords with one schema, and keywords with a list of schemas. */
const SINGLE = ["items", "additionalProperties"] as const;
const LISTS = ["anyOf", "oneOf", "allOf"] as const;

/** Returns a copy of the schema in which every direct subschema is replaced by the result of `change`. */
export function mapSubschemas(
  schema: JsonSchema,
  change: (subschema: JsonSchema, keyword: string, name: string | number) => JsonSchema,
): JsonSchema {
  const changed = { ...schema };
  const apply = (value: JsonSchema | boolean, keyword: string, name: string | number) =>
    typeof value === "object" ? change(value, keyword, name) : value;
  if (schema.properties !== undefined)
    changed.properties = Object.fromEntries(
      Object.entries(schema.properties).map(([name, value]) => [name, apply(value, "properties", name)]),
    );
  for (const keyword of SINGLE) {
    const value = schema[keyword];
    if (typeof value === "object" && !Array.isArray(value)) changed[keyword] = change(value, keyword, 0);
  }
  for (const keyword of LISTS) {
    const branches = schema[keyword];
    if (branches === undefined) continue;
    changed[keyword] = branches.map((value, at) => apply(value, keyword, at) as JsonSchema);
  }
  return changed;
}

/**
 * Returns an equivalent schema without lists of types and with `oneOf` for unions, as ogen and older generators need it (decision 0123). Only
 * `anyOf` with one branch and null remains, which generators read as a nullable type. The branches of our unions exclude each other.
 */
export function plainTypes(schema: JsonSchema): JsonSchema {
  // No generator has a type for a field that is always null.
  if (isNull(schema)) return { description: "Always null." };
  const { anyOf, ...rest } = mapSubschemas(splitTypes(schema), (inner, keyword) =>
    keyword === "anyOf" && isNull(inner) ? inner : plainTypes(inner),
  );
  if (rest.type === "boolean" && typeof rest.const === "boolean") return anyBoolean(rest);
  if (anyOf === undefined || JSON_TYPES.every((type) => anyOf.some((branch) => branch.type === type)))
    return rest;
  return anyOf.length === 2 && anyOf.some(isNull) ? { anyOf, ...rest } : { oneOf: anyOf, ...rest };
}

/** openapi-generator writes Java that does not compile for a boolean with one value, so the value becomes text. */
function anyBoolean({ const: only, description, ...rest }: JsonSchema): JsonSchema {
  const always = `Always ${String(only)}.`;
  return { ...rest, description: description === undefined ? always : `${description} ${always}` };
}

function isNull({ type }: JsonSchema): boolean {
  return type === "null";
}

/** A union of these types accepts any value. */
const JSON_TYPES = ["object", "array", "string", "number", "boolean"] as const;

/** `{ type: ["string", "null"], maxLength: 9 }` → `{ anyOf: [{ type: "string", maxLength: 9 }, { type: "null" }] }` */
function splitTypes(schema: JsonSchema): JsonSchema {
  // Zod writes lists of types, which the type of the schema does not allow.
  const type: unknown = schema.type;
  if (!Array.isArray(type)) return schema;
  const whole: Record<string, unknown> = {};
  const branch: Record<string, unknown> = {};
  for (const [keyword, value] of Object.entries(schema))
    ((ANNOTATIONS as readonly string[]).includes(keyword) ? whole : branch)[keyword] = value;
  if (schema.enum !== undefined) branch["enum"] = schema.enum.filter((value) => value !== null);
  const anyOf = type.map((one: unknown) => (one === "null" ? { type: one } : { ...branch, type: one }));
  return { anyOf, ...whole } as JsonSchema;
}
