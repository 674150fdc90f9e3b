// Describes the call that webhook endpoints receive, for the `webhooks` section of the OpenAPI document.
import { LIMITS } from "../limits/limits.ts";
import { RESPONSE_EXAMPLES } from "./response-examples.ts";

const HEADERS: Readonly<Record<string, string>> = {
  "webhook-id": "The `id` of the event, the same in all attempts. The id of a batch depends on its events.",
  "webhook-timestamp": "The time of this attempt, in seconds since 1970.",
  "webhook-signature":
    "`v1,` and the signature in base64, according to Standard Webhooks. After a rotation there are two, separated by a space.",
};

const EVENT = { $ref: "#/components/schemas/NumberedEvent" };

/** Returns the calls with one event and with a batch. */
export function eventCalls(tag: string) {
  const { events } = RESPONSE_EXAMPLES["events.stream"] as { events: readonly unknown[] };
  const list = { type: "array", minItems: 1, maxItems: LIMITS.eventBatch.value, items: EVENT };
  return {
    event: describeCall(tag, {
      operationId: "webhooks.event",
      summary: "An event, sent to a webhook endpoint",
      content: { schema: EVENT, example: events[0] },
    }),
    eventBatch: describeCall(tag, {
      operationId: "webhooks.eventBatch",
      summary: "A batch of events, sent to a webhook endpoint with a `batchSize` above 1",
      content: {
        schema: { type: "object", required: ["events"], properties: { events: list } },
        example: { events: events.slice(0, 1) },
      },
    }),
  };
}

interface DescribedCall {
  operationId: string;
  summary: string;
  content: object;
}

function describeCall(tag: string, { operationId, summary, content }: DescribedCall) {
  return {
    post: {
      operationId,
      tags: [tag],
      summary,
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
        content: { "application/json": content },
      },
      responses: {
        "2XX": {
          description: `Any 2xx status within ${LIMITS.webhookMs.value / 1000} seconds accepts the event.`,
        },
      },
    },
  };
}
