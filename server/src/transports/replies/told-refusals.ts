// Explains the stored reply of an attempt: cause, provider and advice. Pure.
import { classify, notifyCause, type RepliedPart } from "./replies.ts";

/** `RCPT: 550 5.1.1 no such user`, as written by smtp-outcomes.ts. */
const STORED_REPLY =
  /^(MAIL|RCPT|DATA|BDAT|BODY|DOT)(?: <?[^<>]{1,330}>?)?: (?:our login or [a-z ]{1,60}: )?([45]\d\d)(?: ([^]*))?$/;
const PARTS: Readonly<Record<string, RepliedPart>> = { MAIL: "mail", RCPT: "rcpt" };

/**
 * Returns the cause, provider and advice of a stored reply, or {} if the text is not a server reply.
 * @param domain of the recipient, used as the provider's name if the wording does not identify one
 */
export function notifyRejection(reply: string, domain: string | null): Record<string, string> {
  const [, phase = "", code, text = ""] = STORED_REPLY.exec(reply) ?? [];
  if (code === undefined) return {};
  const hosts = domain === null || domain === "" ? [] : [domain];
  const { cause, speaker } = classify({
    code: Number(code),
    text,
    part: PARTS[phase] ?? "message",
    recipients: 1,
    hosts,
  });
  return notifyCause(cause, speaker ?? hosts[0] ?? null);
}
