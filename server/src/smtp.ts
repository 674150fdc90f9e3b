// Receives mail for our own domains over SMTP, which is returned mail and mail to projects. It relays nothing and offers no authentication.
import type { AddressInfo } from "node:net";
import {
  SMTPServer,
  type SMTPServerAddress,
  type SMTPServerDataStream,
  type SMTPServerSession,
} from "smtp-server";
import { limitConnection, type ConnectionLimits } from "./deliveries/limit-smtp-connection.ts";
import type { Log } from "./platform/log.ts";
import type { RateLimiter } from "./platform/http/rate-limit.ts";
import { createSlots, type SlotLimits } from "./deliveries/smtp-slots.ts";
import { networkOf } from "./platform/http/visitor-network.ts";
import { domainReportTakes, isWithinRates, reportTakes, writtenTakes } from "./deliveries/smtp-rates.ts";
import type { NoticeStore } from "./deliveries/notices.ts";
import type { Dns } from "./platform/dns.ts";
import { createIncomingMemory } from "./deliveries/read-incoming.ts";
import { createSenderChecker } from "./deliveries/sender-checks/check-sender.ts";
import {
  acceptRecipient,
  findRecipient,
  type ReceivingDomains,
  type Recipient,
} from "./deliveries/smtp-recipients.ts";
import {
  LOST_DOMAIN,
  NO_ROOM,
  NOT_NOW,
  NOT_OURS,
  REFUSED_SLOTS,
  SmtpRejection,
  TOO_LARGE,
  TOO_MANY_MESSAGES,
  TOO_MANY_RECIPIENTS,
} from "./deliveries/smtp-rejections.ts";
import { MOST_BYTES, mostBytes, senderOf, takeMessage, type Receiver } from "./deliveries/take-message.ts";

export interface SmtpDependencies extends ReceivingDomains {
  notices: NoticeStore;
  rateLimiter: RateLimiter;
  /** For the checks of senders. */
  dns: Dns;
  /** The address that gets messages to postmaster@ and abuse@, or null to only keep them. */
  operator: string | null;
  host: string;
  port: number;
  name: string;
  connectionLimits?: ConnectionLimits;
  slotLimits?: SlotLimits;
  /** Bytes of messages to projects that may be in memory. */
  memoryBytes?: number;
  log: Log;
}

export interface SmtpEndpoint {
  readonly port: number;
  /** The accepted mail and the address, as lines for the instance admin. */
  readonly description: readonly string[];
  stop(): Promise<void>;
}

const SLOT_LIMITS: SlotLimits = { most: 100, mostOfNetwork: 10, quietMs: 5_000 };
/** Includes connections that are not greeted yet, which make no other connection give way. */
const MAX_CONNECTIONS = 150;
const MAX_RECIPIENTS = 10;
const IDLE_MS = 60_000;
const CLOSE_MS = 5_000;
/**
 * An honest server on a bad line sends 10 MB in this time, on a normal line the largest report. A client with more to send connects again.
 */
const CONNECTION_LIMITS: ConnectionLimits = { messageMs: 300_000, sessionMs: 900_000 };
/** Six of the largest messages to projects at a time. Others get a temporary error. */
const MEMORY_BYTES = 64 * 1024 * 1024;

/** Listens until it is stopped. Port and address are those to which port 25 is forwarded. */
export async function startSmtp(deps: SmtpDependencies): Promise<SmtpEndpoint> {
  const slots = createSlots(deps.slotLimits ?? SLOT_LIMITS);
  const checker = createSenderChecker(deps);
  const receiver = { ...deps, checker, memory: createIncomingMemory(deps.memoryBytes ?? MEMORY_BYTES) };
  const server = new SMTPServer({
    name: deps.name,
    banner: "Postloft",
    size: MOST_BYTES,
    maxClients: MAX_CONNECTIONS,
    socketTimeout: IDLE_MS,
    closeTimeout: CLOSE_MS,
    disabledCommands: ["AUTH", "STARTTLS"],
    authOptional: true,
    disableReverseLookup: true,
    logger: false,
    onConnect({ id, remoteAddress }, done) {
      const connection = [...server.connections].find((one) => one.id === id);
      if (connection === undefined) return done();
      const limited = limitConnection(connection, deps.connectionLimits ?? CONNECTION_LIMITS);
      const slot = slots.take(id, networkOf(remoteAddress), limited);
      done(REFUSED_SLOTS[slot]);
    },
    onClose({ id }) {
      slots.leave(id);
    },
    onRcptTo(address, session, done) {
      void replyRecipient(address, session, deps, done);
    },
    onData(stream, session, done) {
      void replyMessage(stream, session, receiver, done);
    },
  });
  // Each client is sent its own errors; without a listener an error would end the process.
  server.on("error", (error) => deps.log.debug({ err: error }, "SMTP connection failed"));
  await new Promise<void>((resolve, reject) => {
    server.server.once("error", reject);
    server.listen(deps.port, deps.host, () => {
      server.server.off("error", reject);
      resolve();
    });
  });
  const { port } = server.server.address() as AddressInfo;
  return {
    port,
    description: describe(deps, port),
    async stop() {
      await new Promise<void>((resolve) => server.close(() => resolve()));
      await checker.close();
    },
  };
}

