// Finds the SMTP reply that a report quotes and the step it replied to. Pure; every pattern is linear.
import type { RepliedPart } from "../transports/replies/replies.ts";

/** Codes of SMTP (RFC 5321, 4954, 7504) and a few that servers made up. */
const REPLY =
  /(?:^|[\s:;"'(<>[=,])([45][0-57]\d)(?:[ :-]{1,2}[45][0-57]\d)?(?=[\s:;,.'"-]|$)(?:[\s-]{0,3}|: ?|, ?error_code ?:)(#?[45]\.\d{1,3}\.\d{1,3}(?![\d.]))?/gi;
const ENHANCED = /(?:^|[\s:;("'#<[])([45]\.\d{1,3}\.\d{1,3})(?![\d.]\d|\.?\d)/;
const MAX_REPLIES = 50;
/** Where a reply begins: at the start of a line or after "said:". */
const IN_PLACE = /(?:^|\n)[\s>*"'<]{0,16}$|\bsaid:\s{0,8}["'<]{0,2}$/i;
const MAX_LEAD = 40;
/** Phone numbers, street numbers and prices continue with digits. */
const GOES_ON = /^[\s-]{0,3}\d/;

export interface QuotedReply {
  code: number | null;
  enhanced: string | null;
  /** The text after the codes. */
  words: string;
  /** Both codes appear together, which only servers write. */
  hasBoth: boolean;
  /** The rest of its line with folded lines if the code is where replies begin, otherwise null. */
  inPlace: string | null;
}

/** Returns the first quoted reply with both codes, otherwise the first reply. */
export function findReply(text: string): QuotedReply {
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
  // In a diagnostic the words before the reply come from the reporting server.
  return {
    code: found === null ? null : Number(found[1]),
    enhanced,
    words: `${after} ${before}`,
    hasBoth: found?.[2] !== undefined,
    inPlace:
      found !== null && isInPlace(found[0], before, after)
        ? (after.split(/\n(?![ \t]{2})/, 1)[0] ?? "")
        : null,
  };
}

function isInPlace(match: string, before: string, after: string): boolean {
  const lead = `${before}${/^[^45]?/.exec(match)?.[0] ?? ""}`.slice(-MAX_LEAD);
  return IN_PLACE.test(lead) && !GOES_ON.test(after);
}

const PARTS: ReadonlyArray<readonly [RepliedPart, RegExp]> = [
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

/** Returns the SMTP step that the server replied to. In a transcript this is the last step before the first error. */
export function partOf(text: string): RepliedPart {
  const transcript = /^[ \t]{0,3}<<< [45]\d\d/m.exec(text);
  const said = transcript === null ? text : text.slice(0, transcript.index);
  let best: { part: RepliedPart; at: number } = { part: "unknown", at: -1 };
  for (const [part, pattern] of PARTS) {
    const at = said.search(pattern);
    // In a transcript prefer the last command before the reply, otherwise the first one named.
    const isBetter = at >= 0 && (best.at < 0 || (transcript === null ? at < best.at : at > best.at));
    if (isBetter) best = { part, at };
  }
  return best.part;
}
