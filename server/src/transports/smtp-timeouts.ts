// Timeouts of each phase of an SMTP dialogue, with the minimum values of RFC 5321 §4.5.3.2 where it names one.

/** All values in milliseconds. Each limits one complete reply, so a server that sends one byte a second is also limited. */
export interface SmtpTimeouts {
  /** DNS lookup and TCP connection. */
  connectMs: number;
  /** The greeting. */
  greetingMs: number;
  helloMs: number;
  /** The reply to STARTTLS, and the TLS handshake. */
  tlsMs: number;
  /** Each step of AUTH. */
  authMs: number;
  mailMs: number;
  /** Each reply after the first to a group of commands. After this time the server may have lost them. */
  pipelineMs: number;
  recipientMs: number;
  /** From DATA to 354. */
  dataMs: number;
  /** Each block of the message, until the operating system accepted it. */
  dataBlockMs: number;
  /** The reply to the final dot. A shorter time than the RFC's causes more uncertain outcomes (RFC 1047). */
  finalDotMs: number;
  resetMs: number;
  quitMs: number;
  /** Idle connections are closed after this time. */
  idleMs: number;
  /** A connection idle for longer may have died unnoticed, so it does not send a whole message before the first reply. */
  atOnceMs: number;
  /** Time `close` allows for messages in flight. With `quitMs` it stays below the 20 s a process has to shut down. */
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
  atOnceMs: 1_000,
  closeMs: 12_000,
};
