// Endpoints of webhook endpoints, which receive the events of a project (docs/decisions/0129-event-deliveries.md).
import { z } from "zod";
import { domainOf, localPartOf, parseDomain } from "./address.ts";
import { emailTag } from "./email-labels.ts";
import { endpoint } from "./endpoint.ts";
import { instant, issue, pathId } from "./field.ts";
import { LIMITS } from "./limits/limits.ts";

/** A name without `*`, a beginning with `.*`, or `*`. */
const EVENT_TYPE = /^(?:[^*]+|[^*]+\.\*|\*)$/;

const eventType = z
  .string()
  .trim()
  .min(1)
  .max(LIMITS.eventNameLength.value)
  .superRefine((type, context) => {
    if (!EVENT_TYPE.test(type))
      context.addIssue(issue('Must be an event name, "email.*" or "*".', "invalid_string", type));
  });

/** An address at a domain, with `*` for any characters of the local part. */
const addressPattern = z
  .string()
  .trim()
  .toLowerCase()
  .max(LIMITS.filterTextLength.value)
  .superRefine((pattern, context) => {
    const domain = parseDomain(domainOf(pattern));
    if (localPartOf(pattern) === "" || !domain.ok || domain.domain !== domainOf(pattern))
      context.addIssue(
        issue(
          'Must be an address, with "*" only before the @, such as "orders+*@in.example.com".',
          "invalid_string",
          pattern,
        ),
      );
  });

const settings = {
  url: z
    .string()
    .min(1)
    .describe("Must lead to the public internet. Credentials in it are encrypted and shown as a mask."),
  description: z.string().trim().max(LIMITS.descriptionLength.value).nullable().optional(),
  eventTypes: z
    .array(eventType)
    .min(1)
    .max(LIMITS.webhookEventTypes.value)
    .describe("Names of events, beginnings such as `email.*`, or `*` for all."),
  ordered: z
    .boolean()
    .optional()
    .describe(
      "Whether each event waits until the endpoint has accepted all earlier ones. One call runs at a time. Default: false.",
    ),
  tags: z
    .array(emailTag)
    .min(1)
    .max(LIMITS.emailTags.value)
    .nullable()
    .optional()
    .describe(
      "Sends only events of emails with one of these tags, and no events without an email. null, the default, sends all events.",
    ),
  addresses: z
    .array(addressPattern)
    .min(1)
    .max(LIMITS.webhookAddresses.value)
    .nullable()
    .optional()
    .describe(
      "Sends `email.received` only for emails to one of these addresses. Without `tags` it sends no other events. `*` stands for any characters before the @, as in `orders+*@in.example.com`. null, the default, sends all events.",
    ),
  batchSize: z
    .int()
    .min(1)
    .max(LIMITS.eventBatch.value)
    .optional()
    .describe(
      "The most events in one call. With 1, the default, the body is the event. With more, the body is an object with the list `events`, even for a single event.",
    ),
  callsPerSecond: z
    .int()
    .min(1)
    .max(LIMITS.endpointRate.value)
    .nullable()
    .optional()
    .describe("The most calls per second. null, the default, sets no limit."),
  enabled: z
    .boolean()
    .optional()
    .describe("Default: true. A disabled endpoint gets the waiting events when it is enabled again."),
};

const webhookEndpoint = z.object({
  id: z.uuid(),
  url: z.string(),
  description: z.string().nullable(),
  eventTypes: z.array(z.string()),
  ordered: z.boolean(),
  tags: z.array(z.string()).nullable(),
  addresses: z.array(z.string()).nullable(),
  batchSize: z.int(),
  callsPerSecond: z.int().nullable(),
  enabled: z.boolean(),
  disabledReason: z.string().nullable().describe("Why it was disabled automatically."),
  failingSince: instant.nullable().describe("The first failed call since the last successful one."),
  position: z
    .int()
    .describe("Events up to this number are prepared for the endpoint, or are of other types."),
  createdAt: instant,
  updatedAt: instant,
});
const withSecret = webhookEndpoint.extend({
  secret: z.string().describe("`whsec_` and the key in base64. It is shown only here."),
});
const byId = z.object({ id: pathId });

