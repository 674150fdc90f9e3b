// What other services tell us (spec §4.15). Not called by users of the API.
// Before it: endpoint.ts. After it: server/src/deliveries/routes.ts.
import { z } from "zod";
import { endpoint } from "./endpoint.ts";
import { LIMITS } from "./limits.ts";

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
