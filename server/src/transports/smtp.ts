// Submits finished messages to an SMTP server over a connection pool, tracking how far each submission got.
import type { LookupFunction } from "node:net";
import { classify } from "./replies/replies.ts";
import { toEnvelopePaths } from "./smtp-address.ts";
import { toWireBody } from "./smtp-body.ts";
import { deliver, type Means } from "./smtp-delivery.ts";
import type { SmtpMessage } from "./smtp-commands.ts";
import type { Delivery } from "./smtp-outcomes.ts";
import { ENDING, SmtpPool } from "./smtp-pool.ts";
import { SmtpFailure } from "./smtp-replies.ts";
import type { SmtpSession } from "./smtp-session.ts";
import { DEFAULT_SMTP_TIMEOUTS, type SmtpTimeouts } from "./smtp-timeouts.ts";
import { MAX_SMTP_CONNECTIONS, type SmtpServer } from "./smtp-url.ts";
import {
  DEFAULT_CONNECTIONS,
  REWRITTEN_BY_SES,
  type MayLeave,
  type Outcome,
  type OutgoingMessage,
  type Transport,
} from "./transport.ts";

export interface SmtpOptions {
  /** From `parseSmtpUrl`. */
  url: SmtpServer;
  /** The name in EHLO, which resolves to this machine's address, or an address literal (RFC 5321 §4.1.1.1). */
  heloName: string;
  /** Default: the URL's value, else DEFAULT_CONNECTIONS. */
  maxConnections?: number;
  /** Default 100. The connection is replaced afterwards. */
  maxMessagesPerConnection?: number;
  timeouts?: Partial<SmtpTimeouts>;
  /** `ca`: PEM certificates to trust instead of the system's. `rejectUnauthorized` overrides the URL's value. */
  tls?: { rejectUnauthorized?: boolean; ca?: string };
  /** Resolves the host, by default with the operating system. */
  lookup?: LookupFunction;
}

const DEFAULT_MAX_MESSAGES_PER_CONNECTION = 100;
/** Amazon SES rewrites the same fields over SMTP as through its API. */
const SES_HOST = /^email-smtp(?:-fips)?\.[a-z0-9-]{1,63}\.amazonaws\.com(?:\.cn)?\.?$/i;
/** A domain name or an address literal. */
const HELO_NAME = /^(?:[a-z0-9_.-]{1,255}|\[[a-z0-9:.]{1,64}\])$/i;

/**
 * Creates a transport for one SMTP server (RFC 5321), with PIPELINING, CHUNKING, STARTTLS, AUTH and SMTPUTF8 as offered.
 * Every reply becomes an `Outcome`; `send` throws only errors of the pre-send check.
 * A pooled connection found dead before the message left is replaced once, immediately. The same applies if the server lost grouped
 * commands or does not support BDAT, and later messages use single commands or DATA.
 * @throws Error for invalid settings. Connects with the first message.
 */
export function createSmtpTransport(options: SmtpOptions): Transport {
  const timeouts = { ...DEFAULT_SMTP_TIMEOUTS, ...options.timeouts };
  if (!HELO_NAME.test(options.heloName))
    throw new Error("The SMTP HELO name must be a domain name or [address].");
  const pool = new SmtpPool({
    server: options.url,
    heloName: options.heloName,
    timeouts,
    rejectUnauthorized: options.tls?.rejectUnauthorized ?? options.url.rejectUnauthorized ?? true,
    ...(options.tls?.ca === undefined ? {} : { ca: options.tls.ca }),
    ...(options.lookup === undefined ? {} : { lookup: options.lookup }),
    maxConnections: toCount(
      "maxConnections",
      options.maxConnections ?? options.url.connections ?? DEFAULT_CONNECTIONS,
      MAX_SMTP_CONNECTIONS,
    ),
    maxMessagesPerConnection: toCount(
      "maxMessagesPerConnection",
      options.maxMessagesPerConnection ?? DEFAULT_MAX_MESSAGES_PER_CONNECTION,
      Number.MAX_SAFE_INTEGER,
    ),
  });
  return {
    name: "smtp",
    takesReturnPath: options.url.returnPath !== "sender",
    ...(SES_HOST.test(options.url.host) ? { rewrites: REWRITTEN_BY_SES } : {}),
    async send(message, mayLeave) {
      const mail = toSmtpMessage(message);
      if ("refusal" in mail) return { kind: "rejected", answer: mail.refusal };
      if (!(await pool.enter())) return { kind: "deferred", answer: ENDING };
      return sendThrough(pool, mail, mayLeave, timeouts);
    },
    async reach() {
      if (!(await pool.enter())) throw new SmtpFailure("closed", ENDING);
      const session = await pool.open().catch((error: unknown) => {
        pool.leave(undefined, "gone");
        throw error;
      });
      // Kept for the first message.
      pool.leave(session, "ready");
      return {
        serverName: session.serverName,
        tls: session.connection.tlsVersion(),
        login: options.url.user === undefined ? "none" : "accepted",
      };
    },
    close: () => pool.close(),
  };
}

