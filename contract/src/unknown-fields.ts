// Finds the fields of a body that its schema doesn't know, also in nested objects (docs/decisions/0105-unknown-fields.md). Pure.
import { z } from "zod";
import { closestName } from "./closest-name.ts";
import type { Endpoint } from "./endpoint.ts";
import type { FieldError } from "./errors.ts";
import { withValues, type ErrorMessage } from "./translation.ts";

/** Declares the input of a schema that reads a value by code. */
export interface Reads {
  /** The shape that the code expects. */
  as: () => z.core.$ZodType;
  /** Converts other spellings of field names to ours before the shape is compared. */
  rename?: (input: unknown) => unknown;
}
type Schema = z.core.$ZodType;
const readings = new WeakMap<Schema, Reads>();

/** Declares the input that a schema reads by code, and returns the schema. */
export function readAs<S extends Schema>(schema: S, reads: Reads): S {
  readings.set(schema, reads);
  return schema;
}

export interface UnknownField {
  path: ReadonlyArray<string | number>;
  /** The known fields of the object at this path. */
  known: readonly string[];
  value: unknown;
}

type Input = Readonly<Record<string, unknown>>;

/** Honest requests have fewer unknown fields. */
const MAX_UNKNOWN_FIELDS = 50;
/** A message lists up to this many fields. */
const MAX_NAMED_FIELDS = 20;
const NO_FIELDS: ReadonlySet<string> = new Set();

function isObject(input: unknown): input is Input {
  return typeof input === "object" && input !== null && !Array.isArray(input);
}

/** `describe` copies a schema, and the copy still references the original. */
function readingOf(schema: Schema): Reads | undefined {
  const { parent } = schema._zod;
  return readings.get(schema) ?? (parent === undefined ? undefined : readings.get(parent));
}

/** Removes the wrappers around a schema's shape, and applies its spelling rules to the input. */
function unwrap(schema: Schema, input: unknown): { schema: Schema; input: unknown } {
  const read = readingOf(schema);
  if (read !== undefined) return unwrap(read.as(), read.rename === undefined ? input : read.rename(input));
  if (schema instanceof z.ZodOptional || schema instanceof z.ZodNullable || schema instanceof z.ZodDefault)
    return unwrap(schema.unwrap(), input);
  // Zod keeps this schema, while `unwrap()` would build it again for each value.
  if (schema instanceof z.ZodLazy) return unwrap(schema._zod.innerType, input);
  if (schema instanceof z.ZodPipe)
    return unwrap(schema.in instanceof z.ZodTransform ? schema.out : schema.in, input);
  // Only the names at this level decide on the option, because comparing each option in full would take exponential time.
  if (schema instanceof z.ZodUnion) {
    const options = schema.options.map((option) => unwrap(option, input));
    const fitting = options.toSorted((a, b) => misfit(a) - misfit(b))[0];
    return fitting ?? { schema, input };
  }
  return { schema, input };
}

/** Counts the unknown fields at the top level; an option for other types of value comes last. */
function misfit({ schema, input }: { schema: Schema; input: unknown }): number {
  if (Array.isArray(input)) return schema instanceof z.ZodArray ? 0 : Number.MAX_SAFE_INTEGER;
  if (!isObject(input)) return 0;
  if (!(schema instanceof z.ZodObject)) return Number.MAX_SAFE_INTEGER;
  return Object.keys(input).filter((name) => !Object.hasOwn(schema.shape, name)).length;
}

