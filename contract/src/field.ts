// The small schemas that many nouns share: addresses, ids, instants, pages, contact data. Each breaks with a field code and a sentence.
import { z } from "zod";
import { parseAddress, parseMailbox } from "./address.ts";
import type { FieldCode } from "./errors.ts";
import { LIMITS } from "./limits/limits.ts";
import { readAs, unknownFieldIssues } from "./unknown-fields.ts";

/** JSON Schemas for OpenAPI where the Zod schema is a transformation and says nothing by itself. */
export const jsonSchemas = z.registry<{ jsonSchema: Record<string, unknown> }>();

/** An issue of a transformation, with one of our field codes and, where needed, a path below the field. */
export function issue(message: string, code: FieldCode, input: unknown, path: Array<string | number> = []) {
  return { code: "custom" as const, message, params: { code }, input, path };
}

/** Reports what a schema finds wrong with a part of a body, unknown fields included, below the name of that part: `config.amount`. */
export function addFaults(schema: z.ZodType, input: unknown, name: string, context: z.RefinementCtx): void {
  context.issues.push(...unknownFieldIssues(schema, input, [name]));
  for (const fault of schema.safeParse(input).error?.issues ?? [])
    context.issues.push({ ...fault, input, path: [name, ...fault.path] } as z.core.$ZodRawIssue);
}

const EXAMPLE_ADDRESS = "ada@example.com";

/** One address in any spelling, answered in its one canonical form (decisions §3). */
export const emailAddress = z
  .string()
  .transform((text, context) => {
    const parsed = parseAddress(text);
    if (parsed.ok) return parsed.address;
    context.issues.push(issue(parsed.reason, "invalid_string", text));
    return z.NEVER;
  })
  .register(jsonSchemas, { jsonSchema: { type: "string", format: "email", examples: [EXAMPLE_ADDRESS] } });

export interface MailboxValue {
  address: string;
  name: string | null;
}

/** Reads `"a@b.c"`, `"Name <a@b.c>"` or `{ name?, email }`; pushes issues and returns null when it is none of them. */
export function readMailbox(
  input: unknown,
  path: Array<string | number>,
  push: (problem: ReturnType<typeof issue>) => void,
): MailboxValue | null {
  if (typeof input === "string") {
    const parsed = parseMailbox(input);
    if (parsed.ok) return { address: parsed.address, name: parsed.name ?? null };
    push(issue(parsed.reason, "invalid_string", input, path));
    return null;
  }
  if (typeof input !== "object" || input === null || Array.isArray(input)) {
    push(issue("Must be an e-mail address, or an object { name, email }.", "invalid_type", input, path));
    return null;
  }
  const { email, name } = input as { email?: unknown; name?: unknown };
  const address = typeof email === "string" ? parseAddress(email) : null;
  if (email === undefined) push(issue("The address is missing.", "required", email, [...path, "email"]));
  else if (address === null) push(issue("Must be a string.", "invalid_type", email, [...path, "email"]));
  else if (!address.ok) push(issue(address.reason, "invalid_string", email, [...path, "email"]));
  const nameProblem = displayNameProblem(name);
  if (nameProblem !== null) push(issue(nameProblem.message, nameProblem.code, name, [...path, "name"]));
  if (!address?.ok || nameProblem !== null) return null;
  return {
    address: address.address,
    name: typeof name === "string" && name.trim() !== "" ? name.trim() : null,
  };
}

// oxlint-disable-next-line no-control-regex -- control characters are exactly what is looked for
const CONTROL_CHARACTERS = /[\u0000-\u001f\u007f\u0085\u2028\u2029]/;

/** Whether a text holds control characters or line breaks of any kind, which have no place in a header. */
export function hasControlCharacters(text: string): boolean {
  return CONTROL_CHARACTERS.test(text);
}

function displayNameProblem(name: unknown): { message: string; code: FieldCode } | null {
  if (name === undefined || name === null) return null;
  if (typeof name !== "string") return { message: "Must be a string.", code: "invalid_type" };
  if (hasControlCharacters(name))
    return { message: "Must not contain line breaks or control characters.", code: "invalid_string" };
  if (name.length > LIMITS.displayNameLength.value)
    return { message: `Must have at most ${LIMITS.displayNameLength.value} characters.`, code: "too_big" };
  return null;
}

