// The header of an attached part: its content type, a file name that is safe to store, its content id (RFC 2183, 2231).
import { foldedField, idField, neutralise } from "./header.ts";

/** A file that travels with the message. */
export interface Attachment {
  /** As the caller gave it; what is written is `safeFilename(filename)`. */
  filename: string;
  /** `type/subtype`, parameters allowed; anything else travels as application/octet-stream. */
  contentType: string;
  content: Uint8Array;
  disposition: "attachment" | "inline";
  /** Without angle brackets; the HTML refers to it as `cid:…`. */
  contentId?: string;
}

/** What file systems allow for a name, in characters. */
const FILENAME_LENGTH_MAX = 255;
/** With ` filename*0*=utf-8''` before it and a semicolon after it, a section fills a line of 76 characters. */
const PARAMETER_LENGTH = 55;
/** RFC 6838 section 4.2 limits type and subtype to 127 characters each. */
const CONTENT_TYPE = /^[\w!#$&^.+-]{1,127}\/[\w!#$&^.+-]{1,127}$/;
/** Composite types may not be sent in base64 (RFC 2046 sections 5.1 and 5.2.1). */
const COMPOSITE_TYPE = /^(multipart|message)\//i;
/** Each of them after its semicolon; a quoted value may hold semicolons, but no quoted pairs. */
const CONTENT_TYPE_PARAMETERS =
  /;[ \t]*(?!name\*?=)([\w!#$&^.+-]{1,60}=(?:[\w!#$%&'*+.^`{|}~-]{1,200}|"[ !#-[\]-~]{0,200}"))[ \t]*(?=;|$)/gi;
/** File names that every reader takes from a plain quoted string. */
const PLAIN_FILENAME = /^[\w!#$&+\-.^`{}~()[\]@,;']+( [\w!#$&+\-.^`{}~()[\]@,;']+)*$/;
/** Marks that turn the reading direction (`gpj.exe` shown as `exe.jpg`) and invisible spaces. */
const DECEPTIVE = /[\u061c\u200b\u200e\u200f\u202a-\u202e\u2060-\u2069\ufeff]/gu;
/** What Windows allows in no name; the path separators are gone by then. */
const FORBIDDEN = /["<>:|?*]/g;

/** The header fields of the part, each with CRLF, without the empty line after them. */
export function attachmentHeader(attachment: Attachment): string {
  const filename = safeFilename(attachment.filename);
  // Readers that know no RFC 2231 look for `name`. A plain `filename` beside `filename*` would win in some that do.
  const type = contentTypeWords(attachment.contentType);
  const header =
    foldedField("Content-Type", [...type, `name="${asciiFilename(filename)}"`]) +
    foldedField("Content-Disposition", [`${attachment.disposition};`, ...filenameWords(filename)]) +
    "Content-Transfer-Encoding: base64\r\n";
  return attachment.contentId === undefined ? header : header + idField("Content-ID", attachment.contentId);
}

/**
 * The name a receiver may store the file under: no path, no control or direction characters, no quotes or other
 * characters that file systems refuse, no spaces or dots where they drop them, never empty, at most 255 characters.
 */
export function safeFilename(filename: string): string {
  const name = neutralise(filename.toWellFormed()).split(/[/\\]/).at(-1) ?? "";
  const visible = name.replace(DECEPTIVE, "").replace(FORBIDDEN, "_");
  const cut = Array.from(visible.trim()).slice(0, FILENAME_LENGTH_MAX).join("");
  return cut.replace(/[. ]+$/, "") || "attachment";
}

/** A stand-in for readers that know nothing of Unicode. The end is kept, where the extension is. */
function asciiFilename(filename: string): string {
  const letters = filename.normalize("NFKD").replace(/[\u0300-\u036f]/g, "");
  return letters
    .replace(/[^\w .,()@#&+-]/gu, "_")
    .replace(/ +/g, " ")
    .slice(-PARAMETER_LENGTH)
    .trim();
}

/** `filename="…"`, or RFC 2231 with the name percent-encoded and cut between characters into `filename*0*`, `*1*`, … */
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

/** The content type and those of its parameters that are well-formed, each ended by a semicolon. */
function contentTypeWords(contentType: string): string[] {
  const line = neutralise(contentType);
  const type = (line.split(";", 1)[0] ?? "").trim();
  // An attached mail travels as the file it is.
  if (!CONTENT_TYPE.test(type) || COMPOSITE_TYPE.test(type)) return ["application/octet-stream;"];
  const parameters = [...line.matchAll(CONTENT_TYPE_PARAMETERS)].map(([, parameter]) => parameter);
  return [type, ...parameters].map((word) => `${word};`);
}
