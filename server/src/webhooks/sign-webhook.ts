// Signs outgoing webhooks by Standard Webhooks 1.0 (https://www.standardwebhooks.com), which is HMAC-SHA256 over id, time and body. Pure.
import { createHmac, randomBytes } from "node:crypto";

const PREFIX = "whsec_";
/** The specification requires 24 to 64. */
const SECRET_BYTES = 32;

export function makeWebhookSecret(): string {
  return `${PREFIX}${randomBytes(SECRET_BYTES).toString("base64")}`;
}

/**
 * Returns the headers that authenticate a webhook.
 *
 * @param secrets `whsec_…`, newest first, each of which adds a signature
 * @param message `id` is the same in all attempts of a call, `at` is the time of this attempt, `body` is "" without a body
 */
export function signWebhook(
  secrets: readonly string[],
  { id, at, body }: { id: string; at: Date; body: string },
): Record<"webhook-id" | "webhook-timestamp" | "webhook-signature", string> {
  const timestamp = String(Math.floor(at.getTime() / 1000));
  const signatures = secrets.map((secret) => {
    const key = Buffer.from(secret.slice(PREFIX.length), "base64");
    return `v1,${createHmac("sha256", key).update(`${id}.${timestamp}.${body}`).digest("base64")}`;
  });
  return { "webhook-id": id, "webhook-timestamp": timestamp, "webhook-signature": signatures.join(" ") };
}
