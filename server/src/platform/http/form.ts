// Reads forms with short texts, urlencoded or multipart, and uploads, in which parts may be files.
import { LIMITS } from "@postloft/contract/limits/limits.ts";
import type { UploadedFile } from "@postloft/contract/field.ts";
import { withValues } from "@postloft/contract/translation.ts";
import { AppError } from "../app-error.ts";

export const FORM_TYPES = ["application/x-www-form-urlencoded", "multipart/form-data"];
export const UPLOAD_TYPES = ["multipart/form-data"];

/** Returns the texts of a form by name, the last one for repeated names. Ignores files and returns nothing for invalid forms. */
export async function readForm(bytes: Buffer, contentType: string): Promise<Record<string, string>> {
  const fields = (await readParts(bytes, contentType)) ?? [];
  return Object.fromEntries(
    fields.filter((entry): entry is [string, string] => typeof entry[1] === "string"),
  );
}

/**
 * Returns the parts of an upload by name, the last one for repeated names. Each is treated as a file because not every client declares
 * files.
 */
export async function readUpload(bytes: Buffer, contentType: string): Promise<Record<string, UploadedFile>> {
  const { outline, contents } = splitUpload(bytes, contentType);
  const parts = await readParts(outline, contentType);
  if (parts === null)
    throw new AppError("INVALID_REQUEST_BODY", {
      message: "The body is not complete multipart/form-data.",
    });
  const files: Array<[string, UploadedFile]> = [];
  for (const [name, part] of parts) {
    const text = typeof part === "string" ? part : await part.text();
    // The parser decodes base64, and with it the number of such a part.
    const content = /^\d+$/.test(text)
      ? contents[Number(text)]
      : await decodedContent(bytes, contentType, name);
    files.push([
      name,
      { filename: typeof part === "string" ? null : part.name, bytes: content ?? Buffer.alloc(0) },
    ]);
  }
  return Object.fromEntries(files);
}

/** Returns the content of a part that has a transfer encoding. */
async function decodedContent(bytes: Buffer, contentType: string, name: string): Promise<Buffer> {
  const part = (await readParts(bytes, contentType))?.findLast(([other]) => other === name)?.[1] ?? "";
  return typeof part === "string" ? Buffer.from(part) : Buffer.from(await part.arrayBuffer());
}

/**
 * Splits an upload into its contents and a small body that has the number of each content in its place. The parser of the platform reads
 * the small body, because it would copy megabytes four times.
 */
function splitUpload(bytes: Buffer, contentType: string): { outline: Buffer; contents: Buffer[] } {
  const delimiter = `\r\n--${boundaryOf(contentType) ?? ""}`;
  const pieces: Buffer[] = [];
  const contents: Buffer[] = [];
  let at = 0;
  for (;;) {
    const start = bytes.indexOf(END_OF_HEADERS, at) + END_OF_HEADERS.length;
    const end = start < END_OF_HEADERS.length ? -1 : bytes.indexOf(delimiter, start);
    if (end === -1) return { outline: Buffer.concat([...pieces, bytes.subarray(at)]), contents };
    if (contents.length >= LIMITS.formParts.value) throw tooManyParts();
    pieces.push(bytes.subarray(at, start), Buffer.from(String(contents.length)));
    contents.push(bytes.subarray(start, end));
    at = end;
  }
}

const END_OF_HEADERS = "\r\n\r\n";

/** Returns an upload's content without the boundary, which differs in each submission of the same upload. */
export function joinParts(upload: unknown): Buffer {
  const parts = Object.entries((upload ?? {}) as Record<string, UploadedFile>);
  return Buffer.concat(
    parts.flatMap(([name, { bytes }]) => [Buffer.from(`${name}:${bytes.length}:`), bytes]),
  );
}

const BOUNDARY = /^multipart\/form-data\s*;.*\bboundary=(?:"([^"]{1,100})"|([^\s;]{1,100}))/i;

function boundaryOf(contentType: string): string | undefined {
  const found = BOUNDARY.exec(contentType);
  return found?.[1] ?? found?.[2];
}

function tooManyParts(): AppError {
  return new AppError(
    "INVALID_REQUEST_BODY",
    withValues("The form has more than {most} parts.", { most: LIMITS.formParts.value }),
  );
}

/**
 * Rejects forms with too many parts before they are parsed, because parsing takes one turn regardless of their number. @throws AppError
 * INVALID_REQUEST_BODY
 */
function refuseManyParts(bytes: Buffer, contentType: string): void {
  const boundary = boundaryOf(contentType);
  const between = boundary === undefined ? "&" : `--${boundary}`;
  // Parts of a multipart form have a delimiter on both sides.
  let parts = boundary === undefined ? 1 : -1;
  for (let at = bytes.indexOf(between); at !== -1; at = bytes.indexOf(between, at + between.length))
    if (++parts > LIMITS.formParts.value) throw tooManyParts();
}

/** Returns the parts, or null for an invalid form. */
async function readParts(bytes: Buffer, contentType: string): Promise<Array<[string, string | File]> | null> {
  refuseManyParts(bytes, contentType);
  try {
    return [...(await new Response(bytes, { headers: { "content-type": contentType } }).formData())];
  } catch (error) {
    if (error instanceof TypeError) return null;
    throw error;
  }
}
