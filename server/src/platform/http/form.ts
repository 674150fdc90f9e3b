// Reads a form as a browser or a mail program posts it: urlencoded or multipart, short texts only; and uploads, where a part is a file.
import { LIMITS } from "@postloft/contract/limits/limits.ts";
import type { UploadedFile } from "@postloft/contract/field.ts";
import { Refusal } from "../refusal.ts";

export const FORM_TYPES = ["application/x-www-form-urlencoded", "multipart/form-data"];
export const UPLOAD_TYPES = ["multipart/form-data"];

/** The texts of a form by name; of a repeated name the last one. Files are left out, and what is no form at all says nothing. */
export async function readForm(bytes: Buffer, contentType: string): Promise<Record<string, string>> {
  const fields = (await readParts(bytes, contentType)) ?? [];
  return Object.fromEntries(
    fields.filter((entry): entry is [string, string] => typeof entry[1] === "string"),
  );
}

/** The parts of an upload by name, each as a file: not every client says of a part that it is one. Of a repeated name the last. */
export async function readUpload(bytes: Buffer, contentType: string): Promise<Record<string, UploadedFile>> {
  const parts = await readParts(bytes, contentType);
  if (parts === null)
    throw new Refusal("INVALID_REQUEST_BODY", {
      message: "The body is not multipart/form-data, or it does not end where it says.",
    });
  const files = parts.map(async ([name, part]): Promise<[string, UploadedFile]> => {
    if (typeof part === "string") return [name, { filename: null, bytes: Buffer.from(part) }];
    return [name, { filename: part.name, bytes: Buffer.from(await part.arrayBuffer()) }];
  });
  return Object.fromEntries(await Promise.all(files));
}

/** What was uploaded without the boundary, which is another one in each sending of the same. */
export function joinParts(upload: unknown): Buffer {
  const parts = Object.entries((upload ?? {}) as Record<string, UploadedFile>);
  return Buffer.concat(
    parts.flatMap(([name, { bytes }]) => [Buffer.from(`${name}:${bytes.length}:`), bytes]),
  );
}

const BOUNDARY = /^multipart\/form-data\s*;.*\bboundary=(?:"([^"]{1,100})"|([^\s;]{1,100}))/i;

/** Before it is parsed, which happens in one turn however many parts there are. @throws Refusal INVALID_REQUEST_BODY */
function refuseManyParts(bytes: Buffer, contentType: string): void {
  const boundary = BOUNDARY.exec(contentType);
  const between = boundary === null ? "&" : `--${boundary[1] ?? boundary[2] ?? ""}`;
  let parts = 0;
  for (let at = bytes.indexOf(between); at !== -1; at = bytes.indexOf(between, at + between.length))
    if (++parts > LIMITS.formParts.value)
      throw new Refusal("INVALID_REQUEST_BODY", {
        message: `The form has more than ${LIMITS.formParts.value} parts.`,
      });
}

/** null: it is no form. */
async function readParts(bytes: Buffer, contentType: string): Promise<Array<[string, string | File]> | null> {
  refuseManyParts(bytes, contentType);
  try {
    return [...(await new Response(bytes, { headers: { "content-type": contentType } }).formData())];
  } catch (error) {
    if (error instanceof TypeError) return null;
    throw error;
  }
}
