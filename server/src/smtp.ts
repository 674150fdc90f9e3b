// The SMTP door: takes mail for our own domains, which is what comes back and what people write in. Relays nothing, knows no login.
// Before it: main.ts built the parts; other mail servers connect. After it: deliveries/notices.ts keeps each message once.
import { createHash } from "node:crypto";
import type { AddressInfo } from "node:net";
import { SMTPServer, type SMTPServerDataStream, type SMTPServerSession } from "smtp-server";
import { domainOf } from "@postloft/contract/address.ts";
import { LIMITS } from "@postloft/contract/limits.ts";
import { isId } from "./platform/ids.ts";
import type { Log } from "./platform/log.ts";
import type { NoticeStore } from "./deliveries/notices.ts";
import { isReturnPath, type ReturnPaths } from "./deliveries/return-path.ts";
import { localPartOf } from "./deliveries/returned-message.ts";

export interface SmtpParts {
  notices: NoticeStore;
  returnPaths: ReturnPaths;
  /** null: nothing is taken there. */
  bounceDomain: string | null;
  inboundDomain: string | null;
  host: string;
  /** 0 takes a free one. */
  port: number;
  /** What the greeting says: the name of this machine. */
  name: string;
  log: Log;
}

export interface SmtpDoor {
  readonly port: number;
  /** Takes no new connections; those that are open may end what they began, for a while. */
  stop(): Promise<void>;
}

/** Where the feedback loops of mailbox providers send complaints. */
const FEEDBACK_ADDRESS = "fbl";
const MAX_CONNECTIONS = 100;
const MAX_CONNECTIONS_AN_ADDRESS = 10;
const MAX_RECIPIENTS = 10;
/** Whoever says nothing for so long is let go. */
const IDLE_MS = 60_000;
const CLOSE_MS = 5_000;
/** The rest of a message is taken and thrown away: reports and what a person wrote stand at the beginning. */
const KEPT_BYTES = 512 * 1024;

class SmtpRefusal extends Error {
  readonly responseCode: number;
  constructor(responseCode: number, text: string) {
    super(text);
    this.responseCode = responseCode;
  }
}

const NOT_OURS = new SmtpRefusal(550, "5.7.1 This server takes no mail for that address");
const TOO_MANY_RECIPIENTS = new SmtpRefusal(
  452,
  "4.5.3 Too many recipients, send the others a message of their own",
);
const TOO_MANY_CONNECTIONS = new SmtpRefusal(421, "4.7.0 Too many connections from your address");
const TOO_LARGE = new SmtpRefusal(552, "5.3.4 The message is too large");
const NOT_NOW = new SmtpRefusal(451, "4.3.0 The message could not be kept, try again later");

/** Listens until it is stopped. Port and address belong to whoever forwards port 25 here. */
export async function startSmtp(parts: SmtpParts): Promise<SmtpDoor> {
  const byAddress = new Map<string, number>();
  const server = new SMTPServer({
    name: parts.name,
    banner: "Postloft",
    size: LIMITS.inboundBytes.value,
    maxClients: MAX_CONNECTIONS,
    socketTimeout: IDLE_MS,
    closeTimeout: CLOSE_MS,
    disabledCommands: ["AUTH", "STARTTLS"],
    authOptional: true,
    disableReverseLookup: true,
    logger: false,
    onConnect({ remoteAddress }, done) {
      const open = (byAddress.get(remoteAddress) ?? 0) + 1;
      byAddress.set(remoteAddress, open);
      done(open > MAX_CONNECTIONS_AN_ADDRESS ? TOO_MANY_CONNECTIONS : null);
    },
    onClose({ remoteAddress }) {
      const left = (byAddress.get(remoteAddress) ?? 1) - 1;
      if (left > 0) byAddress.set(remoteAddress, left);
      else byAddress.delete(remoteAddress);
    },
    onRcptTo({ address }, session, done) {
      if (!isOurs(address, parts)) done(NOT_OURS);
      else if (session.envelope.rcptTo.length >= MAX_RECIPIENTS) done(TOO_MANY_RECIPIENTS);
      else done();
    },
    onData(stream, session, done) {
      void answerMessage(stream, session, parts, done);
    },
  });
  // What a single connection does wrong is told to it; without a listener it would end the process.
  server.on("error", (error) => parts.log.debug({ err: error }, "a connection to the SMTP door failed"));
  await new Promise<void>((resolve, reject) => {
    server.server.once("error", reject);
    server.listen(parts.port, parts.host, () => {
      server.server.off("error", reject);
      resolve();
    });
  });
  return {
    port: (server.server.address() as AddressInfo).port,
    stop: () => new Promise((resolve) => server.close(() => resolve())),
  };
}

/** By its form alone: whether a return path was made here, and whether a project exists, is told to nobody. */
function isOurs(address: string, { bounceDomain, inboundDomain }: SmtpParts): boolean {
  const domain = domainOf(address).toLowerCase();
  const local = localPartOf(address).toLowerCase();
  if (domain === bounceDomain && (isReturnPath(local) || local === FEEDBACK_ADDRESS)) return true;
  return domain === inboundDomain && isId(local);
}

async function answerMessage(
  stream: SMTPServerDataStream,
  session: SMTPServerSession,
  parts: SmtpParts,
  done: (error: Error | null, text?: string) => void,
): Promise<void> {
  try {
    await takeMessage(stream, session, parts);
  } catch (error) {
    const isRefused = error instanceof SmtpRefusal;
    if (!isRefused) parts.log.warn({ err: error }, "an incoming message could not be kept");
    done(isRefused ? error : NOT_NOW);
    return;
  }
  done(null, "2.0.0 Kept");
}

/** Resolves when the message is kept for each recipient that is one. */
async function takeMessage(
  stream: SMTPServerDataStream,
  { envelope }: SMTPServerSession,
  { notices, returnPaths }: SmtpParts,
): Promise<void> {
  const hash = createHash("sha256");
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of stream as AsyncIterable<Buffer>) {
    if (size < KEPT_BYTES) chunks.push(chunk.subarray(0, KEPT_BYTES - size));
    size += chunk.length;
    hash.update(chunk);
  }
  if (stream.sizeExceeded) throw TOO_LARGE;
  const raw = Buffer.concat(chunks);
  const sender = envelope.mailFrom === false ? "" : envelope.mailFrom.address;
  const fingerprint = messageIdIn(raw) ?? hash.digest("base64url");
  const recipients = new Set(envelope.rcptTo.map(({ address }) => address.toLowerCase()));
  for (const recipient of recipients) {
    const local = localPartOf(recipient);
    // A return path that nobody made here: taken like any other, and dropped.
    if (isReturnPath(local) && returnPaths.read(local) === null) continue;
    const providerId = createHash("sha256").update(`${recipient}\n${fingerprint}`).digest("base64url");
    await notices.store({ source: "smtp", providerId, raw, sender, recipient, toldAt: null });
  }
}

const MAX_HEADER_BYTES = 64 * 1024;

/** The same report is sent again when our answer did not arrive; then only what servers on the way added differs. */
function messageIdIn(raw: Buffer): string | null {
  const head = raw.subarray(0, MAX_HEADER_BYTES).toString("latin1");
  const end = head.search(/\r?\n\r?\n/);
  const [, id] =
    /^message-id:[ \t]*(?:\r?\n[ \t]+)?(<[^<>\r\n]{1,900}>)/im.exec(
      head.slice(0, end === -1 ? undefined : end),
    ) ?? [];
  return id ?? null;
}
