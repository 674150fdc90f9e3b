// The sender most programs use: nodemailer's pool with its own DKIM signing, connected to the benchmark mail server.
import { createTransport } from "nodemailer";
import { SENDER_DOMAIN, type Outbox } from "./outbox.ts";
import { CONNECTIONS, type BenchSink } from "./sink.ts";

export function openNodemailer(sink: BenchSink, outbox: Outbox) {
  return createTransport({
    pool: true,
    host: "127.0.0.1",
    port: sink.port,
    maxConnections: CONNECTIONS,
    maxMessages: Number.POSITIVE_INFINITY,
    ignoreTLS: true,
    dkim: { domainName: SENDER_DOMAIN, keySelector: "bench", privateKey: outbox.privateKey },
  });
}

/** Returns the text part, generated from HTML in the usual way. */
export function plainText(html: string): string {
  return html.replace(/<[^>]*>/g, "");
}
