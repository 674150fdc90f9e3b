// Shared schemas for addresses, ids, times, pages and contact data. Each reports faults with a field code and a sentence.
import { z } from "zod";
import { parseAddress, parseMailbox } from "./address.ts";
import { messageOf } from "./refused-address.ts";
import type { FieldCode } from "./errors.ts";
import { LIMITS } from "./limits/limits.ts";
import { asMessage, withValues, type ErrorMessage, type Wording } from "./translation.ts";
import { readAs, unknownFieldIssues } from "./unknown-fields.ts";

/** JSON Schemas for OpenAPI, for Zod schemas that are transformations and have none. `like` takes the schema of another Zod schema. */
export const jsonSchemas = z.registry<{ jsonSchema: Record<string, unknown> } | { like: () => unknown }>();

/** Returns an issue of a transformation with one of our field codes and, if needed, a path below the field. */
export function issue(wording: Wording, code: FieldCode, input: unknown, path: Array<string | number> = []) {
  return { code: "custom" as const, ...rule(wording, code), input, path };
}

/** Returns the message of a `refine` with one of our field codes. */
export function rule(wording: Wording, code: FieldCode) {
  const { message, translation } = asMessage(wording);
  return { message, params: { code, translation } };
}

/** Reports the faults of a schema in a part of a body, including unknown fields, below the name of that part: `config.amount`. */
export function addFaults(schema: z.ZodType, input: unknown, name: string, context: z.RefinementCtx): void {
  context.issues.push(...unknownFieldIssues(schema, input, [name]));
  for (const fault of schema.safeParse(input).error?.issues ?? [])
    context.issues.push({ ...fault, input, path: [name, ...fault.path] } as z.core.$ZodRawIssue);
}

const EXAMPLE_ADDRESS = "ada@example.com";

/** Parses one address in any spelling and returns its canonical form (decisions §3). */
export const emailAddress = z
  .string()
  .transform((text, context) => {
    const parsed = parseAddress(text);
    if (parsed.ok) return parsed.address;
    context.issues.push(issue(messageOf(parsed), "invalid_string", text));
    return z.NEVER;
  })
  .register(jsonSchemas, { jsonSchema: { type: "string", format: "email", examples: [EXAMPLE_ADDRESS] } });

export interface MailboxValue {
  address: string;
  name: string | null;
}

/** Parses `"a@b.c"`, `"Name <a@b.c>"` or `{ name?, email }`. Pushes issues and returns null for any other input. */
export function readMailbox(
  input: unknown,
  path: Array<string | number>,
  push: (problem: ReturnType<typeof issue>) => void,
): MailboxValue | null {
  if (typeof input === "string") {
    const parsed = parseMailbox(input);
    if (parsed.ok) return { address: parsed.address, name: parsed.name ?? null };
    push(issue(messageOf(parsed), "invalid_string", input, path));
    return null;
  }
  if (typeof input !== "object" || input === null || Array.isArray(input)) {
    push(issue("Must be an email address, or an object { name, email }.", "invalid_type", input, path));
    return null;
  }
  const { email, name } = input as { email?: unknown; name?: unknown };
  const address = typeof email === "string" ? parseAddress(email) : null;
  if (email === undefined) push(issue("The address is missing.", "required", email, [...path, "email"]));
  else if (address === null) push(issue("Must be a string.", "invalid_type", email, [...path, "email"]));
  else if (!address.ok) push(issue(messageOf(address), "invalid_string", email, [...path, "email"]));
  const nameProblem = displayNameProblem(name);
  if (nameProblem !== null) push(issue(nameProblem, nameProblem.code, name, [...path, "name"]));
  if (!address?.ok || nameProblem !== null) return null;
  return {
    address: address.address,
    name: typeof name === "string" && name.trim() !== "" ? name.trim() : null,
  };
}

// oxlint-disable-next-line no-control-regex -- control characters are exactly what is looked for
const CONTROL_CHARACTERS = /[\u0000-\u001f\u007f\u0085\u2028\u2029]/;

