// Accepts email of other programs over SMTP (RFC 6409). Each recipient becomes an email like those of POST /v1/send.
import type { AddressInfo } from "node:net";
import { SMTPServer, type SMTPServerDataStream, type SMTPServerSession } from "smtp-server";
import { parseAddress } from "@postloft/contract/address.ts";
import { LIMITS } from "@postloft/contract/limits/limits.ts";
import { networkOf } from "../platform/http/visitor-network.ts";
import type { Log } from "../platform/log.ts";
import type { Metrics } from "../platform/metrics.ts";
import {
  limitConnection,
  type ConnectionLimits,
  type LimitedConnection,
} from "../deliveries/limit-smtp-connection.ts";
import { createSlots, type SlotLimits } from "../deliveries/smtp-slots.ts";
import {
  admitMessage,
  authenticate,
  type AuthenticationOptions,
  type SignIn,
  type Submitter,
} from "./authenticate.ts";
import { readCertificate, watchCertificate, type CertificateFiles } from "./certificate.ts";
import { createDataReader, type DataLimits, type DataReader } from "./read-data.ts";
import { replyTo, SmtpReply } from "./replies.ts";
import { createSubmit, type SubmitOptions } from "./submit.ts";
import { readSubmitted } from "./read-submitted.ts";

export interface SubmissionDependencies extends AuthenticationOptions, SubmitOptions {
  host: string;
  /** Port for STARTTLS, or null. */
  port: number | null;
  /** Port for TLS from the first byte, or null. */
  tlsPort: number | null;
  /** Null: the ports are open to this machine only, without TLS. */
  certificate: CertificateFiles | null;
  /** The name of this installation over SMTP. */
  smtpName: string;
  log: Log;
  metrics: Metrics;
  limits?: Partial<SubmissionLimits>;
}

interface SubmissionLimits {
  slots: SlotLimits;
  connection: ConnectionLimits;
  data: DataLimits;
  /** How often the files of the certificate are checked. */
  certificateMs: number;
}

export interface SubmissionEndpoint {
  readonly port: number | null;
  readonly tlsPort: number | null;
  /** Finishes the messages that are being received. */
  stop(): Promise<void>;
}

/** Leaves room for the fields that are added to each copy. */
const MESSAGE_BYTES = LIMITS.messageBytes.value - 64 * 1024;
const DEFAULT_LIMITS: SubmissionLimits = {
  // One network may be a proxy or a cluster, with a pool of connections in each process.
  slots: { most: 500, mostOfNetwork: 200, quietMs: 5_000 },
  connection: { messageMs: 300_000, sessionMs: 3_600_000 },
  data: { messageBytes: MESSAGE_BYTES, totalBytes: 256 * 1024 * 1024 },
  certificateMs: 5_000,
};
const MAX_CONNECTIONS = 600;
/** RFC 5321 section 4.5.3.2.7. */
const IDLE_MS = 300_000;
const CLOSE_MS = 8_000;

const REFUSED_SLOTS = {
  taken: null,
  "network-full": new SmtpReply(421, "4.7.0 Too many connections from your address"),
  full: new SmtpReply(421, "4.3.2 Too many connections, try again in a moment"),
};
const TOO_MANY_RECIPIENTS = new SmtpReply(
  452,
  `4.5.3 A message may have ${LIMITS.recipients.value} recipients. Send it to the others in a separate message`,
);
const STOPPING = "4.3.2 The server is stopping, try again in a moment";
const SIGN_IN_FIRST = "5.7.0 Sign in first, with a project and its secret key";
/** The code of replies to failures of ours. */
const FAILED = 451;

type Connection = SMTPServer["connections"] extends Set<infer Item> ? Item : never;

