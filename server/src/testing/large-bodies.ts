// Builds the largest bodies that an endpoint accepts from its schema for tests. Every field has its longest value, and all lists and free
// values are full.
import type { Endpoint } from "@postloft/contract/endpoint.ts";
import { LIMITS } from "@postloft/contract/limits/limits.ts";
import { inputSchema, type JsonSchema } from "@postloft/contract/openapi/schemas.ts";

/** The content of free-form values. */
const FLAVOURS = ["text", "keys", "lists"] as const;
type Flavour = (typeof FLAVOURS)[number];

/** The most expensive text to read and write: quotes, backslashes, two-byte letters, tags and the start of a variable. */
const TEXT = 'é"\\<a href=x>{ {';
const EXAMPLES: Readonly<Record<string, unknown>> = {
  email: "ada@example.com",
  uuid: "00000000-0000-0000-0000-000000000000",
  "date-time": "2030-01-01T00:00:00.000Z",
};
/** The limit of a list or text that has none. */
const ENDLESS = Number.MAX_SAFE_INTEGER;
/** Bytes of JSON per character of the text. */
const JSON_BYTES = 1.3;
/** Leaves room for bytes that are not counted, such as commas and names. */
const SHARE_USED = 0.9;

interface Filling {
  flavour: Flavour;
  given: Readonly<Record<string, unknown>>;
  /** The remaining bytes. */
  left: number;
}

/**
 * Returns bodies by name within the endpoint's limit, which the endpoint may still reject for their content.
 * @param given values of fields by name, so that referenced objects exist; undefined leaves a field out
 */
export function largeBodiesOf(
  endpoint: Endpoint,
  given: Readonly<Record<string, unknown>>,
): Array<[name: string, body: Buffer]> {
  const bytes = endpoint.bodyLimitBytes ?? LIMITS.bodyBytes.value;
  const schema = inputSchema(endpoint.body);
  const objects = Buffer.from(`[${"{},".repeat((bytes * SHARE_USED) / 3)}{}]`);
  return [
    ...FLAVOURS.map((flavour): [string, Buffer] => [flavour, largestOf(schema, { flavour, given }, bytes)]),
    ["objects", objects],
  ];
}

function largestOf(schema: JsonSchema, how: Omit<Filling, "left">, bytes: number): Buffer {
  for (let left = bytes * SHARE_USED; ; left *= SHARE_USED) {
    const body = Buffer.from(JSON.stringify(fill(schema, { ...how, left })));
    if (body.length <= bytes) return body;
  }
}

function fill(schema: JsonSchema, filling: Filling): unknown {
  const [example] = (schema["examples"] as unknown[] | undefined) ?? [];
  const choices = schema.anyOf ?? schema.oneOf;
  if (schema.const !== undefined) return schema.const;
  if (schema.enum !== undefined) return schema.enum[0];
  if (choices !== undefined && schema.type === undefined) return fill(choices[0] as JsonSchema, filling);
  switch (schema.type) {
    case "string":
      return fillText(schema, example, filling);
    case "array":
      return fillList(schema, filling);
    case "object":
      return fillObject(schema, filling);
    case "boolean":
      return true;
    case "number":
    case "integer":
      return example ?? schema.minimum ?? 1;
    default:
      return freeValue(filling);
  }
}

function fillText(schema: JsonSchema, example: unknown, filling: Filling): unknown {
  if (schema.format !== undefined) return EXAMPLES[schema.format] ?? example ?? "x";
  if (schema.pattern !== undefined) return example ?? "x";
  const text = longText(Math.min(schema.maxLength ?? ENDLESS, filling.left / JSON_BYTES));
  filling.left -= Buffer.byteLength(JSON.stringify(text));
  return text;
}

function longText(length: number): string {
  return TEXT.repeat(Math.max(0, Math.floor(length / TEXT.length)));
}

function fillList(schema: JsonSchema, filling: Filling): unknown[] {
  const most = Math.min(schema.maxItems ?? ENDLESS, LIMITS.bodyValues.value / 10);
  const list: unknown[] = [];
  const items = (schema.items ?? {}) as JsonSchema;
  // The first items may take half of the remaining bytes, so that the list contains long items as well as many.
  while (list.length < most && filling.left > 0) {
    const own = { ...filling, left: Math.min(filling.left / 2, filling.left / (most - list.length) + 1_000) };
    const before = own.left;
    list.push(fill(items, own));
    filling.left -= Math.max(before - own.left, 50);
  }
  return list;
}

function fillObject(schema: JsonSchema, filling: Filling): object {
  const properties = Object.entries(schema.properties ?? {});
  if (properties.length === 0) return freeValue(filling);
  return Object.fromEntries(
    properties.map(([name, property], at) => {
      if (name in filling.given) return [name, filling.given[name]];
      const own = { ...filling, left: filling.left / (properties.length - at) };
      const before = own.left;
      const value = fill(property as JsonSchema, own);
      filling.left -= before - own.left;
      return [name, value];
    }),
  );
}

/** Returns an object with arbitrary keys. */
function freeValue(filling: Filling): object {
  const bytes = Math.max(0, Math.min(filling.left, LIMITS.dataBytes.value * SHARE_USED));
  filling.left -= bytes;
  switch (filling.flavour) {
    case "text":
      return { text: longText(bytes / JSON_BYTES) };
    case "keys": {
      const keys = LIMITS.dataKeys.value;
      return Object.fromEntries(
        Array.from({ length: keys }, (_, at) => [`key ${at}`, longText(bytes / JSON_BYTES / keys)]),
      );
    }
    case "lists":
      return { list: Array.from({ length: Math.min(20_000, bytes / 10) }, (_, at) => ({ at })) };
  }
}