/** Returns whether a text contains control characters or line breaks of any kind, which are not allowed in a header. */
export function hasControlCharacters(text: string): boolean {
  return CONTROL_CHARACTERS.test(text);
}

function displayNameProblem(name: unknown): (ErrorMessage & { code: FieldCode }) | null {
  if (name === undefined || name === null) return null;
  if (typeof name !== "string") return { message: "Must be a string.", code: "invalid_type" };
  if (hasControlCharacters(name))
    return { message: "Must not contain line breaks or control characters.", code: "invalid_string" };
  if (name.length > LIMITS.displayNameLength.value)
    return {
      ...withValues("Must have at most {most} characters.", { most: LIMITS.displayNameLength.value }),
      code: "too_big",
    };
  return null;
}

/** A display name in a separate field. */
export const displayName = z
  .string()
  .max(LIMITS.displayNameLength.value)
  .refine((name) => !hasControlCharacters(name), {
    message: "Must not contain line breaks or control characters.",
    params: { code: "invalid_string" },
  });

export const mailboxJsonSchema = {
  anyOf: [
    { type: "string", examples: [EXAMPLE_ADDRESS, "Ada <ada@example.com>"] },
    {
      type: "object",
      properties: { name: { type: "string" }, email: { type: "string", format: "email" } },
      required: ["email"],
    },
  ],
};

/** The field names of a mailbox; `readMailbox` reads their values. */
export const mailboxNames = z.object({ name: z.unknown(), email: z.unknown() });

/** One mailbox in any of its forms. */
export const mailbox = readAs(
  z
    .unknown()
    .transform(
      (input, context) => readMailbox(input, [], (problem) => context.issues.push(problem)) ?? z.NEVER,
    )
    .register(jsonSchemas, { jsonSchema: mailboxJsonSchema }),
  { as: () => mailboxNames },
);

/**
 * One of our ids in a query or a body: a UUID, converted to lower case as stored, so that ids can be compared as texts. A malformed id in a
 * path is a 404 instead (decisions §1).
 */
export const id = z.uuid().toLowerCase();

/** An id in a path, in any form. If it matches nothing, the result is a 404 as for any missing id. */
export const pathId = z.string().toLowerCase();

/** A name, an address or a key in a path, unchanged. */
export const pathText = z.string();

export const instant = z.iso.datetime();

/** A time sent by a caller. The offset is required because the time would be ambiguous without it. */
export const inputInstant = z.iso.datetime({
  offset: true,
  error: ({ code }) =>
    code === "invalid_format"
      ? "Must be a date and time with its offset: 2027-01-31T12:00:00Z, or 2027-01-31T13:00:00+01:00."
      : undefined,
});

/** The version that the caller of a change has read. */
export const expectedUpdatedAt = inputInstant
  .optional()
  .describe(
    "`updatedAt` as you read it. Returns 409 `CHANGED_MEANWHILE` if it was changed since then. Without it, the change is always made.",
  );

/** A whole number in a query string. */
export function queryInteger(minimum: number, maximum: number, meaning: string) {
  return z
    .string()
    .transform((text, context) => {
      const value = Number(text);
      if (!/^-?\d{1,15}$/.test(text))
        context.issues.push(issue("Must be a whole number.", "invalid_type", text));
      else if (value < minimum)
        context.issues.push(
          issue(withValues("Must be at least {least}.", { least: minimum }), "too_small", text),
        );
      else if (value > maximum)
        context.issues.push(issue(withValues("Must be at most {most}.", { most: maximum }), "too_big", text));
      return value;
    })
    .register(jsonSchemas, { jsonSchema: { type: "integer", minimum, maximum, description: meaning } });
}

/** `true` or `false` in a query string. */
export function queryBoolean(meaning: string) {
  return z
    .enum(["true", "false"])
    .transform((text) => text === "true")
    .register(jsonSchemas, { jsonSchema: { type: "boolean", description: meaning } });
}

