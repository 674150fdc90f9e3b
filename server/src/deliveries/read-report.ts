// What a report names of a mail. Pure.
import { readText } from "../platform/foreign-values.ts";
import { isId } from "../platform/ids.ts";

/** What a person can look at: the readable part of a message. */
export interface ReadablePart {
  subject: string | null;
  from: string | null;
  text: string | null;
}

/** The id of a mail in its Message-ID, `<id@domain>`, with or without brackets; null for a Message-ID that is not of ours. */
export function readMessageId(value: unknown): string | null {
  const text = readText(value, 400)?.replace(/^</, "") ?? "";
  const id = text.slice(0, 36).toLowerCase();
  return isId(id) && id[14] === "7" && text[36] === "@" ? id : null;
}
