// What is said to the SMTP server for tests, and what it keeps of its sessions.
import type { SecureContext } from "node:tls";
import type { SelfSignedCertificate } from "./self-signed-certificate.ts";

/**
 * When a rule acts. TLS replaces the handshake. BODY is at the first bytes of the message, or of its last chunk. A rejection at BDAT leaves
 * the chunk, which is then read as commands. CHUNK comes after each chunk but the last, NOBODY after a chunk without a recipient, and DOT
 * after the dot or the last chunk.
 */
export type SinkPhase =
  | "CONNECT"
  | "EHLO"
  | "HELO"
  | "STARTTLS"
  | "TLS"
  | "AUTH"
  | "MAIL"
  | "RCPT"
  | "DATA"
  | "BDAT"
  | "CHUNK"
  | "NOBODY"
  | "BODY"
  | "DOT"
  | "RSET"
  | "QUIT";

/**
 * `reply` sends these lines with CRLF instead of the usual reply. The code decides what follows: 2xx and 3xx continue as usual, and 421
 * closes the connection. `bytes` are written unchanged and end the command. `drop` sends FIN, and `reset` sends RST. `silent` stops reading
 * and replying on this connection. `swallow` sends the usual reply and loses the commands that arrived with this one, while `swallow-next`
 * loses only the next one.
 */
export type SinkAction =
  | { reply: string }
  | { bytes: Buffer | string }
  | "drop"
  | "reset"
  | "silent"
  | "swallow"
  | "swallow-next";

/** The first rule that matches acts. */
export interface SinkRule {
  phase: SinkPhase;
  /** RCPT: this recipient matches. DATA, BODY, DOT: one of the accepted recipients does. Without the g flag. */
  recipient?: RegExp;
  /** So many matching occurrences pass untouched first. Default 0. */
  skip?: number;
  /** So many times it acts. Default: always. */
  times?: number;
  /** Waits so long before it acts (or before the usual answer, without `action`). */
  delayMs?: number;
  action?: SinkAction;
  /** DOT: journal the message although it is not answered by 2xx. */
  accept?: boolean;
}

/** A message the sink took. */
export interface SinkMessage {
  /** With angle brackets; empty without the header. */
  messageId: string;
  sender: string;
  /** As given in the RCPTs that were answered by 2xx, in order. */
  recipients: readonly string[];
  /** Without dot-stuffing and final dot. Empty with `keepRaw: false`. */
  raw: Buffer;
  /** Milliseconds since 1970. */
  at: number;
  /** Everything between MAIL's path and the line end. */
  mailParameters: string;
  heloName: string;
  isEncrypted: boolean;
  /** Who logged in on the connection. */
  user: string | undefined;
  /** 1 for the first connection to this sink. */
  connection: number;
}

/** A line a client wrote, `connection` as in the journal. */
export interface SinkCommand {
  connection: number;
  line: string;
  isEncrypted: boolean;
}

export interface SmtpSinkOptions {
  /** Default: PIPELINING, 8BITMIME and SMTPUTF8 only. */
  advertise?: {
    pipelining?: boolean;
    /** With `startTls`, only over TLS. Default: not offered. */
    chunking?: boolean;
    startTls?: boolean;
    /** SASL mechanisms out of PLAIN and LOGIN; offered in clear as well, what a client must not take up. */
    auth?: readonly string[];
    eightBitMime?: boolean;
    smtpUtf8?: boolean;
    /** SIZE, and the limit it announces. */
    sizeBytes?: number;
  };
  /** TLS from the first byte. */
  secure?: boolean;
  /** Default: made at start, for localhost and 127.0.0.1. */
  certificate?: SelfSignedCertificate;
  /** MAIL then needs a login with these. Without: any login is good, none is needed. */
  credentials?: { user: string; password: string };
  rules?: readonly SinkRule[];
  /** `false` for benchmarks: the bytes are counted and thrown away. Default true. */
  keepRaw?: boolean;
  /** How many command lines `commands` keeps, the first ones. Default 1,000. */
  keepCommands?: number;
  /** Default 127.0.0.1. */
  host?: string;
  /** Default: any free one. */
  port?: number;
}

/** What a session needs of the sink. */
export interface SinkContext {
  options: SmtpSinkOptions;
  secureContext: SecureContext;
  /** The rule that acts now, counted as acting. */
  matchRule(phase: SinkPhase, recipients: readonly string[]): SinkRule | undefined;
  noteCommand(command: SinkCommand): void;
  noteBodyBytes(count: number): void;
  accept(message: SinkMessage): void;
  /** Something happened that a waiting test may have waited for. */
  changed(): void;
}
