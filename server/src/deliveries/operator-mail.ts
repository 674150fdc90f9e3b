// What somebody wrote to postmaster@ or abuse@ of our domains, as a mail to whoever runs the installation. Pure.
// Before it: interpret-notices.ts. After it: emails/system-mail.ts sends it.
import type { OperatorMessage } from "./returned-message.ts";
import { escape, type SystemText } from "./suspension-mail.ts";

/** All of it is text of a stranger: escaped in the HTML. */
export function operatorMail({ recipient, from, subject, text }: OperatorMessage): SystemText {
  const opening = `${from} wrote to ${recipient}:`;
  const closing = "Nobody proved who wrote this. To answer, write to that address.";
  return {
    subject: `[${recipient}] ${subject}`,
    text: [opening, text, closing].join("\n\n"),
    html: `<p>${escape(opening)}</p><pre>${escape(text)}</pre><p>${escape(closing)}</p>`,
  };
}