/** A display name given on its own. */
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

/** The names of fields in a mailbox; `readMailbox` reads the values. */
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
 * An id of ours in a query or a body: UUID, in lower case as it is stored, so that texts can be compared. A malformed id in a path
 * is a 404 instead (decisions §1).
 */
export const id = z.uuid().toLowerCase();

/** An id in a path, of any form: what it does not find is a 404 like any missing one. */
export const pathId = z.string().toLowerCase();

/** A name, an address or a key in a path, taken as it comes. */
export const pathText = z.string();

export const instant = z.iso.datetime();

/** An instant as a caller writes it: without an offset nobody knows which one is meant. */
export const givenInstant = z.iso.datetime({
  offset: true,
  error: ({ code }) =>
    code === "invalid_format"
      ? "Must be a date and time with its offset: 2027-01-31T12:00:00Z, or 2027-01-31T13:00:00+01:00."
      : undefined,
});

/** With a change: what whoever makes it has read. */
export const expectedUpdatedAt = givenInstant
  .optional()
  .describe(
    "`updatedAt` as it was read: 409 `CHANGED_MEANWHILE` when it was changed since. Without it the change is made in any case.",
  );

/** A whole number in a query string. */
export function queryInteger(minimum: number, maximum: number, meaning: string) {
  return z
    .string()
    .transform((text, context) => {
      const value = Number(text);
      if (!/^-?\d{1,15}$/.test(text))
        context.issues.push(issue("Must be a whole number.", "invalid_type", text));
      else if (value < minimum) context.issues.push(issue(`Must be at least ${minimum}.`, "too_small", text));
      else if (value > maximum) context.issues.push(issue(`Must be at most ${maximum}.`, "too_big", text));
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

/** A file that came as one part of a multipart/form-data body. */
export interface UploadedFile {
  /** As the caller named it; null where it was sent without a name. */
  filename: string | null;
  bytes: Uint8Array;
}

/** The part of an upload that must be a file. */
export const uploadedFile = z
  .unknown()
  .transform((input, context): UploadedFile => {
    if (typeof input === "object" && input !== null && "bytes" in input) return input as UploadedFile;
    context.issues.push(issue("Send the file as a part of this name.", "required", input));
    return z.NEVER;
  })
  .register(jsonSchemas, { jsonSchema: { type: "string", format: "binary" } });

/** A part of an upload that is JSON, read by a schema. */
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

/** Undefined where the bytes are no JSON. */
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

/** The answer of a cursor list; `total` is filled on the first page only. */
export function cursorList<Item extends z.ZodType>(item: Item) {
  return z.object({
    data: z.array(item),
    cursor: z.string().nullable(),
    hasMore: z.boolean(),
    total: z.int(),
  });
}

const utf8 = new TextEncoder();

/** Whether a text has more than so many bytes as UTF-8. Most texts are far from it, which their length tells. */
export function exceedsBytes(text: string, maximum: number): boolean {
  if (text.length > maximum) return true;
  return text.length * 3 > maximum && utf8.encode(text).length > maximum;
}

/** The free-form data of a contact as a caller sends it (spec §2.2); what each key means is decided in contacts/rules.ts. */
export const contactData = z
  .record(z.string(), z.unknown())
  .superRefine((data, context) => {
    const keys = Object.keys(data);
    if (keys.length > LIMITS.dataKeys.value)
      context.addIssue(issue(`Must have at most ${LIMITS.dataKeys.value} keys.`, "too_big", data));
    // null takes it from contacts that have one from before.
    if (Object.hasOwn(data, "") && data[""] !== null)
      context.addIssue(issue("A key must have at least one character.", "too_small", data, [""]));
    for (const key of keys) {
      if (key.length > LIMITS.dataKeyLength.value)
        context.addIssue(
          issue(`A key may have at most ${LIMITS.dataKeyLength.value} characters.`, "too_big", data, [
            key.slice(0, 40),
          ]),
        );
    }
    if (context.issues.length === 0 && exceedsBytes(JSON.stringify(data), LIMITS.dataBytes.value))
      context.addIssue(issue(`Must have at most ${LIMITS.dataBytes.value} bytes.`, "too_big", data));
  })
  .describe(
    "Custom data: keys sent are changed, `null` deletes a key, an empty string is ignored, `{ value, persistent: false }` is used for this request only.",
  );
