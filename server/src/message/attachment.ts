// Builds the header of an attachment part: content type, safe file name and content id (RFC 2183, 2231).
import { foldedField, idField, neutralize } from "./header.ts";

/** A file attached to the message. */
export interface Attachment {
  /** As the caller sent it; `safeFilename(filename)` is written to the message. */
  filename: string;
  /** `type/subtype` with optional parameters; anything malformed is sent as application/octet-stream. */
  contentType: string;
  content: Uint8Array;
  disposition: "attachment" | "inline";
  /** Without angle brackets; the HTML refers to this id as `cid:…`. */
  contentId?: string;
}

/** The limit of most file systems, in characters. */
const FILENAME_LENGTH_MAX = 255;
/** A section of this length fills a line of 76 characters together with ` filename*0*=utf-8''` and a semicolon. */
const PARAMETER_LENGTH = 55;
/** RFC 6838 section 4.2 limits type and subtype to 127 characters each. */
const CONTENT_TYPE = /^[\w!#$&^.+-]{1,127}\/[\w!#$&^.+-]{1,127}$/;
/** Composite types may not be sent in base64 (RFC 2046 sections 5.1 and 5.2.1). */
const COMPOSITE_TYPE = /^(multipart|message)\//i;
/** Each parameter follows a semicolon; a quoted value may contain semicolons but no quoted pairs. */
const CONTENT_TYPE_PARAMETERS =
  /;[ \t]*(?!name\*?=)([\w!#$&^.+-]{1,60}=(?:[\w!#$%&'*+.^`{|}~-]{1,200}|"[ !#-[\]-~]{0,200}"))[ \t]*(?=;|$)/gi;
/** File names that every mail client reads from a plain quoted string. */
const PLAIN_FILENAME = /^[\w!#$&+\-.^`{}~()[\]@,;']+( [\w!#$&+\-.^`{}~()[\]@,;']+)*$/;
/** Characters that change the reading direction (`gpj.exe` displayed as `exe.jpg`) and invisible spaces. */
const DECEPTIVE = /[\u061c\u200b\u200e\u200f\u202a-\u202e\u2060-\u2069\ufeff]/gu;
/** Characters Windows forbids in file names; path separators are removed earlier. */
const FORBIDDEN = /["<>:|?*]/g;

/** Returns the header fields of the part, each with CRLF, without the empty line that ends the header. */
export function attachmentHeader(attachment: Attachment): string {
  const filename = safeFilename(attachment.filename);
  // Clients without RFC 2231 support read `name`. Some of them would prefer a plain `filename` over `filename*`.
  const type = contentTypeWords(attachment.contentType);
  const header =
    foldedField("Content-Type", [...type, `name="${asciiFilename(filename)}"`]) +
    foldedField("Content-Disposition", [`${attachment.disposition};`, ...filenameWords(filename)]) +
    "Content-Transfer-Encoding: base64\r\n";
  return attachment.contentId === undefined ? header : header + idField("Content-ID", attachment.contentId);
}

/**
 * Returns a file name that a receiver can store safely: not empty and at most 255 characters.
 * Paths, control and direction characters, and characters that file systems reject are removed or replaced, as are trailing spaces and
 * dots.
 */
export function safeFilename(filename: string): string {
  const name = neutralize(filename.toWellFormed()).split(/[/\\]/).at(-1) ?? "";
  const visible = name.replace(DECEPTIVE, "").replace(FORBIDDEN, "_");
  const cut = Array.from(visible.trim()).slice(0, FILENAME_LENGTH_MAX).join("");
  return cut.replace(/[. ]+$/, "") || "attachment";
}

/** Returns an ASCII fallback for clients without Unicode support. Long names keep their end, which has the extension. */
function asciiFilename(filename: string): string {
  const letters = filename.normalize("NFKD").replace(/[\u0300-\u036f]/g, "");
  return letters
    .replace(/[^\w .,()@#&+-]/gu, "_")
    .replace(/ +/g, " ")
    .slice(-PARAMETER_LENGTH)
    .trim();
}

/** Returns `filename="…"`, or the RFC 2231 form: percent-encoded and cut between characters into `filename*0*`, `*1*`, … */
function filenameWords(filename: string): string[] {
  if (PLAIN_FILENAME.test(filename) && filename.length <= PARAMETER_LENGTH) return [`filename="${filename}"`];
  const sections = [""];
  for (const character of filename) {
    const encoded = encodeURIComponent(character).replace(
      /['()*]/g,
      (mark) => `%${mark.charCodeAt(0).toString(16)}`,
    );
    const section = sections.at(-1) ?? "";
    if (section.length + encoded.length > PARAMETER_LENGTH) sections.push(encoded);
    else sections[sections.length - 1] = section + encoded;
  }
  const last = sections.length - 1;
  if (last === 0) return [`filename*=utf-8''${sections[0]}`];
  return sections.map((section, index) => {
    const charset = index === 0 ? "utf-8''" : "";
    return `filename*${index}*=${charset}${section}${index === last ? "" : ";"}`;
  });
}

/** Returns the content type and its well-formed parameters, each ending with a semicolon. */
function contentTypeWords(contentType: string): string[] {
  const line = neutralize(contentType);
  const type = (line.split(";", 1)[0] ?? "").trim();
  // An attached email is sent as a plain file.
  if (!CONTENT_TYPE.test(type) || COMPOSITE_TYPE.test(type)) return ["application/octet-stream;"];
  const parameters = [...line.matchAll(CONTENT_TYPE_PARAMETERS)].map(([, parameter]) => parameter);
  return [type, ...parameters].map((word) => `${word};`);
}
