// What an SMTP server says: bytes into replies, strictly and within bounds, and replies into one printable line.

/** One reply (RFC 5321 §4.2): its code and the text of each of its lines, as latin1, without code and line end. */
export interface SmtpReply {
  code: number;
  lines: readonly string[];
}

/** Why a dialogue ended: connection gone, no answer in time, an answer that is none, or a step the server refused. */
export type SmtpFailureKind = "closed" | "silent" | "malformed" | "refused";

/** The dialogue cannot go on. The text is one printable line and fit for the mail's timeline. */
export class SmtpFailure extends Error {
  readonly kind: SmtpFailureKind;
  /** Of a step that the server refused: its words. */
  readonly reply: SmtpReply | undefined;

  constructor(kind: SmtpFailureKind, reason: string, reply?: SmtpReply) {
    super(toPrintableLine(reason));
    this.name = "SmtpFailure";
    this.kind = kind;
    this.reply = reply;
  }
}

export interface ReplyReader {
  /** Takes bytes as they come; calls `onReply` for each complete reply. Throws `SmtpFailure` for what is no reply. */
  read(chunk: Buffer, onReply: (reply: SmtpReply) => void): void;
  /** Whether a reply has begun and not ended. */
  isWithinReply(): boolean;
}

/** RFC 5321 §4.5.3.1.5 says 512; servers with long explanations exist. */
const MAX_LINE_BYTES = 4096;
const MAX_REPLY_LINES = 100;
export const MAX_ANSWER_LENGTH = 500;

/** RFC 5321 §4.2: three digits, then a space or hyphen and text. No control octets but TAB; other bytes are shown later or not. */
const REPLY_LINE = /^([2-5]\d\d)(?:([ -])([\t\x20-\x7e\x80-\xff]*))?$/;
const NOT_PRINTABLE = /[^\p{L}\p{M}\p{N}\p{P}\p{S} ]+/gu;

/** A reader for one connection; a new one is needed when the connection turns to TLS. Holds at most 400 KB. */
export function createReplyReader(): ReplyReader {
  let partial = "";
  let lines: string[] = [];
  let replyCode = "";

  function readLine(line: string, onReply: (reply: SmtpReply) => void): void {
    const [, code, separator, text = ""] = REPLY_LINE.exec(line) ?? [];
    if (code === undefined) throw new SmtpFailure("malformed", `not an SMTP reply: ${line.slice(0, 80)}`);
    if (lines.length > 0 && code !== replyCode)
      throw new SmtpFailure("malformed", `a reply that changes its code from ${replyCode} to ${code}`);
    if (lines.length >= MAX_REPLY_LINES)
      throw new SmtpFailure("malformed", `a reply of more than ${MAX_REPLY_LINES} lines`);
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
      throw new SmtpFailure("malformed", `a reply line of more than ${MAX_LINE_BYTES} bytes`);
    },
    isWithinReply: () => partial !== "" || lines.length > 0,
  };
}

/** One line of at most 500 printable characters, whatever came over the wire. */
export function toPrintableLine(text: string): string {
  return text.replace(NOT_PRINTABLE, " ").trim().slice(0, MAX_ANSWER_LENGTH).toWellFormed();
}

/** The words of a reply, read as UTF-8 where they are that (RFC 6531 §3.7.4.2), else as Latin-1. */
export function wordsOf({ lines }: SmtpReply): string {
  const asIs = lines.join(" ");
  const text = Buffer.from(asIs, "latin1").toString("utf8");
  return text.includes("\ufffd") ? asIs : text;
}

/** `550 5.1.1 no such user`: the reply as one line. Bytes that are UTF-8 (RFC 6531 §3.7.4.2) are read as such. */
export function describeReply(reply: SmtpReply): string {
  const text = Buffer.from(reply.lines.join(" "), "latin1").toString("utf8");
  return toPrintableLine(`${reply.code} ${text}`);
}
