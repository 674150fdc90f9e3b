// Reads and writes several mailboxes as one text, as in a Reply-To header (RFC 5322 §3.4). Pure.
import { parseMailbox, type MailboxResult } from "./address.ts";

interface ListedMailbox {
  address: string;
  name: string | null;
}

/** Parses each mailbox of a text, separated by commas outside of quotes. Takes linear time and never throws. */
export function parseMailboxList(text: string): MailboxResult[] {
  const starts = [0];
  let isQuoted = false;
  for (let at = 0; at < text.length; at += 1) {
    const character = text.charAt(at);
    if (character === "\\" && isQuoted) at += 1;
    else if (character === '"') isQuoted = !isQuoted;
    else if (character === "," && !isQuoted) starts.push(at + 1);
  }
  return starts.map((start, index) =>
    parseMailbox(text.slice(start, (starts[index + 1] ?? text.length + 1) - 1)),
  );
}

/** Returns the text that `parseMailboxList` parses into the same mailboxes. */
export function formatMailboxList(mailboxes: readonly ListedMailbox[]): string {
  return mailboxes
    .map(({ address, name }) =>
      name === null ? address : `"${name.replaceAll(/["\\]/g, String.raw`\$&`)}" <${address}>`,
    )
    .join(", ");
}
