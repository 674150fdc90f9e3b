// Endpoints for incoming notifications (spec §4.15) and for the signing secret of outgoing webhooks (decisions §9).
import { z } from "zod";
import { endpoint } from "./endpoint.ts";
import { LIMITS } from "./limits/limits.ts";

const text = z.string();

export const receiveSns = endpoint({
  name: "webhooks.sns",
  method: "POST",
  path: "/webhooks/sns",
  summary: "Receive an Amazon SNS notification about email sent through SES",
  description:
    "Called by Amazon SNS, with `Content-Type: text/plain`. The signature is verified. Only topics in the setting " +
    "`SNS_TOPIC_ARNS` are accepted, and their subscriptions are confirmed. All rejections return the same 403. " +
    "A notification is stored before the response and processed afterwards; a repeated one changes nothing.",
  caller: "anyone",
  body: z.object({
    Type: text,
    MessageId: text.min(1).max(200),
    TopicArn: text,
    Message: text,
    Timestamp: z.iso.datetime(),
    Subject: text.nullish(),
    Token: text.optional(),
    SubscribeURL: text.optional(),
    SignatureVersion: text.optional(),
    Signature: text.optional(),
    SigningCertURL: text.optional(),
  }),
  bodyKind: "text-json",
  bodyLimitBytes: LIMITS.webhookBytes.value,
  responses: { 200: z.object({ success: z.literal(true) }) },
  errors: ["FORBIDDEN"],
});

const secret = z.object({
  secret: z.string().describe("`whsec_` and the key in base64, as expected by Standard Webhooks libraries."),
});

export const getWebhookSecret = endpoint({
  name: "webhooks.secret",
  method: "GET",
  path: "/webhooks/secret",
  summary: "Read the secret that signs outgoing webhooks",
  description:
    "One per project, created on first use. Webhooks are signed according to Standard Webhooks, see `docs/webhooks.md`. A scoped key needs `secrets:read`.",
  caller: "project",
  leastRole: "ADMIN",
  isSecret: true,
  responses: { 200: secret },
});

export const rotateWebhookSecret = endpoint({
  name: "webhooks.rotateSecret",
  method: "POST",
  path: "/webhooks/secret/rotate",
  summary: "Replace the secret that signs outgoing webhooks",
  description: `For ${LIMITS.webhookSecretHours.value} hours, webhooks have two signatures, with the new and the previous secret, so that endpoints can switch at any time. A second rotation within that time invalidates the oldest of the three.`,
  caller: "project",
  leastRole: "ADMIN",
  isSecret: true,
  responses: { 200: secret },
  errors: ["FORBIDDEN", "PROJECT_DISABLED"],
});
