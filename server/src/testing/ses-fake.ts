// Simulates sending with Amazon SES, with the real HTTP of SESv2 SendEmail, verified signatures and faults on request.
import { createHash, createHmac, randomUUID, timingSafeEqual } from "node:crypto";
import { createServer as createHttpServer, type IncomingMessage, type ServerResponse } from "node:http";
import { createServer as createHttpsServer } from "node:https";
import type { Socket } from "node:net";
import type { SelfSignedCertificate } from "./self-signed-certificate.ts";

/**
 * A fault of the next response.
 * - `status`: an error in the format of SES, or with `text` a page from something that is not SES
 * - `drop`: closes the connection without a response
 * - `silent`: leaves the connection open without a response
 * - `taken`: accepts the message in spite of the fault
 */
export type SesFault =
  | { status: number; error: string; message?: string; taken?: boolean }
  | { status: number; text: string; taken?: boolean }
  | { end: "drop" | "silent"; taken?: boolean };

export interface SesFakeMessage {
  raw: Buffer;
  envelope: { from: string; to: readonly string[] };
  tags: Readonly<Record<string, string>>;
  configurationSet: string | undefined;
  fromEmailAddress: string | undefined;
  /** The id in the response, unless a fault came first. */
  messageId: string;
}

export interface SesFake {
  /** In the format of the option `endpoint`. */
  readonly endpoint: string;
  /** The accepted messages in order. */
  readonly messages: readonly SesFakeMessage[];
  /** Returns how many requests were read to their end, regardless of the response. */
  requestCount(): number;
  connectionCount(): number;
  openConnectionCount(): number;
  /** Sets the faults of the next requests, one per request. */
  plan(...faults: readonly SesFault[]): void;
  /** Resolves when the condition is true, checked after each event; rejects after 10 s. */
  waitUntil(condition: () => boolean): Promise<void>;
  /** Closes every connection immediately and still accepts new ones. */
  dropConnections(): void;
  close(): Promise<void>;
}

export const SES_REGION = "eu-west-1";
export const SES_KEY = { accessKeyId: "AKIDEXAMPLE", secretAccessKey: "secret/of+the+test" };

const PATH = "/v2/email/outbound-emails";
const WAIT_MS = 10_000;
const AUTHORIZATION =
  /^AWS4-HMAC-SHA256 Credential=(?<key>\w+)\/(?<date>\d{8})\/(?<region>[\w-]+)\/ses\/aws4_request, SignedHeaders=(?<headers>[a-z0-9;-]+), Signature=(?<signature>[0-9a-f]{64})$/;

