// Opens SMTP sessions (greeting, EHLO, STARTTLS, AUTH) and ends them with QUIT.
import { isIP, type LookupFunction } from "node:net";
import type { SmtpConnection } from "./smtp-connection.ts";
import { describeReply, SmtpFailure, toPrintableLine, type SmtpReply } from "./smtp-replies.ts";
import type { SmtpTimeouts } from "./smtp-timeouts.ts";
import type { SmtpServer } from "./smtp-url.ts";

/** Extensions from the server's last EHLO reply (RFC 5321 §4.1.1.1). */
export interface SmtpExtensions {
  pipelining: boolean;
  /** BDAT (RFC 3030). */
  chunking: boolean;
  startTls: boolean;
  eightBitMime: boolean;
  smtpUtf8: boolean;
  size: boolean;
  /** SASL mechanisms, upper case. */
  auth: readonly string[];
}

/** A connection that is ready for MAIL. */
export interface SmtpSession {
  connection: SmtpConnection;
  extensions: SmtpExtensions;
  /** The server's own name: the first word of its EHLO reply, else of its greeting; may be empty. */
  serverName: string;
  /** Number of messages started on this session. */
  messageCount: number;
  /** Whether the server accepted a chunk, because some servers offer CHUNKING and do not support it. */
  acceptsChunks: boolean;
  /** The time of `performance.now()` since when the session waits for a message. */
  idleSinceMs: number;
}

export interface SessionSettings {
  server: SmtpServer;
  heloName: string;
  rejectUnauthorized: boolean;
  ca?: string;
  /** Resolves the host, by default with the operating system. */
  lookup?: LookupFunction;
  timeouts: SmtpTimeouts;
}

const NO_EXTENSIONS: SmtpExtensions = {
  pipelining: false,
  chunking: false,
  startTls: false,
  eightBitMime: false,
  smtpUtf8: false,
  size: false,
  auth: [],
};

/**
 * Opens a session on a fresh connection, so that email can be sent.
 * @throws SmtpFailure with a text for the email's timeline. Failures here are about the connection or login, never about a recipient.
 */
export async function openSession(
  connection: SmtpConnection,
  settings: SessionSettings,
): Promise<SmtpSession> {
  const { server, timeouts } = settings;
  await connection.connected("CONNECT", timeouts.connectMs);
  if (server.secure) await encrypt(connection, settings);
  const greeting = await connection.readReply("CONNECT", timeouts.greetingMs);
  expectCode(220, "CONNECT", greeting);
  let hello = await sayHello(connection, settings);
  if (hello.extensions.startTls && !connection.isEncrypted()) {
    connection.write(["STARTTLS"]);
    // If the offered STARTTLS is rejected, we do not continue in plaintext because an attacker in the middle could cause that.
    expectCode(220, "STARTTLS", await connection.readReply("STARTTLS", timeouts.tlsMs));
    await encrypt(connection, settings);
    hello = await sayHello(connection, settings); // RFC 3207 §4.2: discards everything received in plaintext
  }
  if (server.requireTls === true && !connection.isEncrypted())
    throw new SmtpFailure("refused", "STARTTLS: required by our settings and not offered; nothing was sent");
  if (server.user !== undefined)
    await logIn(connection, hello.extensions, server.user, server.password ?? "", timeouts);
  const serverName = hello.name || firstWordOf(greeting);
  return {
    connection,
    extensions: hello.extensions,
    serverName,
    messageCount: 0,
    acceptsChunks: false,
    idleSinceMs: performance.now(),
  };
}

async function encrypt(connection: SmtpConnection, settings: SessionSettings): Promise<void> {
  const { host } = settings.server;
  await connection.encrypt("TLS", settings.timeouts.tlsMs, {
    host,
    ...(isIP(host) === 0 ? { servername: host } : {}), // RFC 6066 §3: no address in SNI
    rejectUnauthorized: settings.rejectUnauthorized,
    ...(settings.ca === undefined ? {} : { ca: settings.ca }),
  });
}

/** Sends EHLO, or HELO if the server does not support EHLO (RFC 5321 §3.2). */
async function sayHello(
  connection: SmtpConnection,
  { heloName, timeouts }: SessionSettings,
): Promise<{ extensions: SmtpExtensions; name: string }> {
  connection.write([`EHLO ${heloName}`]);
  const extended = await connection.readReply("EHLO", timeouts.helloMs);
  if (extended.code === 250) return { extensions: readExtensions(extended), name: firstWordOf(extended) };
  if (extended.code < 500) expectCode(250, "EHLO", extended);
  connection.write([`HELO ${heloName}`]);
  const plain = await connection.readReply("HELO", timeouts.helloMs);
  expectCode(250, "HELO", plain);
  return { extensions: NO_EXTENSIONS, name: firstWordOf(plain) };
}

