// Receives mail for our own domains over SMTP, which is returned mail and mail to projects. It relays nothing and offers no authentication.
import { createHash } from "node:crypto";
import type { AddressInfo } from "node:net";
import { SMTPServer, type SMTPServerDataStream, type SMTPServerSession } from "smtp-server";
import { domainOf, localPartOf } from "@postloft/contract/address.ts";
import { LIMITS } from "@postloft/contract/limits/limits.ts";
import { limitConnection, type ConnectionLimits } from "./deliveries/limit-smtp-connection.ts";
import type { Log } from "./platform/log.ts";
import type { RateLimiter } from "./platform/http/rate-limit.ts";
import { createSlots, type SlotLimits } from "./deliveries/smtp-slots.ts";
import { networkOf } from "./platform/http/visitor-network.ts";
import {
  domainReportBytesTakes,
  domainReportTakes,
  isWithinRates,
  operatorBytesTakes,
  reportBytesTakes,
  reportTakes,
  writtenTakes,
} from "./deliveries/smtp-rates.ts";
import { isReportName } from "./domains/reports/domain-reports.ts";
import { isInboundName } from "./projects/projects.ts";
import type { NoticeStore } from "./deliveries/notices.ts";
import { isReturnPath, type ReturnPaths } from "./deliveries/return-path.ts";
import { isOperatorName } from "./deliveries/returned-message.ts";

export interface SmtpDependencies {
  notices: NoticeStore;
  rateLimiter: RateLimiter;
  returnPaths: ReturnPaths;
  /** Null if returned mail is not received here. */
  bounceDomain: string | null;
  inboundDomain: string | null;
  /** The address that gets messages to postmaster@ and abuse@, or null to only keep them. */
  operator: string | null;
  host: string;
  port: number;
  name: string;
  connectionLimits?: ConnectionLimits;
  slotLimits?: SlotLimits;
  log: Log;
}

export interface SmtpEndpoint {
  readonly port: number;
  /** The accepted mail and the address, as lines for the instance admin. */
  readonly description: readonly string[];
  stop(): Promise<void>;
}

/** Accepts complaints that prove which email they are about; the secret address accepts them without proof. */
const FEEDBACK_NAME = "fbl";
const POSTMASTER = "postmaster";
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
/** The rest of a message is read and discarded, because reports and text from people are at the beginning. */
const KEPT_BYTES = 512 * 1024;
/** Many servers return the whole email, along with the report and headers added on the way. */
const MOST_BYTES = LIMITS.messageBytes.value + 1024 * 1024;

class SmtpRejection extends Error {
  readonly responseCode: number;
  constructor(responseCode: number, text: string) {
    super(text);
    this.responseCode = responseCode;
  }
}

const NOT_OURS = new SmtpRejection(550, "5.7.1 This server accepts no mail for that address");
const TOO_MANY_RECIPIENTS = new SmtpRejection(
  452,
  "4.5.3 Too many recipients, send the rest in a separate message",
);
const TOO_MANY_CONNECTIONS = new SmtpRejection(421, "4.7.0 Too many connections from your address");
const NO_SLOT = new SmtpRejection(421, "4.3.2 Too many connections, try again in a moment");
const TOO_MANY_MESSAGES = new SmtpRejection(
  450,
  "4.7.1 Too many messages to that address for now, try again later",
);
const TOO_MUCH = new SmtpRejection(450, "4.7.1 Too much mail from your network for now, try again later");
const NO_ROOM = new SmtpRejection(450, "4.3.1 Too many messages are waiting here, try again later");
const TOO_LARGE = new SmtpRejection(552, "5.3.4 The message is too large");
const REFUSED_SLOTS = { taken: null, "network-full": TOO_MANY_CONNECTIONS, full: NO_SLOT };
const NOT_NOW = new SmtpRejection(451, "4.3.0 The message could not be stored, try again later");