/** Listens on a free port of 127.0.0.1, with TLS if there is a certificate. */
export async function startSesFake(options: { certificate?: SelfSignedCertificate } = {}): Promise<SesFake> {
  const messages: SesFakeMessage[] = [];
  const faults: SesFault[] = [];
  const sockets = new Set<Socket>();
  const looks = new Set<() => void>();
  const counts = { requests: 0, connections: 0 };
  const look = () => looks.forEach((one) => one());

  function serve(request: IncomingMessage, response: ServerResponse): void {
    const chunks: Buffer[] = [];
    request.on("error", () => undefined); // clients that give up are part of the tests
    request.on("data", (chunk: Buffer) => chunks.push(chunk));
    request.on("end", () => {
      counts.requests += 1;
      respond(request, Buffer.concat(chunks), response, faults.shift(), messages);
      look();
    });
  }

  const server =
    options.certificate === undefined
      ? createHttpServer(serve)
      : createHttpsServer({ key: options.certificate.key, cert: options.certificate.cert }, serve);
  server.keepAliveTimeout = 0;
  server.on("connection", (socket: Socket) => {
    counts.connections += 1;
    sockets.add(socket);
    socket.on("close", () => {
      sockets.delete(socket);
      look();
    });
    look();
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const address = server.address();
  if (address === null || typeof address === "string") throw new Error("the fake has no port");

  return {
    endpoint: `${options.certificate === undefined ? "http" : "https"}://127.0.0.1:${address.port}`,
    messages,
    requestCount: () => counts.requests,
    connectionCount: () => counts.connections,
    openConnectionCount: () => sockets.size,
    plan: (...next) => void faults.push(...next),
    waitUntil: (condition) => waitUntil(condition, looks),
    dropConnections: () => sockets.forEach((socket) => socket.destroy()),
    close() {
      sockets.forEach((socket) => socket.destroy());
      return new Promise((resolve, reject) => server.close((error) => (error ? reject(error) : resolve())));
    },
  };
}

function respond(
  request: IncomingMessage,
  body: Buffer,
  response: ServerResponse,
  fault: SesFault | undefined,
  messages: SesFakeMessage[],
): void {
  const appError = faultOfRequest(request, body);
  if (appError !== undefined) return refuse(response, appError);
  const message = toMessage(body);
  if (fault === undefined || fault.taken === true) messages.push(message);
  if (fault === undefined) {
    response.setHeader("x-amzn-requestid", randomUUID());
    response.setHeader("content-type", "application/json");
    response.end(JSON.stringify({ MessageId: message.messageId }));
  } else if ("end" in fault) {
    if (fault.end === "drop") request.socket.destroy();
  } else refuse(response, fault);
}

function refuse(response: ServerResponse, fault: Extract<SesFault, { status: number }>): void {
  response.statusCode = fault.status;
  if ("text" in fault) return void response.end(fault.text);
  response.setHeader("x-amzn-requestid", randomUUID());
  response.setHeader("x-amzn-errortype", `${fault.error}:http://internal.amazon.com/coral/com.amazonaws/`);
  response.setHeader("content-type", "application/json");
  response.end(JSON.stringify({ message: fault.message ?? "as planned by the test" }));
}

/** Returns the error of SES for a request that does not follow its reference. */
function faultOfRequest(
  request: IncomingMessage,
  body: Buffer,
): Extract<SesFault, { error: string }> | undefined {
  if (request.method !== "POST" || request.url !== PATH)
    return { status: 404, error: "UnknownOperationException" };
  if (request.headers["content-type"] !== "application/json")
    return { status: 400, error: "SerializationException", message: "not JSON" };
  const signed = AUTHORIZATION.exec(request.headers.authorization ?? "")?.groups;
  if (signed === undefined) return { status: 403, error: "MissingAuthenticationTokenException" };
  if (signed["key"] !== SES_KEY.accessKeyId)
    return { status: 403, error: "UnrecognizedClientException", message: "The security token is invalid." };
  const expected = signatureOf(request, body, signed["headers"] ?? "");
  if (timingSafeEqual(Buffer.from(signed["signature"] ?? ""), Buffer.from(expected))) return undefined;
  return { status: 403, error: "InvalidSignatureException", message: "The signature does not match." };
}

/** Computes signature version 4 from its description (AWS IAM user guide, "Create a signed AWS API request"). */
function signatureOf(request: IncomingMessage, body: Buffer, signedHeaders: string): string {
  const names = signedHeaders.split(";");
  if (!["host", "x-amz-date"].every((name) => names.includes(name))) return "0".repeat(64);
  const headers = names.map((name) => `${name}:${String(request.headers[name] ?? "").trim()}\n`).join("");
  const canonical = ["POST", PATH, "", headers, signedHeaders, sha256(body)].join("\n");
  const at = String(request.headers["x-amz-date"]);
  const scope = [at.slice(0, 8), SES_REGION, "ses", "aws4_request"];
  const text = ["AWS4-HMAC-SHA256", at, scope.join("/"), sha256(canonical)].join("\n");
  const key = scope.reduce(
    (secret, part) => createHmac("sha256", secret).update(part).digest(),
    Buffer.from(`AWS4${SES_KEY.secretAccessKey}`),
  );
  return createHmac("sha256", key).update(text).digest("hex");
}

function sha256(data: Buffer | string): string {
  return createHash("sha256").update(data).digest("hex");
}

interface SendEmailBody {
  Content: { Raw: { Data: string } };
  Destination: { ToAddresses?: string[]; CcAddresses?: string[]; BccAddresses?: string[] };
  FromEmailAddress?: string;
  FeedbackForwardingEmailAddress?: string;
  ConfigurationSetName?: string;
  EmailTags?: Array<{ Name: string; Value: string }>;
}

function toMessage(body: Buffer): SesFakeMessage {
  const input = JSON.parse(body.toString("utf8")) as SendEmailBody;
  const { ToAddresses = [], CcAddresses = [], BccAddresses = [] } = input.Destination;
  return {
    raw: Buffer.from(input.Content.Raw.Data, "base64"),
    envelope: {
      from: input.FeedbackForwardingEmailAddress ?? "",
      to: [...ToAddresses, ...CcAddresses, ...BccAddresses],
    },
    tags: Object.fromEntries((input.EmailTags ?? []).map(({ Name, Value }) => [Name, Value])),
    configurationSet: input.ConfigurationSetName,
    fromEmailAddress: input.FromEmailAddress,
    messageId: `0102${randomUUID()}-000000`,
  };
}

function waitUntil(condition: () => boolean, looks: Set<() => void>): Promise<void> {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(() => {
      looks.delete(look);
      reject(new Error(`the fake waited in vain for: ${condition}`));
    }, WAIT_MS);
    function look(): void {
      if (!condition()) return;
      clearTimeout(timer);
      looks.delete(look);
      resolve();
    }
    looks.add(look);
    look();
  });
}
