// Rules for Amazon SNS messages: the signed text, the certificate's location, and which subscriptions may be confirmed. Pure.
import type { z } from "zod";
import type { receiveSns } from "@postloft/contract/webhooks.ts";

export type SnsMessage = z.output<(typeof receiveSns)["body"]>;

const NOTIFICATION_FIELDS = ["Message", "MessageId", "Subject", "Timestamp", "TopicArn", "Type"] as const;
const CONFIRMATION_FIELDS = [
  "Message",
  "MessageId",
  "SubscribeURL",
  "Timestamp",
  "Token",
  "TopicArn",
  "Type",
] as const;
const CONFIRMATIONS: ReadonlySet<string> = new Set(["SubscriptionConfirmation", "UnsubscribeConfirmation"]);

export function isConfirmation({ Type }: SnsMessage): boolean {
  return CONFIRMATIONS.has(Type);
}

/** Returns the signed text (SNS developer guide, "Verifying the signatures of Amazon SNS messages"). */
export function signedText(message: SnsMessage): string {
  const fields = isConfirmation(message) ? CONFIRMATION_FIELDS : NOTIFICATION_FIELDS;
  return fields
    .flatMap((name) => {
      const value = message[name];
      return value === undefined || value === null ? [] : [`${name}\n${value}\n`];
    })
    .join("");
}

/** Version 1 uses SHA-1, and topics still use it unless they are set to version 2. */
export function digestOf({ SignatureVersion }: SnsMessage): "sha1" | "sha256" | null {
  if (SignatureVersion === "1") return "sha1";
  return SignatureVersion === "2" ? "sha256" : null;
}

const ARN = /^arn:(aws(?:-[a-z]+)*):sns:([a-z]{2,4}(?:-[a-z]+){1,2}-\d{1,2}):\d{12}:[A-Za-z0-9_.-]+$/;

/**
 * Returns the only host that may speak for a topic, by its region. A pattern alone would also accept hosts such as
 * `sns.s3-us-west-2.amazonaws.com`, where anyone can store a file (reliability case S51).
 */
export function hostOf(topicArn: string): string | null {
  const [, partition, region] = ARN.exec(topicArn) ?? [];
  if (region === undefined) return null;
  return `sns.${region}.amazonaws.com${partition === "aws-cn" ? ".cn" : ""}`;
}

const CERTIFICATE_PATH = /^\/SimpleNotificationService-[0-9a-f]{8,64}\.pem$/;

/** Compares the raw text, so that no parser can drop or repair parts of it. */
export function isCertificateUrl(text: string, host: string): boolean {
  const start = `https://${host}`;
  return text.startsWith(start) && CERTIFICATE_PATH.test(text.slice(start.length));
}

/** Returns the URL that confirms a subscription, built from topic and token. Null if the received address leads anywhere else. */
export function confirmationUrl({ SubscribeURL, TopicArn, Token }: SnsMessage, host: string): string | null {
  if (SubscribeURL === undefined || Token === undefined || !/^[A-Za-z0-9_-]{1,1000}$/.test(Token))
    return null;
  const start = `https://${host}/?`;
  if (!SubscribeURL.startsWith(start)) return null;
  const query = new URLSearchParams(SubscribeURL.slice(start.length));
  const said = [query.get("Action"), query.get("TopicArn"), query.get("Token")];
  if (said[0] !== "ConfirmSubscription" || said[1] !== TopicArn || said[2] !== Token) return null;
  const confirm = new URLSearchParams({ Action: "ConfirmSubscription", TopicArn, Token });
  return `${start}${confirm.toString()}`;
}