/** Returns the fields of a value that its schema doesn't know. `accepted` are ignored at the top level. */
export function unknownFields(
  schema: z.ZodType,
  given: unknown,
  accepted: ReadonlySet<string> = NO_FIELDS,
): UnknownField[] {
  const found: UnknownField[] = [];
  const compare = (wrapped: Schema, value: unknown, path: ReadonlyArray<string | number>): void => {
    if (found.length >= MAX_UNKNOWN_FIELDS || typeof value !== "object" || value === null) return;
    const { schema: shape, input } = unwrap(wrapped, value);
    if (shape instanceof z.ZodArray && Array.isArray(input))
      for (const [at, item] of input.entries()) compare(shape.element, item, [...path, at]);
    if (!(shape instanceof z.ZodObject) || !isObject(input)) return;
    const known = Object.keys(shape.shape);
    for (const [name, inner] of Object.entries(input)) {
      const field = shape.shape[name] as Schema | undefined;
      if (Object.hasOwn(shape.shape, name) && field !== undefined) compare(field, inner, [...path, name]);
      else if (!(path.length === 0 && accepted.has(name)) && found.length < MAX_UNKNOWN_FIELDS)
        found.push({ path: [...path, name], known, value: inner });
    }
  };
  compare(schema, given, []);
  return found;
}

/** Returns the message for an unknown field, with the name that was probably meant. */
export function messageOfUnknown({ path, known, value }: UnknownField): ErrorMessage {
  const name = String(path.at(-1));
  const held = isObject(value) ? Object.keys(value) : [];
  if (held.some((inner) => known.includes(inner)) && !known.includes(name))
    return withValues("Unknown field. Send its fields one level up, not inside `{name}`.", { name });
  const near = closestName(name, known);
  if (near !== null) return withValues("Unknown field. Did you mean `{near}`?", { near });
  if (known.length === 0 || known.length > MAX_NAMED_FIELDS) return { message: "Unknown field." };
  return withValues("Unknown field. Known here: {names}.", {
    names: known.map((one) => `\`${one}\``).join(", "),
  });
}

/** Returns the unknown fields in a part of a body as Zod issues. */
export function unknownFieldIssues(schema: z.ZodType, input: unknown, path: Array<string | number>) {
  return unknownFields(schema, input).map((unknown) => {
    const { message, translation } = messageOfUnknown(unknown);
    return {
      code: "custom" as const,
      message,
      params: { code: "unknown_field", translation },
      input: unknown.value,
      path: [...path, ...unknown.path],
    };
  });
}

const returnedBy = new WeakMap<Endpoint, ReadonlySet<string>>();

/** Returns the fields of an endpoint's responses, because some clients send whole objects back. */
function returnedFields(endpoint: Endpoint): ReadonlySet<string> {
  const remembered = returnedBy.get(endpoint);
  if (remembered !== undefined) return remembered;
  const fields = Object.values(endpoint.responses).flatMap((response) =>
    response instanceof z.ZodObject ? Object.keys(response.shape) : [],
  );
  const returned = new Set(fields);
  returnedBy.set(endpoint, returned);
  return returned;
}

/** Returns the unknown fields of a body, except those that the endpoint's contract ignores. */
export function unknownFieldsOf(endpoint: Endpoint, body: unknown): UnknownField[] {
  if (endpoint.unknownFields === "ignored") return [];
  const accepted =
    endpoint.unknownFields === "refused-unless-returned" ? returnedFields(endpoint) : NO_FIELDS;
  return unknownFields(endpoint.body, body, accepted);
}

/**
 * Returns an error for each query parameter that equals, or nearly equals, a field of the body. Ignoring it would immediately send a
 * campaign whose scheduled time is in the URL.
 */
export function misplacedParameters(endpoint: Endpoint, query: unknown): FieldError[] {
  const body = unwrap(endpoint.body, {}).schema;
  const parameters = unwrap(endpoint.query, {}).schema;
  if (!(body instanceof z.ZodObject) || !isObject(query)) return [];
  const own = parameters instanceof z.ZodObject ? Object.keys(parameters.shape) : [];
  return Object.keys(query).flatMap((name): FieldError[] => {
    const field = own.includes(name) ? null : closestName(name, Object.keys(body.shape));
    if (field === null) return [];
    return [
      {
        field: name,
        code: "custom",
        ...withValues("Send `{field}` in the body, not in the URL.", { field }),
      },
    ];
  });
}