/** The state that both ports share. */
interface Shared {
  deps: SubmissionDependencies;
  limits: SubmissionLimits;
  slots: ReturnType<typeof createSlots>;
  limited: Map<string, LimitedConnection>;
  /** The sender of the message in progress, by session. */
  admitted: Map<string, Submitter>;
  reader: DataReader;
  submit: ReturnType<typeof createSubmit>;
}

/** Listens until it is stopped. @throws Error if a port or the certificate cannot be used */
export async function startSubmission(deps: SubmissionDependencies): Promise<SubmissionEndpoint> {
  const limits = { ...DEFAULT_LIMITS, ...deps.limits };
  const shared: Shared = {
    deps,
    limits,
    slots: createSlots(limits.slots),
    limited: new Map(),
    admitted: new Map(),
    reader: createDataReader(limits.data),
    submit: createSubmit(deps),
  };
  const servers: SMTPServer[] = [];
  const stop = async () => void (await Promise.all(servers.map(closeServer)));
  try {
    const open = async (port: number, secure: boolean) => {
      const server = createServer(shared, secure);
      servers.push(server);
      return listen(server, port, deps.host);
    };
    const port = deps.port === null ? null : await open(deps.port, false);
    const tlsPort = deps.tlsPort === null ? null : await open(deps.tlsPort, true);
    const unwatch = followCertificate(shared, servers);
    return {
      port,
      tlsPort,
      async stop() {
        unwatch();
        await stop();
      },
    };
  } catch (error) {
    await stop();
    throw error;
  }
}

function followCertificate({ deps, limits }: Shared, servers: readonly SMTPServer[]): () => void {
  if (deps.certificate === null) return () => undefined;
  const apply = (certificate: { cert: string; key: string }) => {
    for (const server of servers) server.updateSecureContext(certificate);
  };
  return watchCertificate(deps.certificate, apply, { log: deps.log, everyMs: limits.certificateMs });
}

function createServer(shared: Shared, secure: boolean): SMTPServer {
  const { deps, limits } = shared;
  const { certificate } = deps;
  const server: SMTPServer = new SMTPServer({
    ...(certificate === null ? { disabledCommands: ["STARTTLS"] } : readCertificate(certificate)),
    secure,
    name: deps.smtpName,
    banner: "Postloft",
    size: limits.data.messageBytes,
    maxClients: MAX_CONNECTIONS,
    socketTimeout: IDLE_MS,
    closeTimeout: CLOSE_MS,
    authMethods: ["PLAIN", "LOGIN"],
    authRequiredMessage: SIGN_IN_FIRST,
    disableReverseLookup: true,
    logger: false,
    onConnect({ id, remoteAddress }, done) {
      done(limit(shared, connectionOf(server, id), remoteAddress));
    },
    onSecure(_socket, { id, remoteAddress }, done) {
      // STARTTLS replaced the socket and the parser that the limits watch.
      done(secure ? null : limit(shared, connectionOf(server, id), remoteAddress));
    },
    onClose({ id }) {
      forget(shared, id);
    },
    onAuth({ username, password }, { remoteAddress }, done) {
      const user: SignIn = { user: username ?? "", key: password ?? "", ip: remoteAddress };
      void callBack(deps, done, async () => {
        await authenticate(deps, user);
        return { user };
      });
    },
    onMailFrom(_address, session, done) {
      void callBack(deps, done, async () => {
        shared.admitted.set(session.id, await admitMessage(deps, session.user as SignIn));
      });
    },
    onRcptTo({ address }, { envelope }, done) {
      done(refuseRecipient(address, envelope.rcptTo.length));
    },
    onData(stream, session, done) {
      void callBack(deps, done, () => receive(shared, stream, session));
    },
  });
  // Each client is sent its own errors; without a listener an error would end the process.
  server.on("error", (error) => deps.log.debug({ err: error }, "SMTP connection failed"));
  return server;
}

function connectionOf(server: SMTPServer, id: string): Connection | undefined {
  return [...server.connections].find((one) => one.id === id);
}

