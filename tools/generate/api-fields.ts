// Converts a JSON Schema to rows of a field table: name, type, required, description and bounds.
import type { JsonSchema } from "@postloft/contract/openapi/schemas.ts";
import { code, linkTo } from "./markdown.ts";

export interface Field {
  /** Includes the path, such as `attachments[].filename`. */
  name: string;
  type: string;
  isRequired: boolean;
  meaning: string;
}

/** Returns the fields of an object and of nested objects. Nested objects without a description get no row. */
export function fieldsOf(schema: JsonSchema, prefix = ""): Field[] {
  return Object.entries(schema.properties ?? {}).flatMap(([key, value]) => {
    const property = asSchema(value);
    const name = `${prefix}${key}`;
    const isRequired = (schema.required ?? []).includes(key);
    const inner = isArray(property) ? itemsOf(property) : withoutNull(property);
    const field = { name, type: typeText(property), isRequired, meaning: meaningOf(property) };
    const innerFields = fieldsOf(inner, isArray(property) ? `${name}[].` : `${name}.`);
    const saysNothing =
      innerFields.length > 0 && field.type === "object" && isRequired && field.meaning === "";
    return saysNothing ? innerFields : [field, ...innerFields];
  });
}

/** Returns the name in a reference, such as `Contact`. */
export function referenceName(schema: JsonSchema): string | null {
  return schema.$ref?.split("/").at(-1) ?? null;
}

export function isArray(schema: JsonSchema): boolean {
  return schema.type === "array";
}

export function itemsOf(schema: JsonSchema): JsonSchema {
  return asSchema(schema.items);
}

/** Describes a type. Objects within a union are written out, and others have separate rows. */
function typeText(schema: JsonSchema): string {
  const reference = referenceName(schema);
  if (reference !== null) return linkTo(reference);
  if (schema.const !== undefined) return code(JSON.stringify(schema.const));
  if (schema.enum !== undefined)
    return enumText(schema).length > MAX_TYPE_LENGTH ? "string" : enumText(schema);
  if (schema.anyOf !== undefined) return [...new Set(schema.anyOf.map(choiceText))].join(" or ");
  if (Array.isArray(schema.type)) return schema.type.join(" or ");
  if (isArray(schema)) return `array of ${many(typeText(itemsOf(schema)))}`;
  const values = asSchema(schema.additionalProperties);
  if (values.type !== undefined) return `object of ${many(typeText(values))}`;
  return schema.contentEncoding ?? schema.format ?? schema.type ?? "any";
}

function enumText(schema: JsonSchema): string {
  return (schema.enum ?? []).map((value) => code(String(value))).join(", ");
}

function choiceText(schema: JsonSchema): string {
  const fields = Object.keys(schema.properties ?? {});
  if (fields.length === 0) return typeText(schema);
  return `{ ${fields.map((field) => ((schema.required ?? []).includes(field) ? field : `${field}?`)).join(", ")} }`;
}

function many(text: string): string {
  return text.includes(" or ") ? `(${text})` : text;
}

function meaningOf(schema: JsonSchema): string {
  const choices = [schema, ...(schema.anyOf ?? [])];
  const description = choices.find((choice) => choice.description !== undefined)?.description ?? "";
  const bounds = [...new Set(choices.flatMap(boundsOf))].join(", ");
  if (bounds === "") return description;
  return description === "" ? bounds : `${description.replace(/\.$/, "")}; ${bounds}.`;
}

/** Longer lists of values move from the type to the description. */
const MAX_TYPE_LENGTH = 40;

/** Longer patterns are omitted because they are hard to read; openapi.json contains them. */
const MAX_PATTERN_LENGTH = 30;

function boundsOf(schema: JsonSchema): string[] {
  const values = enumText(schema);
  const bounds = [
    values.length > MAX_TYPE_LENGTH ? `one of ${values}` : "",
    rangeText(schema.minLength, schema.maxLength, " characters"),
    rangeText(schema.minItems, schema.maxItems, " items"),
    rangeText(schema.minimum, schema.maximum, ""),
    schema.pattern === undefined || schema.pattern.length > MAX_PATTERN_LENGTH
      ? ""
      : `form ${code(schema.pattern)}`,
  ];
  return bounds.filter((bound) => bound !== "");
}

function rangeText(minimum: number | undefined, maximum: number | undefined, unit: string): string {
  if (minimum !== undefined && maximum !== undefined) return `${minimum}–${maximum}${unit}`;
  if (maximum !== undefined) return `at most ${maximum}${unit}`;
  return minimum === undefined
    ? ""
    : minimum === 1 && unit !== ""
      ? "not empty"
      : `at least ${minimum}${unit}`;
}

/** Returns the only non-null choice, or the schema itself. */
function withoutNull(schema: JsonSchema): JsonSchema {
  const choices = (schema.anyOf ?? []).filter((choice) => choice.type !== "null");
  return choices.length === 1 ? asSchema(choices[0]) : schema;
}

function asSchema(schema: JsonSchema["items"] | boolean): JsonSchema {
  return typeof schema === "object" && !Array.isArray(schema) ? schema : {};
}