/** Returns the first word, in which a server gives its name (RFC 5321 §4.2). */
function firstWordOf({ lines }: SmtpReply): string {
  return toPrintableLine(lines[0]?.trim().split(/\s+/)[0] ?? "");
}

function readExtensions(reply: SmtpReply): SmtpExtensions {
  // The first line is the greeting. Servers older than RFC 2554 write `AUTH=`.
  const offers = reply.lines.slice(1).map((line) =>
    line
      .toUpperCase()
      .replace(/^AUTH=/, "AUTH ")
      .split(/\s+/),
  );
  const offersKeyword = (keyword: string): boolean => offers.some(([first]) => first === keyword);
  return {
    pipelining: offersKeyword("PIPELINING"),
    chunking: offersKeyword("CHUNKING"),
    startTls: offersKeyword("STARTTLS"),
    eightBitMime: offersKeyword("8BITMIME"),
    smtpUtf8: offersKeyword("SMTPUTF8"),
    size: offersKeyword("SIZE"),
    auth: offers.flatMap(([keyword, ...mechanisms]) => (keyword === "AUTH" ? mechanisms : [])),
  };
}

/** Logs in with AUTH PLAIN (RFC 4616) or LOGIN. The password is sent only over TLS or to this machine. */
async function logIn(
  connection: SmtpConnection,
  extensions: SmtpExtensions,
  user: string,
  password: string,
  timeouts: SmtpTimeouts,
): Promise<void> {
  if (!connection.isEncrypted() && !connection.isLoopback())
    throw new SmtpFailure("refused", "AUTH: the connection is not encrypted, so the password was not sent");
  const plain = toBase64(`\0${user}\0${password}`);
  const steps = extensions.auth.includes("PLAIN")
    ? [`AUTH PLAIN ${plain}`]
    : extensions.auth.includes("LOGIN")
      ? ["AUTH LOGIN", toBase64(user), toBase64(password)]
      : [];
  if (steps.length === 0)
    throw new SmtpFailure(
      "refused",
      "AUTH: the server offers neither PLAIN nor LOGIN, but a password is configured",
    );
  for (const [index, step] of steps.entries()) {
    connection.write([step]);
    const reply = await connection.readReply("AUTH", timeouts.authMs);
    const isLast = index === steps.length - 1;
    if (reply.code !== (isLast ? 235 : 334))
      throw new SmtpFailure(
        "refused",
        `AUTH: ${withoutSecrets(describeReply(reply), [plain, password])}`,
        reply,
      );
  }
}

/** Masks secrets, so that a server that echoes its input cannot put the password into a timeline. */
function withoutSecrets(text: string, secrets: readonly string[]): string {
  return secrets
    .flatMap((secret) => [secret, toBase64(secret)])
    .filter((secret) => secret !== "")
    .reduce((masked, secret) => masked.replaceAll(secret, "***"), text);
}

function toBase64(text: string): string {
  return Buffer.from(text).toString("base64");
}

function expectCode(code: number, phase: string, reply: SmtpReply): void {
  if (reply.code !== code) throw new SmtpFailure("refused", `${phase}: ${describeReply(reply)}`, reply);
}

/** Prepares the session for another message after a rejected one. Returns false if it cannot be reused. */
export async function resetSession({ connection }: SmtpSession, timeoutMs: number): Promise<boolean> {
  return succeeds(async () => {
    // After a rejected MAIL or RCPT the replies to the pipelined commands are still unread.
    while (connection.outstandingReplies() > 0) {
      const { code } = await connection.readReply("RSET", timeoutMs);
      // DATA was accepted without a recipient, so the server would read all further commands as message text.
      if (code === 354) throw new SmtpFailure("malformed", "DATA was accepted without a recipient");
    }
    connection.write(["RSET"]);
    expectCode(250, "RSET", await connection.readReply("RSET", timeoutMs));
  });
}

/** Sends QUIT and waits for the server to close, because until then the server counts the connection as ours. */
export async function quitSession({ connection }: SmtpSession, timeoutMs: number): Promise<void> {
  await succeeds(async () => {
    connection.write(["QUIT"]);
    await connection.readReply("QUIT", timeoutMs);
    await connection.readReply("QUIT", timeoutMs); // no further reply comes, so this ends when the server closes
  });
  connection.destroy("closed after QUIT");
}

/** Returns whether the dialogue succeeded. A failure between messages only costs the connection because the next message opens another. */
async function succeeds(dialogue: () => Promise<void>): Promise<boolean> {
  try {
    await dialogue();
    return true;
  } catch (error) {
    if (!(error instanceof SmtpFailure)) throw error;
    return false;
  }
}
