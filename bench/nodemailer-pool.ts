// What most programs send with: nodemailer's pool with its own DKIM, to the mail server of the benchmarks.
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

/** The text part as it is usually made of HTML. */
export function plainText(html: string): string {
  return html.replace(/<[^>]*>/g, "");
}