/** Limits a connection, and returns the reply if it gets no slot. */
function limit(shared: Shared, connection: Connection | undefined, remoteAddress: string): Error | null {
  if (connection === undefined) return null;
  const { id } = connection;
  forget(shared, id);
  const limited = limitConnection(connection, shared.limits.connection);
  shared.limited.set(id, limited);
  return REFUSED_SLOTS[shared.slots.take(id, networkOf(remoteAddress), limited)];
}

function forget({ slots, limited, admitted }: Shared, id: string): void {
  limited.get(id)?.release();
  limited.delete(id);
  admitted.delete(id);
  slots.leave(id);
}

function refuseRecipient(address: string, before: number): Error | null {
  const parsed = parseAddress(address);
  if (!parsed.ok) return new SmtpReply(553, `5.1.3 ${parsed.reason}`);
  return before >= LIMITS.recipients.value ? TOO_MANY_RECIPIENTS : null;
}

/** Stores a message and returns the text of the positive reply, which leaves after the commit. */
async function receive(
  { deps, admitted, reader, submit }: Shared,
  stream: SMTPServerDataStream,
  { id, envelope, transaction }: SMTPServerSession,
): Promise<string> {
  const submitter = admitted.get(id);
  if (submitter === undefined) throw new Error("The message has no sender.");
  const startedAtMs = performance.now();
  const recipients = envelope.rcptTo.flatMap(({ address }) => {
    const parsed = parseAddress(address);
    return parsed.ok ? [parsed.address] : [];
  });
  const { smtpUtf8 = false } = envelope;
  const { emails } = await reader.read(stream as AsyncIterable<Buffer>, submitter.projectId, (bytes) =>
    submit({
      ...submitter,
      message: readSubmitted(bytes, smtpUtf8),
      recipients: [...new Set(recipients)],
      requestId: `${id}-${transaction}`,
    }),
  );
  const { projectId } = submitter;
  const ms = Math.round(performance.now() - startedAtMs);
  deps.log.info({ projectId, emails: emails.length, ms, session: id }, "message accepted over SMTP");
  deps.metrics.submissions.inc({ code: 250 });
  const [first] = emails;
  return emails.length === 1
    ? `2.0.0 Accepted as ${first?.email}`
    : `2.0.0 Accepted as ${emails.length} emails, the first is ${first?.email}`;
}

/** Calls back with the result of some work, or with the reply for its error. */
async function callBack<Result>(
  deps: SubmissionDependencies,
  done: (error: Error | null, result?: Result) => void,
  work: () => Promise<Result>,
): Promise<void> {
  let result: Result;
  try {
    result = await work();
  } catch (error) {
    done(replyFor(deps, error));
    return;
  }
  done(null, result);
}

/** Returns the reply for an error, and counts and logs it. */
function replyFor({ log, metrics }: SubmissionDependencies, error: unknown): SmtpReply {
  const reply = replyTo(error);
  const { responseCode, message } = reply;
  metrics.submissions.inc({ code: responseCode });
  if (responseCode === FAILED) log.warn({ err: error }, "failed to accept a message over SMTP");
  else log.info({ code: responseCode, reply: message }, "SMTP command rejected");
  return reply;
}

async function listen(server: SMTPServer, port: number, host: string): Promise<number> {
  await new Promise<void>((resolve, reject) => {
    server.server.once("error", reject);
    server.listen(port, host, () => {
      server.server.off("error", reject);
      resolve();
    });
  });
  return (server.server.address() as AddressInfo).port;
}

/** Accepts no connections, says goodbye to those without a message, and waits for the others. */
async function closeServer(server: SMTPServer): Promise<void> {
  if (!server.server.listening) return;
  const closed = new Promise<void>((resolve) => server.close(() => resolve()));
  for (const connection of server.connections)
    if (!connection.session.envelope?.mailFrom) connection.send(421, STOPPING, false);
  await closed;
}
