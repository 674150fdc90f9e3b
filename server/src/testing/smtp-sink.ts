// A programmable SMTP server for tests and benchmarks: takes mail into a journal, and misbehaves on request.
//
//   const sink = await startSmtpSink({ rules: [{ phase: "RCPT", recipient: /^full@/, action: { reply: "452 4.2.2 full" } }] });
//   … send to 127.0.0.1:sink.port …
//   await sink.waitForMessages(1);  sink.journal[0].raw;  await sink.close();
//
// A message is in the journal before the final dot is answered, so what the sender was told is always there; the
// reverse (journalled, answer lost) is the rule `{ phase: "DOT", accept: true, action: "drop" }`.
import { createServer, type Server, type Socket } from "node:net";
import { createSecureContext, type SecureContext } from "node:tls";
import { createSelfSignedCertificate, type SelfSignedCertificate } from "./self-signed-certificate.ts";
import { serveSmtp } from "./smtp-sink-session.ts";

/** Where a rule acts. TLS: instead of the handshake. BODY: on the first bytes of the message. */
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
  | "BODY"
  | "DOT"
  | "RSET"
  | "QUIT";

/**
 * `reply`: these lines instead of the usual answer, CRLF is added; the code decides how it goes on (2xx and 3xx as if
 * it were the usual answer, 421 closes). `bytes`: written as they are, then nothing more is done for the command.
 * `drop`: FIN. `reset`: RST. `silent`: nothing is read or answered on this connection any more. `swallow`: the usual answer,
 * and the commands that came along with this one are lost; `swallow-next`: the next one of them is.
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

export interface SmtpSink {
  readonly port: number;
  /** PEM, for the client's `ca`. */
  readonly certificate: string;
  /** The messages taken, in order. */
  readonly journal: readonly SinkMessage[];
  /** Command lines as they came, the lines within AUTH included. */
  readonly commands: readonly SinkCommand[];
  connectionCount(): number;
  openConnectionCount(): number;
  peakConnectionCount(): number;
  /** Octets of messages as they came over the wire, unfinished messages included. */
  bodyByteCount(): number;
  /** Replaces all rules; their counts begin anew. */
  setRules(rules: readonly SinkRule[]): void;
  /** Forgets journal and commands. */
  clear(): void;
  /** Resolves when the journal holds so many messages; rejects after `timeoutMs` (default 10 s). */
  waitForMessages(count: number, timeoutMs?: number): Promise<void>;
  /** Resolves when the condition holds, looked at after whatever the sink receives; rejects after `timeoutMs` (default 10 s). */
  waitUntil(condition: () => boolean, timeoutMs?: number): Promise<void>;
  /** Closes every connection at once, as a server that restarts does; new ones are taken. */
  dropConnections(): void;
  close(): Promise<void>;
}

/** What a session needs of the sink; private to the two sink files. */
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

const DEFAULT_KEEP_COMMANDS = 1_000;
const DEFAULT_WAIT_MS = 10_000;

/** Starts listening. Nothing is kept on disk. */
export async function startSmtpSink(options: SmtpSinkOptions = {}): Promise<SmtpSink> {
  const certificate = options.certificate ?? createSelfSignedCertificate();
  const keepCommands = options.keepCommands ?? DEFAULT_KEEP_COMMANDS;
  const journal: SinkMessage[] = [];
  const commands: SinkCommand[] = [];
  const sockets = new Set<Socket>();
  const counts = { connections: 0, peak: 0, bodyBytes: 0 };
  const rules = createRuleBook(options.rules ?? []);
  const waits = createWaits();
  const context: SinkContext = {
    options,
    secureContext: createSecureContext(certificate),
    matchRule: rules.match,
    noteCommand: (command) => void (commands.length < keepCommands && commands.push(command)),
    noteBodyBytes: (count) => void (counts.bodyBytes += count),
    accept: (message) => void journal.push(message),
    changed: waits.look,
  };
  const server = createServer({ noDelay: true }, (socket) => {
    counts.connections += 1;
    sockets.add(socket);
    counts.peak = Math.max(counts.peak, sockets.size);
    socket.on("close", () => {
      sockets.delete(socket);
      waits.look();
    });
    serveSmtp(socket, counts.connections, context);
  });
  const port = await listen(server, options.port ?? 0, options.host ?? "127.0.0.1");

  return {
    port,
    certificate: certificate.cert,
    journal,
    commands,
    connectionCount: () => counts.connections,
    openConnectionCount: () => sockets.size,
    peakConnectionCount: () => counts.peak,
    bodyByteCount: () => counts.bodyBytes,
    setRules: rules.replace,
    clear() {
      journal.length = 0;
      commands.length = 0;
    },
    waitForMessages: (count, timeoutMs) => waits.waitUntil(() => journal.length >= count, timeoutMs),
    waitUntil: waits.waitUntil,
    dropConnections: () => sockets.forEach((socket) => socket.destroy()),
    close() {
      sockets.forEach((socket) => socket.destroy());
      return new Promise((resolve, reject) => server.close((error) => (error ? reject(error) : resolve())));
    },
  };
}

/** The rules with how often each was met. */
function createRuleBook(first: readonly SinkRule[]): {
  match: SinkContext["matchRule"];
  replace: (rules: readonly SinkRule[]) => void;
} {
  let entries = first.map((rule) => ({ rule, metCount: 0 }));
  return {
    match(phase, recipients) {
      for (const entry of entries) {
        const { rule } = entry;
        if (rule.phase !== phase) continue;
        if (rule.recipient !== undefined && !recipients.some((address) => rule.recipient?.test(address)))
          continue;
        const turn = entry.metCount - (rule.skip ?? 0);
        entry.metCount += 1;
        if (turn >= 0 && turn < (rule.times ?? Infinity)) return rule;
      }
      return undefined;
    },
    replace(rules) {
      entries = rules.map((rule) => ({ rule, metCount: 0 }));
    },
  };
}

function createWaits(): { look: () => void; waitUntil: SmtpSink["waitUntil"] } {
  const waits = new Set<() => void>();
  return {
    look: () => waits.forEach((look) => look()),
    waitUntil: (condition, timeoutMs = DEFAULT_WAIT_MS) =>
      new Promise((resolve, reject) => {
        const timer = setTimeout(() => {
          waits.delete(look);
          reject(new Error(`the sink waited ${timeoutMs} ms in vain for: ${condition}`));
        }, timeoutMs);
        function look(): void {
          if (!condition()) return;
          clearTimeout(timer);
          waits.delete(look);
          resolve();
        }
        waits.add(look);
        look();
      }),
  };
}

function listen(server: Server, port: number, host: string): Promise<number> {
  return new Promise((resolve, reject) => {
    server.once("error", reject);
    server.listen(port, host, () => {
      const address = server.address();
      if (address === null || typeof address === "string") return reject(new Error("the sink has no port"));
      resolve(address.port);
    });
  });
}
