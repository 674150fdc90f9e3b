// Parses received messages. Runs on a separate thread, because a message may have a hundred thousand lines. Pure.
import { LIMITS } from "@postloft/contract/limits/limits.ts";
import PostalMime, { type Address, type Attachment, type Email } from "postal-mime";

export interface Person {
  address: string;
  name: string | null;
}

/** The parts of a message without the content of its attachments. */
export interface ReceivedParts {
  to: Person[];
  cc: Person[];
  replyTo: Person[];
  inReplyTo: string | null;
  references: string | null;
  text: string | null;
  html: string | null;
  headers: Array<{ name: string; value: string }>;
  attachments: Array<{ filename: string; contentType: string; sizeBytes: number; contentId: string | null }>;
}

export interface ReceivedFile {
  filename: string;
  bytes: Uint8Array;
}

/** Reads the parts, or the attachment at a place. */
export interface ParseTask {
  raw: Uint8Array;
  attachment: number | null;
}

/** `file` is null if there is no attachment at that place. */
export type ParseResult = { parts: ReceivedParts } | { file: ReceivedFile | null } | { fault: string };

const UNNAMED = "unnamed";
/** A message may have a million empty parts. */
const MAX_ATTACHMENTS = 1_000;

/** Parses a message. Forwarded messages are attachments. Never throws. */
export async function parseReceived({ raw, attachment }: ParseTask): Promise<ParseResult> {
  let email: Email;
  try {
    email = await PostalMime.parse(raw, { forceRfc822Attachments: true });
  } catch (error) {
    return { fault: String(error) };
  }
  if (attachment === null) return { parts: partsOf(email) };
  const found = email.attachments[attachment];
  return { file: found === undefined ? null : { filename: nameOf(found), bytes: bytesOf(found) } };
}

function partsOf(email: Email): ReceivedParts {
  return {
    to: peopleIn(email.to),
    cc: peopleIn(email.cc),
    replyTo: peopleIn(email.replyTo),
    inReplyTo: email.inReplyTo ?? null,
    references: email.references ?? null,
    text: partOf(email.text),
    html: partOf(email.html),
    headers: email.headers.map(({ originalKey, value }) => ({ name: originalKey, value })),
    attachments: email.attachments.slice(0, MAX_ATTACHMENTS).map((attachment) => ({
      filename: nameOf(attachment),
      contentType: attachment.mimeType,
      sizeBytes: bytesOf(attachment).byteLength,
      contentId: attachment.contentId?.replace(/^<(.*)>$/, "$1") ?? null,
    })),
  };
}

/** Returns the people of an address field, including those in groups. */
function peopleIn(addresses: readonly Address[] | undefined): Person[] {
  return (addresses ?? [])
    .flatMap((one) => one.group ?? [one])
    .map(({ address, name }) => ({ address, name: name === "" ? null : name }));
}

function nameOf({ filename }: Attachment): string {
  const name = filename?.slice(0, LIMITS.attachmentNameLength.value) ?? "";
  return name === "" ? UNNAMED : name;
}

function bytesOf({ content }: Attachment): Uint8Array {
  return typeof content === "string" ? Buffer.from(content) : new Uint8Array(content);
}

/** Removes the line break before the next part, which the parser counts as text. */
function partOf(text: string | undefined): string | null {
  return text?.replace(/\r?\n$/, "") ?? null;
}