function toSmtpMessage(message: OutgoingMessage): SmtpMessage | { refusal: string } {
  const envelope = toEnvelopePaths(message);
  if ("refusal" in envelope) return envelope;
  const { needsSmtpUtf8, is8Bit = false, raw, attempt } = message;
  let body: ReturnType<typeof toWireBody> | undefined;
  const wireBody = (): ReturnType<typeof toWireBody> => (body ??= toWireBody(raw));
  return { paths: envelope.paths, raw, wireBody, needsSmtpUtf8, is8Bit, attempt };
}

/** Sends a message over a pooled session. The caller has a place in the pool, which this function returns. */
async function sendThrough(
  pool: SmtpPool,
  mail: SmtpMessage,
  mayLeave: MayLeave,
  timeouts: SmtpTimeouts,
): Promise<Outcome> {
  let session: SmtpSession | undefined;
  let state: Delivery["session"] = "gone";
  const send = (over: SmtpSession, means: Means): Promise<Delivery> =>
    deliver(over, mail, mayLeave, timeouts, means);
  try {
    const kept = pool.takeIdle();
    const wire = kept === undefined ? mail.wireBody() : undefined;
    if (wire !== undefined && "refusal" in wire) return { kind: "rejected", answer: wire.refusal };
    session = kept ?? (await pool.open());
    let delivery = await send(session, pool.means());
    if (kept !== undefined && delivery.retry === "fresh-connection") {
      session = await pool.replace(kept);
      delivery = await send(session, pool.means());
    }
    if (delivery.retry === "data") {
      session = await pool.replace(session);
      delivery = await send(session, { ...pool.means(), chunking: false });
      if (isReplied(delivery.outcome)) pool.disableChunking();
    }
    if (delivery.retry === "single-commands") {
      session = await pool.replace(session);
      delivery = await send(session, { pipelining: false, chunking: false });
      if (isReplied(delivery.outcome)) pool.disablePipelining();
    }
    state = delivery.session;
    return delivery.outcome;
  } catch (error) {
    if (!(error instanceof SmtpFailure)) throw error;
    return outcomeOf(error);
  } finally {
    pool.leave(session, state);
  }
}

/** Returns whether the server replied about the message. */
function isReplied(outcome: Outcome): boolean {
  return outcome.kind !== "deferred" || outcome.outage !== true;
}

/** Returns the outcome when no session could be opened. A throttling reply may mean that we opened too many. */
function outcomeOf({ message, reply }: SmtpFailure): Outcome {
  const outage: Outcome = { kind: "deferred", answer: message, outage: true };
  if (reply === undefined || reply.code < 400) return outage;
  const classified = classify({ code: reply.code, text: reply.lines.join(" "), part: "mail", recipients: 1 });
  return classified.meaning === "throttled" ? { ...outage, throttled: true } : outage;
}

function toCount(name: string, value: number, max: number): number {
  if (!Number.isInteger(value) || value < 1 || value > max)
    throw new Error(`The SMTP setting ${name} must be a whole number from 1 to ${max}.`);
  return value;
}
