// The SMTP reply that a report quotes, and the step of the dialogue it was given to. Pure; every pattern is linear.
// Before it: delivery-status.ts and bounce-text.ts have a text. After it: transports/answers/answers.ts knows what the reply means.
import type { AnsweredPart } from "../transports/answers/answers.ts";

/** Codes that SMTP knows (RFC 5321, 4954, 7504) and a few that servers made up. */
const REPLY =
  /(?:^|[\s:;"'(<>[=,])([45][0-57]\d)(?:[ :-]{1,2}[45][0-57]\d)?(?=[\s:;,.'"-]|$)(?:[\s-]{0,3}|: ?|, ?error_code ?:)(#?[45]\.\d{1,3}\.\d{1,3}(?![\d.]))?/gi;
const ENHANCED = /(?:^|[\s:;("'#<[])([45]\.\d{1,3}\.\d{1,3})(?![\d.]\d|\.?\d)/;
const MAX_REPLIES = 50;

export interface ToldReply {
  code: number | null;
  enhanced: string | null;
  /** What stands behind the codes. */
  words: string;
}

/** The reply that a text quotes: the first with both codes, else the first. */
export function findReply(text: string): ToldReply {
  let found: RegExpExecArray | null = null;
  let count = 0;
  for (const match of text.matchAll(REPLY)) {
    found ??= match;
    if (match[2] !== undefined) {
      found = match;
      break;
    }
    if (++count >= MAX_REPLIES) break;
  }
  const enhanced = found?.[2] ?? ENHANCED.exec(text)?.[1] ?? null;
  const before = found === null ? "" : text.slice(0, found.index);
  const after = found === null ? text : text.slice(found.index + found[0].length);
  // In a diagnostic the words before the reply are of the server that tells.
  return { code: found === null ? null : Number(found[1]), enhanced, words: `${after} ${before}` };
}

const PARTS: ReadonlyArray<readonly [AnsweredPart, RegExp]> = [
  [
    "mail",
    /in reply to mail from|after (?:pipelined )?mail from|sender was rejected|>>> mail from|\[mail_from\]|did not like our mail from|mail from command|smtp:mail host/i,
  ],
  [
    "rcpt",
    /in reply to rcpt to|after (?:pipelined )?rcpt to|does not like recipient|>>> rcpt to|\[rcpt_to\]|did not like our rcpt to|rcpt (?:to )?command|recipients? address rejected|smtp:rcpt host/i,
  ],
  [
    "message",
    /in reply to (?:end of )?data|after (?:end of )?data|end of data|failed after i sent the message|failed on data|>>> (?:data|\.)|\[data\]|did not like our (?:final )?data|(?:text|data) command|refused to accept your message \(data\)/i,
  ],
];

/** The step that a server answered, as reports quote it; of a transcript the one before the first refusal. */
export function partOf(text: string): AnsweredPart {
  const transcript = /^[ \t]{0,3}<<< [45]\d\d/m.exec(text);
  const said = transcript === null ? text : text.slice(0, transcript.index);
  let best: { part: AnsweredPart; at: number } = { part: "unknown", at: -1 };
  for (const [part, pattern] of PARTS) {
    const at = said.search(pattern);
    // With a transcript the last command before the answer, else what is named first.
    const isBetter = at >= 0 && (best.at < 0 || (transcript === null ? at < best.at : at > best.at));
    if (isBetter) best = { part, at };
  }
  return best.part;
}
