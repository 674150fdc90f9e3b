// Endpoints for the deliveries of webhook endpoints: list, read, resend and replay (docs/decisions/0129-event-deliveries.md).
import { z } from "zod";
import { endpoint } from "./endpoint.ts";
import { LARGEST_NUMBER, numberedEvent } from "./event-stream.ts";
import { cursorList, inputInstant, instant, issue, pageQuery, pathId } from "./field.ts";
import { LIMITS } from "./limits/limits.ts";

const DELIVERY_STATES = ["waiting", "done", "failed"] as const;

const delivery = z.object({
  id: z.uuid(),
  number: z.int().describe("The number of the event."),
  type: z.string(),
  state: z
    .enum(DELIVERY_STATES)
    .describe(
      "`waiting`: an attempt is pending or running. `done`: the endpoint accepted the event. `failed`: it is not sent again unless you resend it.",
    ),
  tries: z.int().describe("Finished attempts, from the beginning or since you resent the event."),
  nextTryAt: instant
    .nullable()
    .describe("While a call runs, the time at which it would be repeated if its process crashed."),
  status: z.int().nullable().describe("Response status of the last attempt; null if there was no response."),
  error: z.string().nullable().describe("The reason why the last attempt failed."),
  durationMs: z.int().nullable().describe("Duration of the last attempt."),
  createdAt: instant,
  endedAt: instant.nullable(),
});
const deliveryDetail = delivery.extend({
  request: z.object({ method: z.literal("POST"), url: z.string(), body: numberedEvent }),
  responseBody: z
    .string()
    .nullable()
    .describe(
      `The beginning of the last response, up to ${LIMITS.eventResponseLength.value} characters. Null without a response, and after the contact was deleted.`,
    ),
});
const ofEndpoint = z.object({ id: pathId });
const byId = z.object({ id: pathId, deliveryId: pathId });

export const listDeliveries = endpoint({
  name: "webhooks.listDeliveries",
  method: "GET",
  path: "/webhooks/endpoints/:id/deliveries",
  summary: "List the deliveries of a webhook endpoint, newest first",
  description: `Deliveries that have ended are kept for ${LIMITS.eventDeliveryDays.value} days.`,
  caller: "project",
  params: ofEndpoint,
  query: pageQuery.extend({ state: z.enum(DELIVERY_STATES).optional() }),
  responses: { 200: cursorList(delivery).omit({ total: true }) },
  errors: ["RESOURCE_NOT_FOUND"],
});

export const getDelivery = endpoint({
  name: "webhooks.getDelivery",
  method: "GET",
  path: "/webhooks/endpoints/:id/deliveries/:deliveryId",
  summary: "Read one delivery with its request and response",
  description: "The request and the response are those of the last attempt.",
  caller: "project",
  params: byId,
  responses: { 200: deliveryDetail },
  errors: ["RESOURCE_NOT_FOUND"],
});

export const resendDelivery = endpoint({
  name: "webhooks.resendDelivery",
  method: "POST",
  path: "/webhooks/endpoints/:id/deliveries/:deliveryId/resend",
  summary: "Send an event to a webhook endpoint again",
  description:
    "Sends the event now, also if it was accepted before, and starts the retries from the beginning. Does nothing while a call of this delivery runs. A disabled endpoint gets the event when it is enabled.",
  caller: "project",
  leastRole: "ADMIN",
  params: byId,
  responses: { 200: deliveryDetail },
  errors: ["FORBIDDEN", "RESOURCE_NOT_FOUND", "PROJECT_DISABLED"],
});

export const resendFailed = endpoint({
  name: "webhooks.resendFailed",
  method: "POST",
  path: "/webhooks/endpoints/:id/resend-failed",
  summary: "Send all failed events to a webhook endpoint again",
  description: `Resends up to ${LIMITS.waitingDeliveries.value} failed deliveries, oldest first. If \`hasMore\` is true, call again.`,
  caller: "project",
  leastRole: "ADMIN",
  params: ofEndpoint,
  responses: { 200: z.object({ resent: z.int(), hasMore: z.boolean() }) },
  errors: ["FORBIDDEN", "RESOURCE_NOT_FOUND", "PROJECT_DISABLED"],
});

export const replayEvents = endpoint({
  name: "webhooks.replay",
  method: "POST",
  path: "/webhooks/endpoints/:id/replay",
  summary: "Send events to a webhook endpoint again from a number or a time",
  description: `Delivers all events above the number \`after\`, or since a time, that match the event types of the endpoint. The first one has \`previous\` set to that number. Events are kept for ${LIMITS.eventLogDays.value} days; a number before the first kept event fails and names it. Events that still wait are part of the replay, and none is skipped.`,
  caller: "project",
  leastRole: "ADMIN",
  params: ofEndpoint,
  body: z
    .object({
      after: z.int().min(0).max(LARGEST_NUMBER).optional(),
      since: inputInstant
        .optional()
        .describe(
          "Begins with the first kept event of this time, and may include events of the minute before.",
        ),
    })
    .superRefine(({ after, since }, check) => {
      if (after === undefined && since === undefined)
        check.addIssue(issue("Required unless there is `since`.", "required", undefined, ["after"]));
      if (after !== undefined && since !== undefined)
        check.addIssue(issue("Send either `after` or `since`.", "custom", since, ["since"]));
    }),
  unknownFields: "refused",
  responses: {
    200: z.object({
      after: z.int().describe("The replay begins after this number."),
      lastNumber: z.int().describe("The last number of the project."),
    }),
  },
  errors: ["FORBIDDEN", "RESOURCE_NOT_FOUND", "PROJECT_DISABLED"],
});

export const WEBHOOK_DELIVERY_ENDPOINTS = [
  listDeliveries,
  getDelivery,
  resendDelivery,
  resendFailed,
  replayEvents,
] as const;