function describe(
  { bounceDomain, inboundDomain, operator, returnPaths }: SmtpDependencies,
  port: number,
): string[] {
  const domains = [bounceDomain, inboundDomain].filter((domain) => domain !== null);
  const lines = [
    `Receiving mail for ${domains.join(" and ")} on port ${port}.`,
    operator === null
      ? "  Messages to postmaster@ and abuse@ stay in the table notices for 30 days. Set OPERATOR_EMAIL to receive them."
      : `  Messages to postmaster@ and abuse@ are forwarded to ${operator}.`,
  ];
  if (bounceDomain !== null)
    lines.push(
      `  Complaints go to ${returnPaths.feedbackName}@${bounceDomain}. Use it for feedback loops only and keep it secret.`,
    );
  return lines;
}

async function replyRecipient(
  address: SMTPServerAddress,
  { envelope, remoteAddress }: SMTPServerSession,
  deps: SmtpDependencies,
  done: (error: Error | null) => void,
): Promise<void> {
  let isWithin: boolean;
  try {
    if (envelope.rcptTo.length >= MAX_RECIPIENTS) return done(TOO_MANY_RECIPIENTS);
    const recipient = await findRecipient(address.address, deps);
    if (recipient === null) return done(NOT_OURS);
    if (recipient === "lost") return done(LOST_DOMAIN);
    const isReport = recipient.kind === "report";
    if (!isReport && announcedBytes(envelope) > mostBytes(envelope)) return done(TOO_LARGE);
    if (!(await deps.notices.hasRoom())) return done(NO_ROOM);
    isWithin = await isWithinRates(deps.rateLimiter, takesOf(recipient, { envelope, remoteAddress }, deps));
    acceptRecipient(address, recipient);
  } catch (error) {
    deps.log.warn({ err: error }, "failed to check the recipient of an incoming message");
    return done(NOT_NOW);
  }
  done(isWithin ? null : TOO_MANY_MESSAGES);
}

type Session = Pick<SMTPServerSession, "envelope" | "remoteAddress">;

function takesOf(
  { kind, address, counted }: Recipient,
  { envelope, remoteAddress }: Session,
  deps: SmtpDependencies,
) {
  switch (kind) {
    case "report":
      return reportTakes(address, remoteAddress, deps.returnPaths);
    case "domain-report":
      return domainReportTakes(senderOf(envelope), remoteAddress);
    default:
      return writtenTakes(kind, counted, senderOf(envelope));
  }
}

/** Returns the SIZE parameter (RFC 1870), or 0 if it is missing. */
function announcedBytes({ mailFrom }: SMTPServerSession["envelope"]): number {
  const args = mailFrom === false ? false : mailFrom.args;
  return args === false ? 0 : Number(args.SIZE ?? 0);
}

async function replyMessage(
  stream: SMTPServerDataStream,
  session: SMTPServerSession,
  deps: Receiver & { log: Log },
  done: (error: Error | null, text?: string) => void,
): Promise<void> {
  try {
    await takeMessage(stream, session, deps);
  } catch (error) {
    const isRefused = error instanceof SmtpRejection;
    if (!isRefused) deps.log.warn({ err: error }, "failed to store an incoming message");
    done(isRefused ? error : NOT_NOW);
    return;
  }
  done(null, "2.0.0 Stored");
}
