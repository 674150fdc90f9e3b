// Simulates Amazon SNS for subscribers, with certificates and confirmations over real HTTPS on loopback and signed notifications.
import { randomUUID, sign } from "node:crypto";
import type { ServerResponse } from "node:http";
import { createServer } from "node:https";
import type { AddressInfo } from "node:net";
import { createSelfSignedCertificate, type CertificateOptions } from "./self-signed-certificate.ts";

const SNS_REGION = "eu-west-1";
export const SNS_TOPIC = `arn:aws:sns:${SNS_REGION}:123456789012:mail`;
export const SNS_HOST = `sns.${SNS_REGION}.amazonaws.com`;

export type SnsBody = Record<string, unknown>;

export interface SnsFake {
  /** In the format of `createSnsRequests`. */
  readonly instead: { host: string; port: number; ca: string };
  /** Method, host and path of each request, in order. */
  readonly requests: string[];
  /** The address of the valid certificate. */
  readonly certificateUrl: string;
  /** Serves another certificate and returns its address and a function that signs with it. */
  addCertificate(options: CertificateOptions): { url: string; sign: (body: SnsBody) => SnsBody };
  /** Serves another response and returns its address. */
  addReply(respond: (response: ServerResponse) => void): string;
  /** Returns a notification as SNS sends it, signed after the keys of `over` were replaced. */
  notification(message: unknown, over?: SnsBody): SnsBody;
  confirmation(over?: SnsBody): SnsBody;
  close(): Promise<void>;
}

const FIELDS = {
  Notification: ["Message", "MessageId", "Subject", "Timestamp", "TopicArn", "Type"],
  SubscriptionConfirmation: [
    "Message",
    "MessageId",
    "SubscribeURL",
    "Timestamp",
    "Token",
    "TopicArn",
    "Type",
  ],
};

/** Signs as in the SNS developer guide, with Amazon's side of the key. */
function signSns(body: SnsBody, privateKey: string): SnsBody {
  const fields = body["Type"] === "Notification" ? FIELDS.Notification : FIELDS.SubscriptionConfirmation;
  const text = fields
    .filter((name) => body[name] !== undefined)
    .map((name) => `${name}\n${String(body[name])}\n`)
    .join("");
  const digest = body["SignatureVersion"] === "1" ? "sha1" : "sha256";
  return { ...body, Signature: sign(digest, Buffer.from(text), privateKey).toString("base64") };
}

const SIGNING = { rsaBits: 2048, hostNames: ["sns.amazonaws.com"] };

export async function startSnsFake(): Promise<SnsFake> {
  const tls = createSelfSignedCertificate({ hostNames: [SNS_HOST], addresses: [] });
  const requests: string[] = [];
  const responses = new Map<string, (response: ServerResponse) => void>();
  const server = createServer({ key: tls.key, cert: tls.cert }, (request, response) => {
    requests.push(`${request.method} ${request.headers.host}${request.url}`);
    const path = (request.url ?? "").split("?")[0] ?? "";
    const answer = responses.get(path);
    if (answer !== undefined) answer(response);
    else if (path === "/") response.end("<ConfirmSubscriptionResponse/>");
    else response.writeHead(404).end();
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));

  function addReply(respond: (response: ServerResponse) => void): string {
    const path = `/SimpleNotificationService-${randomUUID().replaceAll("-", "")}.pem`;
    responses.set(path, respond);
    return `https://${SNS_HOST}${path}`;
  }
  function addCertificate(options: CertificateOptions) {
    const { key, cert } = createSelfSignedCertificate({ ...SIGNING, ...options });
    const url = addReply((response) => response.end(cert));
    return { url, sign: (body: SnsBody) => signSns({ ...body, SigningCertURL: url }, key) };
  }
  const good = addCertificate({});
  const base = (Type: string): SnsBody => ({
    Type,
    MessageId: randomUUID(),
    TopicArn: SNS_TOPIC,
    Timestamp: new Date().toISOString(),
    SignatureVersion: "2",
    SigningCertURL: good.url,
  });

  return {
    instead: { host: "127.0.0.1", port: (server.address() as AddressInfo).port, ca: tls.cert },
    requests,
    certificateUrl: good.url,
    addCertificate,
    addReply,
    notification(message, over = {}) {
      const Message = typeof message === "string" ? message : JSON.stringify(message);
      const body = { ...base("Notification"), Message, ...over };
      return { ...good.sign(body), ...("SigningCertURL" in over ? over : {}) };
    },
    confirmation(over = {}) {
      const Token = "0123456789abcdef".repeat(8);
      const SubscribeURL = `https://${SNS_HOST}/?Action=ConfirmSubscription&TopicArn=${SNS_TOPIC}&Token=${Token}`;
      const said = { Message: "You have chosen to subscribe.", Token, SubscribeURL };
      return good.sign({ ...base("SubscriptionConfirmation"), ...said, ...over });
    },
    async close() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
