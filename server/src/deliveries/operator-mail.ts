// What somebody wrote to postmaster@ or abuse@ of our domains, as a mail to whoever runs the installation. Pure.
// Before it: interpret-notices.ts. After it: emails/system-mail.ts sends it.
import { layOutSystemMail, type SystemMailText } from "../emails/system-mail-layout.ts";
import type { OperatorMessage } from "./returned-message.ts";

export function operatorMail({ recipient, from, subject, text }: OperatorMessage): SystemMailText {
  return layOutSystemMail({
    subject: `[${recipient}] ${subject}`,
    blocks: [`${from} wrote to ${recipient}:`, { quote: text }],
    footer: "Nobody proved who wrote this. To answer, write to that address.",
  });
}
