// Runs a programmable SMTP server for tests and benchmarks. It accepts email into a journal and misbehaves on request.
//
//   const sink = await startSmtpSink({ rules: [{ phase: "RCPT", recipient: /^full@/, action: { reply: "452 4.2.2 full" } }] });
//   … send to 127.0.0.1:sink.port …
//   await sink.waitForMessages(1);  sink.journal[0].raw;  await sink.close();
//
// A message is in the journal before the reply to its final dot, so every confirmed message is there. The rule
// `{ phase: "DOT", accept: true, action: "drop" }` records a message and loses the reply.
import { createServer, type Server, type Socket } from "node:net";
import { createSecureContext } from "node:tls";
import { createSelfSignedCertificate } from "./self-signed-certificate.ts";
import { serveSmtp } from "./smtp-sink-session.ts";
import type { SinkCommand, SinkContext, SinkMessage, SinkRule, SmtpSinkOptions } from "./smtp-sink-rules.ts";

export interface SmtpSink {
  readonly port: number;
  /** PEM, for the client's `ca`. */
  readonly certificate: string;
  /** The accepted messages in order. */
  readonly journal: readonly SinkMessage[];
  /** Command lines as received, including the lines within AUTH. */
  readonly commands: readonly SinkCommand[];
  connectionCount(): number;
  openConnectionCount(): number;
  peakConnectionCount(): number;
  /** Returns the octets of messages on the wire, including unfinished messages. */
  bodyByteCount(): number;
  /** Replaces all rules and restarts their counts. */
  setRules(rules: readonly SinkRule[]): void;
  /** Clears journal and commands. */
  clear(): void;
  /** Resolves when the journal contains this many messages; rejects after `timeoutMs` (default 30 s). */
  waitForMessages(count: number, timeoutMs?: number): Promise<void>;
  /** Resolves when the condition is true, checked after each event; rejects after `timeoutMs` (default 30 s). */
  waitUntil(condition: () => boolean, timeoutMs?: number): Promise<void>;
  /** Closes every connection immediately, like a restarting server, and still accepts new ones. */
  dropConnections(): void;
  close(): Promise<void>;
}

const DEFAULT_KEEP_COMMANDS = 1_000;
const DEFAULT_WAIT_MS = 30_000;

/** Starts listening. Nothing is stored on disk. */
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

/** Returns the rules with a count of their matches. */
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
