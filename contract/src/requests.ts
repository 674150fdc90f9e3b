// The log of recent API requests and their responses (docs/decisions/0053-request-log.md).
import { z } from "zod";
import { endpoint } from "./endpoint.ts";
import { cursorList, inputInstant, instant, pageQuery, pathId } from "./field.ts";
import { LIMITS } from "./limits/limits.ts";

const STATUS = /^[2-5](xx|\d\d)$/;
const MAX_REQUEST_ID_LENGTH = 128;
const MAX_PATH_LENGTH = 500;

const apiRequest = z.object({
  id: z.uuid(),
  requestId: z.string().describe("Same as `x-request-id` of the response."),
  at: instant,
  method: z.string(),
  path: z.string().describe("Without the query string."),
  status: z.int(),
  errorCode: z.string().nullable(),
  durationMs: z.int(),
  key: z.string().describe("`secret`, `public`, or the id of a scoped key."),
  ip: z.string().nullable(),
  userAgent: z.string().nullable(),
  leftOut: z
    .int()
    .describe(
      "Number of earlier requests in the same second that were left out, because there were too many.",
    ),
});

export const listRequests = endpoint({
  name: "requests.list",
  method: "GET",
  path: "/requests",
  summary: "List API requests, newest first",
  description:
    `Requests with an API key, kept for ${LIMITS.requestLogDays.value} days. They appear within seconds. If a project makes more than ` +
    `${LIMITS.loggedRequests.value} requests per second, the remaining ones are left out and counted in \`leftOut\`; failures have a separate limit of the same size. Requests of the dashboard and calls of this list are not included.`,
  caller: "project",
  query: pageQuery.extend({
    status: z
      .string()
      .regex(STATUS, { error: "Must be a status such as 422, or a class such as 4xx." })
      .optional(),
    method: z.enum(["GET", "POST", "PUT", "PATCH", "DELETE"]).optional(),
    path: z.string().max(MAX_PATH_LENGTH).optional().describe("Start of the path."),
    key: z.string().max(MAX_REQUEST_ID_LENGTH).optional(),
    requestId: z.string().max(MAX_REQUEST_ID_LENGTH).optional(),
    since: inputInstant.optional(),
    until: inputInstant.optional(),
  }),
  responses: { 200: cursorList(apiRequest).omit({ total: true }) },
});

export const getRequest = endpoint({
  name: "requests.get",
  method: "GET",
  path: "/requests/:id",
  summary: "Read one API request with its body and response",
  description:
    "The body without secrets and personal data. Addresses keep only their domain, texts are replaced by their length, and most numbers by a placeholder. `data` keeps only names and types. Null if the body was not JSON or was larger than 16 KB. The response is redacted in the same way, with ids, times and error messages without their values.",
  caller: "project",
  params: z.object({ id: pathId }),
  responses: { 200: apiRequest.extend({ body: z.unknown(), bodyBytes: z.int(), response: z.unknown() }) },
  errors: ["REQUEST_NOT_FOUND"],
});
