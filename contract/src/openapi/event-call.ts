// Describes the call that webhook endpoints receive, for the `webhooks` section of the OpenAPI document.
import { LIMITS } from "../limits/limits.ts";
import { RESPONSE_EXAMPLES } from "./response-examples.ts";

const HEADERS: Readonly<Record<string, string>> = {
  "webhook-id": "The `id` of the event, the same in all attempts.",
  "webhook-timestamp": "The time of this attempt, in seconds since 1970.",
  "webhook-signature":
    "`v1,` and the signature in base64, according to Standard Webhooks. After a rotation there are two, separated by a space.",
};

/** Returns the call with one event. The component `NumberedEvent` is its body. */
export function eventCall(tag: string) {
  const { events } = RESPONSE_EXAMPLES["events.stream"] as { events: readonly unknown[] };
  return {
    post: {
      operationId: "webhooks.event",
      tags: [tag],
      summary: "An event, sent to a webhook endpoint",
      description: `Sent for each event that matches the types of the endpoint, at least once. A call without a 2xx response is repeated for ${LIMITS.eventRetryDays.value} days.`,
      security: [],
      parameters: Object.entries(HEADERS).map(([name, description]) => ({
        name,
        in: "header",
        required: true,
        description,
        schema: { type: "string" },
      })),
      requestBody: {
        required: true,
        content: {
          "application/json": { schema: { $ref: "#/components/schemas/NumberedEvent" }, example: events[0] },
        },
      },
      responses: {
        "2XX": {
          description: `Any 2xx status within ${LIMITS.webhookMs.value / 1000} seconds accepts the event.`,
        },
      },
    },
  };
}
