// Provides what tests of the SMTP transport share: a sink, a transport connected to it, and messages to send.
import { afterEach } from "vitest";
import { startSmtpSink, type SmtpSink } from "./smtp-sink.ts";
import type { SmtpSinkOptions } from "./smtp-sink-rules.ts";
import { createSmtpTransport, type SmtpOptions } from "../transports/smtp.ts";
import type { OutgoingMessage, Transport } from "../transports/transport.ts";

export type StartSmtp = (
  sinkOptions?: SmtpSinkOptions,
  options?: Omit<Partial<SmtpOptions>, "url"> & { url?: Partial<SmtpOptions["url"]> },
) => Promise<{ sink: SmtpSink; transport: Transport }>;

/** Returns a function that starts a sink and a transport to it. Both stop after each test of the file. */
export function useSmtp(): StartSmtp {
  const cleanups: (() => Promise<void>)[] = [];
  afterEach(async () => {
    for (const cleanup of cleanups.splice(0).toReversed()) await cleanup();
  });
  return async (sinkOptions = {}, options = {}) => {
    const sink = await startSmtpSink(sinkOptions);
    cleanups.push(() => sink.close());
    const url = { host: "127.0.0.1", port: sink.port, secure: false, ...options.url };
    const timeouts = { closeMs: 1_000, ...options.timeouts };
    const tls = { ca: sink.certificate, ...options.tls };
    const transport = createSmtpTransport({ heloName: "client.test", ...options, url, timeouts, tls });
    cleanups.push(() => transport.close());
    return { sink, transport };
  };
}

export async function saysYes(): Promise<boolean> {
  return true;
}

export function composeMail(
  id: number | string,
  parts: { to?: readonly string[]; raw?: string } = {},
): OutgoingMessage {
  return {
    emailId: String(id),
    projectId: "project",
    attempt: 1,
    envelope: { from: "sender@from.test", to: parts.to ?? ["bob@to.test"] },
    raw: Buffer.from(parts.raw ?? `Message-ID: <${id}@from.test>\r\nSubject: hello\r\n\r\nhello\r\n`),
    needsSmtpUtf8: false,
  };
}

/** Returns the command lines that the sink received, without their connection. */
export function commandLines(sink: SmtpSink): string[] {
  return sink.commands.map(({ line }) => line);
}
