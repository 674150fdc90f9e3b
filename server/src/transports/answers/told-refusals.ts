// An answer as an attempt keeps it, told again: why, by whom, what to do. Pure.
import { judge, tellCause, type AnsweredPart } from "./answers.ts";

/** `RCPT: 550 5.1.1 no such user`, as smtp-delivery.ts writes it. */
const TOLD =
  /^(MAIL|RCPT|DATA|BODY|DOT)(?: <?[^<>]{1,330}>?)?: (?:our login or [a-z ]{1,60}: )?([45]\d\d)(?: ([^]*))?$/;
const PARTS: Readonly<Record<string, AnsweredPart>> = { MAIL: "mail", RCPT: "rcpt" };

/** {} for what no server said. `domain`: the recipient's, which names who refused where the words do not. */
export function tellRefusal(answer: string, domain: string | null): Record<string, string> {
  const [, phase = "", code, text = ""] = TOLD.exec(answer) ?? [];
  if (code === undefined) return {};
  const hosts = domain === null || domain === "" ? [] : [domain];
  const { cause, speaker } = judge({
    code: Number(code),
    text,
    part: PARTS[phase] ?? "message",
    recipients: 1,
    hosts,
  });
  return tellCause(cause, speaker ?? hosts[0] ?? null);
}
