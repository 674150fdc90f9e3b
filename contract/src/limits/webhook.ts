// The bounds of outgoing webhooks.
import { limit, type Limit } from "./limit.ts";

export const WEBHOOK_LIMITS = {
  webhookHeaders: limit(20, "headers", "Headers of one outgoing webhook."),
  webhookHeaderLength: limit(998, "characters", "The value of a header of an outgoing webhook."),
  webhookMs: limit(
    10_000,
    "milliseconds",
    "One try of an outgoing webhook, from the question to DNS to the end of the answer.",
  ),
  webhookAnswerBytes: limit(
    64 * 1024,
    "bytes",
    "What is read of the answer to an outgoing webhook; the rest is cut off.",
  ),
  webhookRetries: limit(
    5,
    "retries",
    "Tries of an outgoing webhook after the first: after 5 s, 30 s, 2 min, 10 min and 45 min.",
  ),
  webhookLongestWait: limit(
    45 * 60,
    "seconds",
    "The longest wait that `Retry-After` of an endpoint asks for.",
  ),
  webhookCalls: limit(32, "calls", "Outgoing webhooks that one process calls at once."),
  webhookCallsPerProject: limit(4, "calls", "Of these, so many of one project."),
  webhookCallsKept: limit(8, "calls", "Of these, places for projects that have no call under way."),
  webhookDays: limit(7, "days", "How long an outgoing webhook that ended is kept."),
  notificationCalls: limit(20, "calls", "Calls of a member's webhook that are shown."),
  webhookTests: limit(
    60,
    "calls per project and hour",
    "Calls by which members try their webhooks out; after that 429 until the window ends.",
  ),
  webhookSecretHours: limit(
    24,
    "hours",
    "How long webhooks are also signed with the secret from before `POST /webhooks/secret/rotate`.",
  ),
} as const satisfies Record<string, Limit>;
