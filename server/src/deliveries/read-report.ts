// Reads the parts of a report that identify an email. Pure.
import { readText } from "../platform/foreign-values.ts";
import { isId } from "../platform/ids.ts";

/** The readable part of a message, for a person to look at. */
export interface ReadablePart {
  subject: string | null;
  from: string | null;
  text: string | null;
}

/** Returns the email id in our Message-ID, `<id@domain>`, with or without brackets. Null for other Message-IDs. */
export function readMessageId(value: unknown): string | null {
  const text = readText(value, 400)?.replace(/^</, "") ?? "";
  const id = text.slice(0, 36).toLowerCase();
  return isId(id) && id[14] === "7" && text[36] === "@" ? id : null;
}
