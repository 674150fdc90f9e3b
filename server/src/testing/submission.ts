// Starts SMTP submission for tests, with clients that follow the protocol and raw connections that don't.
import { connect, type Socket } from "node:net";
import { connect as connectTls } from "node:tls";
import { createTransport, type SendMailOptions } from "nodemailer";
import type { TestProject, TestServer } from "./test-server.ts";

export interface Submitting {
  port: number;
  tlsPort: number;
  stop(): Promise<void>;
}

/** Starts a process with SMTP submission on the database of a test server. */
export async function startSubmitting(
  server: TestServer,
  settings: Readonly<Record<string, string>> = {},
): Promise<Submitting> {
  const lines: string[] = [];
  const { stop } = await server.startAnother({ ROLES: "api", SUBMISSION_PORT: "0", ...settings }, (line) =>
    lines.push(line),
  );
  const portIn = (end: RegExp) =>
    lines.flatMap((line) => {
      const [, port] = /^Accepting email over SMTP on port (\d+)/.exec(line) ?? [];
      return port !== undefined && end.test(line) ? [Number(port)] : [];
    })[0] ?? 0;
  return { port: portIn(/machine only\.$|STARTTLS\)\.$/), tlsPort: portIn(/\(TLS\)\.$/), stop };
}

/** Sends with Nodemailer and returns the last reply, also a negative one. */
export async function submit(
  { port }: Pick<Submitting, "port">,
  { id, secretKey }: Pick<TestProject, "id" | "secretKey">,
  mail: SendMailOptions,
  options: object = {},
): Promise<string> {
  const client = createTransport({
    host: "127.0.0.1",
    port,
    auth: { user: id, pass: secretKey },
    tls: { rejectUnauthorized: false },
    ...options,
  });
  try {
    return (await client.sendMail({ from: FROM, subject: "Hello", text: "Hi", ...mail })).response;
  } catch (error) {
    return (error as { response?: string }).response ?? String(error);
  } finally {
    client.close();
  }
}

/** The reply to a message for one recipient, with the id of its email. */
export const ACCEPTED = /^250 2\.0\.0 Accepted as ([0-9a-f-]{36})$/;

/** A sender that every project may use while the transport is the local mailbox. */
export const FROM = "app@sandbox.localhost";

/** A connection that sends exactly the given bytes. */
export interface RawClient {
  /** Sends a line and returns the reply, without its line end. Replies of several lines are returned as the last one. */
  say(line: string): Promise<string>;
  /** Sends bytes as they are, and returns the next reply. */
  write(bytes: string | Buffer): Promise<string>;
  /** Returns what the server sent after the last reply. */
  rest(): string;
  close(): void;
}

/** Connects, reads the greeting and says EHLO. */
export async function connectRaw(port: number): Promise<RawClient> {
  const socket = connect(port, "127.0.0.1");
  const greeted = talkOver(socket);
  await greeted.greeting();
  await greeted.client.say("EHLO client.example");
  return greeted.client;
}

/** Connects, continues with STARTTLS, and says EHLO again. */
export async function connectWithStartTls(port: number): Promise<RawClient> {
  const socket = connect(port, "127.0.0.1");
  const plain = talkOver(socket);
  await plain.greeting();
  await plain.client.say("EHLO client.example");
  await plain.client.say("STARTTLS");
  socket.removeAllListeners("data");
  const { client } = talkOver(connectTls({ socket, rejectUnauthorized: false }));
  await client.say("EHLO client.example");
  return client;
}

function talkOver(socket: Socket) {
  socket.setEncoding("latin1");
  socket.on("error", () => undefined);
  const received = { text: "" };
  socket.on("data", (chunk: string) => void (received.text += chunk));
  const client: RawClient = {
    say: (line) => client.write(`${line}\r\n`),
    async write(bytes) {
      socket.write(bytes);
      return nextReply(socket, received);
    },
    rest: () => received.text,
    close: () => void socket.destroy(),
  };
  return { client, greeting: () => nextReply(socket, received) };
}

/** Connects and signs in. */
export async function connectSignedIn(
  port: number,
  { id, secretKey }: Pick<TestProject, "id" | "secretKey">,
): Promise<RawClient> {
  const client = await connectRaw(port);
  await client.say(signInLine({ id, secretKey }));
  return client;
}

/** Returns the command that signs a project in. */
export function signInLine({ id, secretKey }: Pick<TestProject, "id" | "secretKey">): string {
  return `AUTH PLAIN ${Buffer.from(`\0${id}\0${secretKey}`).toString("base64")}`;
}

const REPLY = /^(?:\d{3}-[^\r]*\r\n)*(\d{3} [^\r]*)\r\n/;

/** Waits for a complete reply. Returns an empty text when the server closed the connection without one. */
async function nextReply(socket: Socket, received: { text: string }): Promise<string> {
  while (!REPLY.test(received.text) && !socket.destroyed && !socket.readableEnded)
    await new Promise<void>((resolve) => {
      const done = () => {
        socket.off("data", done).off("close", done);
        resolve();
      };
      socket.on("data", done).on("close", done);
    });
  const [whole = "", last = ""] = REPLY.exec(received.text) ?? [];
  received.text = received.text.slice(whole.length);
  return last;
}
