// A third-party SMTP server (npm package smtp-server) that accepts every email and keeps it with its envelope.
import { SMTPServer } from "smtp-server";

export interface ReceivedMail {
  envelope: { from: string; to: readonly string[] };
  raw: Buffer;
}

export interface SmtpReceiver {
  /** In the format of `MAIL_TRANSPORT`. */
  readonly url: string;
  readonly mails: readonly ReceivedMail[];
  close(): Promise<void>;
}

const HOST = "127.0.0.1";

export async function startSmtpReceiver(): Promise<SmtpReceiver> {
  const mails: ReceivedMail[] = [];
  const server = new SMTPServer({
    authOptional: true,
    disabledCommands: ["STARTTLS"],
    onData(stream, session, callback) {
      const chunks: Buffer[] = [];
      stream.on("data", (chunk: Buffer) => chunks.push(chunk));
      stream.on("end", () => {
        const { mailFrom, rcptTo } = session.envelope;
        const from = mailFrom === false ? "" : mailFrom.address;
        mails.push({
          envelope: { from, to: rcptTo.map(({ address }) => address) },
          raw: Buffer.concat(chunks),
        });
        callback();
      });
    },
  });
  const port = await new Promise<number>((resolve, reject) => {
    server.on("error", reject);
    const listening = server.listen(0, HOST, () => {
      const address = listening.address();
      if (address === null || typeof address === "string") reject(new Error("the SMTP server has no port"));
      else resolve(address.port);
    });
  });
  return {
    url: `smtp://${HOST}:${port}`,
    mails,
    close: () => new Promise((resolve) => server.close(resolve)),
  };
}
