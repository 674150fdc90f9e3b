// Parses SMTP replies strictly and within limits, and formats replies as one printable line.

/** One reply (RFC 5321 §4.2): its code, and the text of each line as latin1 without code and line end. */
export interface SmtpReply {
  code: number;
  lines: readonly string[];
}

/** Reason why a dialogue ended: connection closed, no reply in time, invalid reply, or a step the server rejected. */
export type SmtpFailureKind = "closed" | "silent" | "malformed" | "refused";

/** Thrown when the dialogue cannot continue. The text is one printable line for the email's timeline. */
export class SmtpFailure extends Error {
  readonly kind: SmtpFailureKind;
  /** The server's reply, if it rejected a step. */
  readonly reply: SmtpReply | undefined;

  constructor(kind: SmtpFailureKind, reason: string, reply?: SmtpReply) {
    super(toPrintableLine(reason));
    this.name = "SmtpFailure";
    this.kind = kind;
    this.reply = reply;
  }
}

export interface ReplyReader {
  /**
   * Reads bytes as they arrive and calls `onReply` for each complete reply.
   * @throws SmtpFailure for an invalid reply
   */
  read(chunk: Buffer, onReply: (reply: SmtpReply) => void): void;
  /** Returns whether a reply is incomplete. */
  isWithinReply(): boolean;
}

/** RFC 5321 §4.5.3.1.5 says 512, but some servers send long explanations. */
const MAX_LINE_BYTES = 4096;
const MAX_REPLY_LINES = 100;
export const MAX_REPLY_LENGTH = 500;

/** RFC 5321 §4.2: three digits, then a space or hyphen and text. No control octets except TAB; other bytes are filtered for display. */
const REPLY_LINE = /^([2-5]\d\d)(?:([ -])([\t\x20-\x7e\x80-\xff]*))?$/;
const NOT_PRINTABLE = /[^\p{L}\p{M}\p{N}\p{P}\p{S} ]+/gu;

/** Creates a reader for one connection. A new one is needed after the switch to TLS. Buffers at most 400 KB. */
export function createReplyReader(): ReplyReader {
  let partial = "";
  let lines: string[] = [];
  let replyCode = "";

  function readLine(line: string, onReply: (reply: SmtpReply) => void): void {
    const [, code, separator, text = ""] = REPLY_LINE.exec(line) ?? [];
    if (code === undefined) throw new SmtpFailure("malformed", `not an SMTP reply: ${line.slice(0, 80)}`);
    if (lines.length > 0 && code !== replyCode)
      throw new SmtpFailure("malformed", `the reply code changed from ${replyCode} to ${code}`);
    if (lines.length >= MAX_REPLY_LINES)
      throw new SmtpFailure("malformed", `a reply with more than ${MAX_REPLY_LINES} lines`);
    replyCode = code;
    lines.push(text);
    if (separator === "-") return;
    const reply = { code: Number(code), lines };
    lines = [];
    onReply(reply);
  }

  return {
    read(chunk, onReply) {
      const text = partial + chunk.toString("latin1");
      partial = "";
      let start = 0;
      for (let end = text.indexOf("\n"); end !== -1; end = text.indexOf("\n", start)) {
        if (end - start > MAX_LINE_BYTES) break;
        readLine(text.slice(start, text[end - 1] === "\r" && end > start ? end - 1 : end), onReply);
        start = end + 1;
      }
      partial = text.slice(start);
      if (partial.length <= MAX_LINE_BYTES) return;
      partial = "";
      throw new SmtpFailure("malformed", `a reply line with more than ${MAX_LINE_BYTES} bytes`);
    },
    isWithinReply: () => partial !== "" || lines.length > 0,
  };
}

/** Returns one line of at most 500 printable characters for any input. */
export function toPrintableLine(text: string): string {
  return text.replace(NOT_PRINTABLE, " ").trim().slice(0, MAX_REPLY_LENGTH).toWellFormed();
}

/** Returns the text of a reply, decoded as UTF-8 if valid (RFC 6531 §3.7.4.2), else as Latin-1. */
export function wordsOf({ lines }: SmtpReply): string {
  const asIs = lines.join(" ");
  const text = Buffer.from(asIs, "latin1").toString("utf8");
  return text.includes("\ufffd") ? asIs : text;
}

/** Returns the reply as one line, such as `550 5.1.1 no such user`. Decodes UTF-8 (RFC 6531 §3.7.4.2). */
export function describeReply(reply: SmtpReply): string {
  const text = Buffer.from(reply.lines.join(" "), "latin1").toString("utf8");
  return toPrintableLine(`${reply.code} ${text}`);
}
