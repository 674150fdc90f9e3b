// Endpoints for incoming notifications (spec §4.15) and for the secret that signs outgoing webhooks (decisions §9).
import { z } from "zod";
import { endpoint } from "./endpoint.ts";
import { LIMITS } from "./limits/limits.ts";

const text = z.string();

export const receiveSns = endpoint({
  name: "webhooks.sns",
  method: "POST",
  path: "/webhooks/sns",
  summary: "Take a notification of Amazon SNS about mail sent through SES",
  description:
    "Called by Amazon SNS, with `Content-Type: text/plain`. The signature is checked, and only topics in the setting " +
    "`SNS_TOPIC_ARNS` are heard; their subscriptions are confirmed. What is refused is always refused with the same 403. " +
    "A notification is kept before it is answered and interpreted afterwards; a repeated one changes nothing.",
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
  answers: { 200: z.object({ success: z.literal(true) }) },
  errors: ["FORBIDDEN"],
});

const secret = z.object({
  secret: z.string().describe("`whsec_` and the key in base64, as libraries for Standard Webhooks take it."),
});

export const getWebhookSecret = endpoint({
  name: "webhooks.secret",
  method: "GET",
  path: "/webhooks/secret",
  summary: "Read the secret that signs outgoing webhooks",
  description:
    "One a project; it is made when it is asked for or needed first. Webhooks are signed as Standard Webhooks say: see `docs/webhooks.md`. A scoped key needs `secrets:read`.",
  caller: "project",
  leastRole: "ADMIN",
  isSecret: true,
  answers: { 200: secret },
});

export const rotateWebhookSecret = endpoint({
  name: "webhooks.rotateSecret",
  method: "POST",
  path: "/webhooks/secret/rotate",
  summary: "Replace the secret that signs outgoing webhooks",
  description: `For ${LIMITS.webhookSecretHours.value} hours webhooks carry two signatures, of the new secret and of the one before, so that an endpoint may change over at any time. A second rotation within that time ends the first of the three.`,
  caller: "project",
  leastRole: "ADMIN",
  isSecret: true,
  answers: { 200: secret },
  errors: ["FORBIDDEN", "PROJECT_DISABLED"],
});