/** A file in one part of a multipart/form-data body. */
export interface UploadedFile {
  /** The file name from the caller; null if it was sent without one. */
  filename: string | null;
  bytes: Uint8Array;
}

/** The part of an upload that must be a file. */
export const uploadedFile = z
  .unknown()
  .transform((input, context): UploadedFile => {
    if (typeof input === "object" && input !== null && "bytes" in input) return input as UploadedFile;
    context.issues.push(issue("Send the file as a part with this name.", "required", input));
    return z.NEVER;
  })
  .register(jsonSchemas, { jsonSchema: { type: "string", format: "binary" } });

/** A part of an upload with JSON, read by a schema. */
export function jsonPart<Value>(schema: z.ZodType<Value>, jsonSchema: Record<string, unknown>) {
  return uploadedFile
    .transform(({ bytes }, context): Value => {
      const value = parseJsonPart(bytes);
      const parsed = schema.safeParse(value);
      if (parsed.success && value !== undefined) return parsed.data;
      if (value === undefined) context.issues.push(issue("Must be valid JSON.", "invalid_type", null));
      else
        for (const fault of parsed.error?.issues ?? [])
          context.issues.push({ ...fault, input: value } as z.core.$ZodRawIssue);
      return z.NEVER;
    })
    .register(jsonSchemas, { jsonSchema });
}

/** Returns undefined if the bytes are not JSON. */
function parseJsonPart(bytes: Uint8Array): unknown {
  try {
    return JSON.parse(new TextDecoder("utf-8", { fatal: true }).decode(bytes));
  } catch {
    return undefined;
  }
}

/** `limit` and `cursor` of every cursor list (spec §4). */
export const pageQuery = z.object({
  limit: queryInteger(
    1,
    LIMITS.pageSizeMaximum.value,
    `Items per page; default ${LIMITS.pageSizeDefault.value}.`,
  ).optional(),
  cursor: z.string().max(LIMITS.cursorLength.value).optional(),
});

/** The response of a cursor list; `total` is only set on the first page. */
export function cursorList<Item extends z.ZodType>(item: Item) {
  return z.object({
    data: z.array(item),
    cursor: z.string().nullable(),
    hasMore: z.boolean(),
    total: z.int(),
  });
}

const utf8 = new TextEncoder();

/** Returns whether a text has more than `maximum` bytes as UTF-8. For most texts the length alone answers this. */
export function exceedsBytes(text: string, maximum: number): boolean {
  if (text.length > maximum) return true;
  return text.length * 3 > maximum && utf8.encode(text).length > maximum;
}

/** Custom data of a contact as sent by callers (spec §2.2). contacts/rules.ts decides the meaning of each key. */
export const contactData = z
  .record(z.string(), z.unknown())
  .superRefine((data, context) => {
    const keys = Object.keys(data);
    if (keys.length > LIMITS.dataKeys.value)
      context.addIssue(
        issue(withValues("Must have at most {most} keys.", { most: LIMITS.dataKeys.value }), "too_big", data),
      );
    // null removes this key from contacts that still have it.
    if (Object.hasOwn(data, "") && data[""] !== null)
      context.addIssue(issue("A key must have at least one character.", "too_small", data, [""]));
    for (const key of keys) {
      if (key.length > LIMITS.dataKeyLength.value)
        context.addIssue(
          issue(
            withValues("A key may have at most {most} characters.", { most: LIMITS.dataKeyLength.value }),
            "too_big",
            data,
            [key.slice(0, 40)],
          ),
        );
    }
    if (context.issues.length === 0 && exceedsBytes(JSON.stringify(data), LIMITS.dataBytes.value))
      context.addIssue(
        issue(
          withValues("Must have at most {most} bytes.", { most: LIMITS.dataBytes.value }),
          "too_big",
          data,
        ),
      );
  })
  .describe(
    "Custom data. Given keys are changed, `null` deletes a key, an empty string is ignored, and `{ value, persistent: false }` is used for this request only.",
  );
