// Email attachments: base64 in common variants, and the content type of a file that comes without one (decisions §7).
import { z } from "zod";
import { hasControlCharacters, issue, jsonSchemas } from "./field.ts";
import { LIMITS } from "./limits/limits.ts";
import { respelled, type Spellings } from "./spellings.ts";
import { readAs } from "./unknown-fields.ts";
import { withValues } from "./translation.ts";

const BASE64 = /^[A-Za-z0-9+/]*={0,2}$/;
/** RFC 2397. A content type has no comma. */
const DATA_URL = /^data:([^,;]*)((?:;[^,;]*)*),/i;
/** RFC 2045 section 5.1 without quoted pairs, which are not used in practice: `text/calendar; method=REQUEST; name="a b"`. */
const CONTENT_TYPE =
  /^[A-Za-z0-9!#$&^_.+-]{1,100}\/[A-Za-z0-9!#$&^_.+-]{1,100}(?:[ \t]*;[ \t]*[A-Za-z0-9!#$&^_.+*-]{1,60}=(?:[A-Za-z0-9!#$%&'*+.^_`{|}~-]{1,200}|"[ !#-[\]-~]{0,200}"))*;?$/;
const CONTENT_ID = /^[!#-;=?-[\]-~]{1,255}$/;
/** Maximum length of a data URL's prefix. */
const DATA_URL_PREFIX_LENGTH = 300;
/** Searches only this much, in whole groups of four. METHOD is a property of the calendar, so it comes before the first event. */
const CALENDAR_LETTERS = 16_384;

const OCTET_STREAM = "application/octet-stream";
/** Content types by file extension. */
const CONTENT_TYPES: Readonly<Record<string, string>> = {
  csv: "text/csv",
  doc: "application/msword",
  docx: "application/vnd.openxmlformats-officedocument.wordprocessingml.document",
  eml: "message/rfc822",
  gif: "image/gif",
  gz: "application/gzip",
  htm: "text/html",
  html: "text/html",
  ics: "text/calendar",
  jpeg: "image/jpeg",
  jpg: "image/jpeg",
  json: "application/json",
  md: "text/markdown",
  mp3: "audio/mpeg",
  mp4: "video/mp4",
  odp: "application/vnd.oasis.opendocument.presentation",
  ods: "application/vnd.oasis.opendocument.spreadsheet",
  odt: "application/vnd.oasis.opendocument.text",
  pdf: "application/pdf",
  pkpass: "application/vnd.apple.pkpass",
  png: "image/png",
  ppt: "application/vnd.ms-powerpoint",
  pptx: "application/vnd.openxmlformats-officedocument.presentationml.presentation",
  rtf: "application/rtf",
  svg: "image/svg+xml",
  txt: "text/plain",
  vcf: "text/vcard",
  webp: "image/webp",
  xls: "application/vnd.ms-excel",
  xlsx: "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet",
  xml: "application/xml",
  zip: "application/zip",
};

/** Returns the part of a data URL before its comma, including its content type; null for any other text. */
function dataUrlOf(text: string): { length: number; contentType: string; isBase64: boolean } | null {
  const match = DATA_URL.exec(text.slice(0, DATA_URL_PREFIX_LENGTH));
  if (match === null) return null;
  const parameters = (match[2] ?? "").split(";").filter((parameter) => parameter !== "");
  const others = parameters.filter((parameter) => parameter.trim().toLowerCase() !== "base64");
  const contentType = [match[1]?.trim() ?? "", ...others].join(";");
  return { length: match[0].length, contentType, isBase64: others.length < parameters.length };
}

/** Returns the base64 without line breaks, in the standard alphabet; null if the text is not base64. */
function plainBase64(text: string): string | null {
  const whole = /\s/.test(text) ? text.replace(/\s+/g, "") : text;
  const plain = /[-_]/.test(whole) ? whole.replaceAll("-", "+").replaceAll("_", "/") : whole;
  const padding = plain.endsWith("==") ? 2 : plain.endsWith("=") ? 1 : 0;
  const letters = plain.length - padding;
  const isWhole = padding === 0 ? letters % 4 !== 1 : plain.length % 4 === 0;
  // An empty text is an empty file.
  return BASE64.test(plain) && (letters > 0 || padding === 0) && isWhole ? plain : null;
}

/** The file's bytes as base64, also with line breaks, in the alphabet of URLs, or as a data URL. */
const content = z
  .string()
  .transform((text, context) => {
    const url = dataUrlOf(text);
    const plain = url?.isBase64 === false ? null : plainBase64(url === null ? text : text.slice(url.length));
    if (plain !== null) return { base64: plain, contentType: url?.contentType ?? null };
    context.issues.push(issue("Must be the file's bytes in base64.", "invalid_string", "base64"));
    return z.NEVER;
  })
  .register(jsonSchemas, { jsonSchema: { type: "string", contentEncoding: "base64" } });

const contentType = z
  .string()
  .max(LIMITS.contentTypeLength.value)
  .regex(CONTENT_TYPE, "Must be a content type such as application/pdf or text/calendar; method=REQUEST.");

/** Returns the content type for a file name. A calendar gets the METHOD from its content (RFC 6047 section 2.4). */
function guessedType(filename: string, base64: string): string {
  const ending = /\.([A-Za-z0-9]{1,10})$/.exec(filename)?.[1]?.toLowerCase() ?? "";
  const type = Object.hasOwn(CONTENT_TYPES, ending) ? (CONTENT_TYPES[ending] ?? OCTET_STREAM) : OCTET_STREAM;
  if (ending !== "ics") return type;
  const method = /^METHOD:[ \t]{0,9}([A-Za-z-]{1,30})[ \t]{0,9}\r?$/im.exec(
    atob(base64.slice(0, CALENDAR_LETTERS)),
  )?.[1];
  return method === undefined ? type : `${type}; method=${method.toUpperCase()}`;
}

const attachment = z
  .object({
    filename: z
      .string()
      .min(1)
      .max(LIMITS.attachmentNameLength.value)
      .refine((name) => !hasControlCharacters(name) && !/[/\\]/.test(name), {
        message: "Must be a file name without a path or line breaks.",
        params: { code: "invalid_string" },
      }),
    content: content.describe(
      "The file's bytes in base64; line breaks, the alphabet of URLs (`-`, `_`) and data URLs are accepted.",
    ),
    contentType: contentType
      .optional()
      .describe(
        "Such as application/pdf or `text/calendar; method=REQUEST`. Default: the type in the data URL or of the file extension (for `.ics` with the calendar's method), otherwise application/octet-stream.",
      ),
    type: contentType.optional().describe("The same as contentType."),
    contentId: z
      .string()
      .regex(CONTENT_ID, "Must be ASCII without spaces, quotes or angle brackets.")
      .optional(),
    disposition: z.enum(["attachment", "inline"]).optional(),
  })
  .refine((item) => item.disposition !== "inline" || item.contentId !== undefined, {
    message: 'An inline attachment needs a contentId so that <img src="cid:…"> can show it.',
    path: ["contentId"],
    params: { code: "required" },
  });

const SPELLINGS: Spellings = {
  fields: Object.keys(attachment.shape),
  aliases: {
    name: "filename",
    mimetype: "contentType",
    mime: "contentType",
    cid: "contentId",
    data: "content",
    base64: "content",
  },
};

/** Adds the content type of a file if neither field contains one. */
function withContentType({
  content: { base64, contentType: ofUrl },
  type,
  ...item
}: z.output<typeof attachment>) {
  const named =
    item.contentType ?? type ?? (CONTENT_TYPE.test(ofUrl ?? "") ? (ofUrl ?? undefined) : undefined);
  return { ...item, content: base64, contentType: named ?? guessedType(item.filename, base64) };
}

const spelledAttachment = readAs(
  z.preprocess((input) => respelled(input, SPELLINGS), attachment.transform(withContentType)),
  { as: () => attachment, rename: (input) => respelled(input, SPELLINGS) },
);

function decodedBytes(base64: string): number {
  const padding = base64.endsWith("==") ? 2 : base64.endsWith("=") ? 1 : 0;
  return Math.floor(((base64.length - padding) * 3) / 4);
}

export const attachments = z
  .array(spelledAttachment)
  .max(LIMITS.attachments.value)
  .superRefine((items, context) => {
    // This check also runs if an item is invalid and was therefore not transformed.
    const sizes = items.map(({ content: file }) => (typeof file === "string" ? decodedBytes(file) : 0));
    const total = sizes.reduce((sum, size) => sum + size, 0);
    if (total > LIMITS.attachmentBytes.value)
      context.addIssue(
        issue(
          withValues("All attachments together may have at most {most} bytes.", {
            most: LIMITS.attachmentBytes.value,
          }),
          "too_big",
          total,
        ),
      );
  });
