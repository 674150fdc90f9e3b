// How long each phase of an SMTP dialogue may take before the other side counts as gone.
// Used by every other smtp-*.ts file; the values are RFC 5321 §4.5.3.2's minima where it names one.

/** Milliseconds. Each bounds one whole answer, so a server that drips one byte a second is bounded as well. */
export interface SmtpTimeouts {
  /** Name look-up and TCP connection. */
  connectMs: number;
  /** The server's first line. */
  greetingMs: number;
  /** EHLO and HELO. */
  helloMs: number;
  /** STARTTLS' answer, and the TLS handshake. */
  tlsMs: number;
  /** Each step of AUTH. */
  authMs: number;
  mailMs: number;
  /** Of commands sent as one group, each answer after the first; then the server may have lost them. */
  pipelineMs: number;
  /** Each RCPT. */
  recipientMs: number;
  /** DATA, up to the 354. */
  dataMs: number;
  /** Each block of the message, until the system took it. */
  dataBlockMs: number;
  /** The answer to the final dot. Shorter than the RFC's value means more uncertain outcomes (RFC 1047). */
  finalDotMs: number;
  resetMs: number;
  quitMs: number;
  /** A connection without work is closed after this long. */
  idleMs: number;
  /** What `close` grants messages in flight. With `quitMs` it stays below the 20 s a process has to end. */
  closeMs: number;
}

export const DEFAULT_SMTP_TIMEOUTS: SmtpTimeouts = {
  connectMs: 30_000,
  greetingMs: 30_000,
  helloMs: 30_000,
  tlsMs: 30_000,
  authMs: 60_000,
  mailMs: 300_000,
  pipelineMs: 30_000,
  recipientMs: 300_000,
  dataMs: 120_000,
  dataBlockMs: 180_000,
  finalDotMs: 600_000,
  resetMs: 30_000,
  quitMs: 5_000,
  idleMs: 30_000,
  closeMs: 12_000,
};