export const listWebhookEndpoints = endpoint({
  name: "webhooks.listEndpoints",
  method: "GET",
  path: "/webhooks/endpoints",
  summary: "List webhook endpoints, oldest first",
  description: `A project can have up to ${LIMITS.webhookEndpoints.value}. See \`docs/event-stream.md\`.`,
  caller: "project",
  responses: { 200: z.object({ data: z.array(webhookEndpoint) }) },
});

export const createWebhookEndpoint = endpoint({
  name: "webhooks.createEndpoint",
  method: "POST",
  path: "/webhooks/endpoints",
  summary: "Add a webhook endpoint",
  description:
    "Postloft calls the URL with each matching event from now on, in the format of `GET /events/stream`. Calls are signed according to Standard Webhooks with the secret of the endpoint, which is in this response only. A scoped key needs `secrets:write`.",
  caller: "project",
  leastRole: "ADMIN",
  isSecret: true,
  body: z.object(settings),
  unknownFields: "refused",
  responses: { 201: withSecret },
  errors: ["FORBIDDEN", "CONFLICT", "PROJECT_DISABLED"],
});

export const updateWebhookEndpoint = endpoint({
  name: "webhooks.updateEndpoint",
  method: "PATCH",
  path: "/webhooks/endpoints/:id",
  summary: "Change, disable or enable a webhook endpoint",
  description:
    "Only the given fields change. New event types apply to events that are not prepared yet. Enabling an endpoint that was disabled automatically sends all waiting events immediately.",
  caller: "project",
  leastRole: "ADMIN",
  params: byId,
  body: z.object({
    ...settings,
    url: settings.url.optional(),
    eventTypes: settings.eventTypes.optional(),
  }),
  unknownFields: "refused",
  responses: { 200: webhookEndpoint },
  errors: ["FORBIDDEN", "RESOURCE_NOT_FOUND", "PROJECT_DISABLED"],
});

export const deleteWebhookEndpoint = endpoint({
  name: "webhooks.deleteEndpoint",
  method: "DELETE",
  path: "/webhooks/endpoints/:id",
  summary: "Delete a webhook endpoint",
  description: "Its waiting events are not delivered. They stay in the stream.",
  caller: "project",
  leastRole: "ADMIN",
  params: byId,
  responses: { 204: null },
  errors: ["FORBIDDEN", "RESOURCE_NOT_FOUND", "PROJECT_DISABLED"],
});

export const rotateEndpointSecret = endpoint({
  name: "webhooks.rotateEndpointSecret",
  method: "POST",
  path: "/webhooks/endpoints/:id/rotate-secret",
  summary: "Replace the secret of a webhook endpoint",
  description: `For ${LIMITS.webhookSecretHours.value} hours, calls have two signatures, with the new and the previous secret. A scoped key needs \`secrets:write\`.`,
  caller: "project",
  leastRole: "ADMIN",
  isSecret: true,
  params: byId,
  responses: { 200: withSecret },
  errors: ["FORBIDDEN", "RESOURCE_NOT_FOUND", "PROJECT_DISABLED"],
});

export const testWebhookEndpoint = endpoint({
  name: "webhooks.testEndpoint",
  method: "POST",
  path: "/webhooks/endpoints/:id/test",
  summary: "Send a test event to a webhook endpoint",
  description: `Sends an event with the type \`test\` and the number 0 once, also while the endpoint is disabled, and returns the result. Up to ${LIMITS.webhookTests.value} per hour and project.`,
  caller: "project",
  leastRole: "ADMIN",
  params: byId,
  responses: {
    200: z.object({
      status: z.int().nullable().describe("null if there was no response."),
      error: z.string().nullable().describe("The reason for the failure; null after a 2xx response."),
    }),
  },
  errors: ["FORBIDDEN", "RESOURCE_NOT_FOUND", "RATE_LIMIT_EXCEEDED", "PROJECT_DISABLED"],
});

export const WEBHOOK_ENDPOINT_ENDPOINTS = [
  listWebhookEndpoints,
  createWebhookEndpoint,
  updateWebhookEndpoint,
  deleteWebhookEndpoint,
  rotateEndpointSecret,
  testWebhookEndpoint,
] as const;