/** Listens until it is stopped. Port and address are those to which port 25 is forwarded. */
export async function startSmtp(deps: SmtpDependencies): Promise<SmtpEndpoint> {
  const slots = createSlots(deps.slotLimits ?? SLOT_LIMITS);
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
    onRcptTo({ address }, session, done) {
      void replyRecipient(address, session, deps, done);
    },
    onData(stream, session, done) {
      void replyMessage(stream, session, deps, done);
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
    stop: () => new Promise((resolve) => server.close(() => resolve())),
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

/** The kinds of recipients at our domains. */
type Kind = "report" | "domain-report" | "project" | "operator";

/**
 * Classifies an address by its form alone, so that the reply reveals neither real return paths nor existing projects. Returns null for
 * other addresses.
 */
function kindOf(
  address: string,
  { bounceDomain, inboundDomain, returnPaths }: SmtpDependencies,
): Kind | null {
  if (address.toLowerCase() === POSTMASTER) return "operator";
  const domain = domainOf(address).toLowerCase();
  const local = localPartOf(address).toLowerCase();
  if (domain !== bounceDomain && domain !== inboundDomain) return null;
  if (isOperatorName(local)) return "operator";
  if (domain === inboundDomain && isReportName(local)) return "domain-report";
  const isFeedback = local === FEEDBACK_NAME || local === returnPaths.feedbackName;
  if (domain === bounceDomain && (isReturnPath(local) || isFeedback)) return "report";
  return domain === inboundDomain && isInboundName(local) ? "project" : null;
}

async function replyRecipient(
  address: string,
  { envelope, remoteAddress }: SMTPServerSession,
  deps: SmtpDependencies,
  done: (error: Error | null) => void,
): Promise<void> {
  const kind = kindOf(address, deps);
  if (kind === null) return done(NOT_OURS);
  if (envelope.rcptTo.length >= MAX_RECIPIENTS) return done(TOO_MANY_RECIPIENTS);
  if (kind !== "report" && announcedBytes(envelope) > mostBytes(envelope, deps)) return done(TOO_LARGE);
  let isWithin: boolean;
  try {
    if (!(await deps.notices.hasRoom())) return done(NO_ROOM);
    isWithin = await isWithinRates(
      deps.rateLimiter,
      takesOf(kind, address, { envelope, remoteAddress }, deps),
    );
  } catch (error) {
    deps.log.warn({ err: error }, "failed to count an incoming message");
    return done(NOT_NOW);
  }
  done(isWithin ? null : TOO_MANY_MESSAGES);
}

type Session = Pick<SMTPServerSession, "envelope" | "remoteAddress">;

function takesOf(kind: Kind, address: string, { envelope, remoteAddress }: Session, deps: SmtpDependencies) {
  switch (kind) {
    case "report":
      return reportTakes(address, remoteAddress, deps.returnPaths);
    case "domain-report":
      return domainReportTakes(senderOf(envelope), remoteAddress);
    default:
      return writtenTakes(kind, address, senderOf(envelope));
  }
}

/** Allows the size of an email plus its report, because a rejected bounce would come back to no one and the address would stay. */
function mostBytes({ rcptTo }: SMTPServerSession["envelope"], deps: SmtpDependencies): number {
  const hasReport = rcptTo.some(({ address }) => kindOf(address, deps) === "report");
  return hasReport ? MOST_BYTES : LIMITS.inboundBytes.value;
}

/** Returns the SIZE parameter (RFC 1870), or 0 if it is missing. */
function announcedBytes({ mailFrom }: SMTPServerSession["envelope"]): number {
  const args = mailFrom === false ? false : mailFrom.args;
  return args === false ? 0 : Number(args.SIZE ?? 0);
}

/** Returns the envelope sender, '' for the empty reverse-path. */
function senderOf({ mailFrom }: SMTPServerSession["envelope"]): string {
  return mailFrom === false ? "" : mailFrom.address;
}

async function replyMessage(
  stream: SMTPServerDataStream,
  session: SMTPServerSession,
  deps: SmtpDependencies,
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

/** Resolves when the message is stored for each valid recipient. */
async function takeMessage(
  stream: SMTPServerDataStream,
  { envelope, remoteAddress }: SMTPServerSession,
  deps: SmtpDependencies,
): Promise<void> {
  const { notices, rateLimiter, returnPaths } = deps;
  const hash = createHash("sha256");
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of stream as AsyncIterable<Buffer>) {
    if (size < KEPT_BYTES) chunks.push(chunk.subarray(0, KEPT_BYTES - size));
    size += chunk.length;
    hash.update(chunk);
  }
  if (size > mostBytes(envelope, deps)) throw TOO_LARGE;
  const raw = Buffer.concat(chunks);
  const sender = senderOf(envelope);
  const fingerprint = messageIdIn(raw) ?? hash.digest("base64url");
  const recipients = new Set(envelope.rcptTo.map(({ address }) => address.toLowerCase()));
  const bytesOf = (kind: Kind) =>
    [...recipients].filter((recipient) => kindOf(recipient, deps) === kind).length * raw.length;
  const takes = [
    ...reportBytesTakes(remoteAddress, bytesOf("report")),
    ...domainReportBytesTakes(remoteAddress, bytesOf("domain-report")),
    ...operatorBytesTakes(remoteAddress, bytesOf("operator")),
  ].filter(({ amount }) => amount !== 0);
  if (!(await isWithinRates(rateLimiter, takes))) throw TOO_MUCH;
  for (const recipient of recipients) {
    const local = localPartOf(recipient);
    if (isReturnPath(local) && returnPaths.read(local) === null) continue;
    const providerId = createHash("sha256").update(`${recipient}\n${fingerprint}`).digest("base64url");
    await notices.store({ source: "smtp", providerId, raw, sender, recipient, toldAt: null });
  }
}

const MAX_HEADER_BYTES = 64 * 1024;

/** Returns the Message-ID. A server that missed our reply sends the same report again, changed only in headers added on the way. */
function messageIdIn(raw: Buffer): string | null {
  const head = raw.subarray(0, MAX_HEADER_BYTES).toString("latin1");
  const end = head.search(/\r?\n\r?\n/);
  const [, id] =
    /^message-id:[ \t]*(?:\r?\n[ \t]+)?(<[^<>\r\n]{1,900}>)/im.exec(
      head.slice(0, end === -1 ? undefined : end),
    ) ?? [];
  return id ?? null;
}
