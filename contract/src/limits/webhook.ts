// The limits of outgoing webhooks.
import { limit, type Limit } from "./limit.ts";

export const WEBHOOK_LIMITS = {
  linkDomainChanges: limit(20, "per day", "Calls of `PUT /link-domain` per project."),
  webhookHeaders: limit(20, "headers", "Headers per outgoing webhook."),
  webhookHeaderLength: limit(998, "characters", "The value of a header of an outgoing webhook."),
  webhookMs: limit(
    10_000,
    "milliseconds",
    "Duration of one attempt of an outgoing webhook, from the DNS query to the end of the response.",
  ),
  webhookAnswerBytes: limit(
    64 * 1024,
    "bytes",
    "Maximum size read of the response to an outgoing webhook; the rest is cut off.",
  ),
  webhookRetries: limit(
    5,
    "retries",
    "Retries of an outgoing webhook, after 5 s, 30 s, 2 min, 10 min and 45 min.",
  ),
  webhookLongestWait: limit(
    45 * 60,
    "seconds",
    "Maximum wait that an endpoint can request with `Retry-After`.",
  ),
  webhookCalls: limit(32, "calls", "Concurrent outgoing webhooks per process."),
  webhookCallsPerProject: limit(4, "calls", "Concurrent outgoing webhooks per project."),
  webhookCallsKept: limit(8, "calls", "Concurrent calls reserved for projects without a running call."),
  webhookDays: limit(7, "days", "Retention of completed outgoing webhooks."),
  notificationCalls: limit(20, "calls", "Listed calls of a member's webhook."),
  webhookTests: limit(
    60,
    "calls per project and hour",
    "Test calls of members' webhooks; beyond that, 429 until the window ends.",
  ),
  webhookFailuresInARow: limit(
    5,
    "contacts",
    "Contacts for which a webhook of a workflow fails, without a success in between, before the workflow pauses.",
  ),
  webhookSecretHours: limit(
    24,
    "hours",
    "Time during which webhooks are also signed with the previous secret, after `POST /webhooks/secret/rotate`.",
  ),
} as const satisfies Record<string, Limit>;
