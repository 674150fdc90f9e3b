// The log of API requests: what programs asked lately, and how it was answered (docs/decisions/0053-request-log.md).
import { z } from "zod";
import { endpoint } from "./endpoint.ts";
import { cursorList, givenInstant, instant, pageQuery, pathId } from "./field.ts";
import { LIMITS } from "./limits/limits.ts";

const STATUS = /^[2-5](xx|\d\d)$/;
const MAX_REQUEST_ID_LENGTH = 128;
const MAX_PATH_LENGTH = 500;

const apiRequest = z.object({
  id: z.uuid(),
  requestId: z.string().describe("As the answer said it in `x-request-id`."),
  at: instant,
  method: z.string(),
  path: z.string().describe("Without what stands behind `?`."),
  status: z.int(),
  errorCode: z.string().nullable(),
  durationMs: z.int(),
  key: z.string().describe("`secret`, `public`, or the id of a scoped key."),
  ip: z.string().nullable(),
  userAgent: z.string().nullable(),
  leftOut: z
    .int()
    .describe(
      "So many requests of the project just before this one are not here: there were too many in their second.",
    ),
});

export const listRequests = endpoint({
  name: "requests.list",
  method: "GET",
  path: "/requests",
  summary: "List what programs asked of the API, newest first",
  description:
    `Requests with an API key, kept for ${LIMITS.requestLogDays.value} days. They appear within seconds. Of a project that asks more than ` +
    `${LIMITS.loggedRequests.value} times a second the others are left out, and \`leftOut\` says how many; failures have as many places of their own. What a browser asks for the dashboard is not here, nor who reads this list.`,
  caller: "project",
  query: pageQuery.extend({
    status: z
      .string()
      .regex(STATUS, { error: "Must be a status such as 422, or a class such as 4xx." })
      .optional(),
    method: z.enum(["GET", "POST", "PUT", "PATCH", "DELETE"]).optional(),
    path: z.string().max(MAX_PATH_LENGTH).optional().describe("How the path begins."),
    key: z.string().max(MAX_REQUEST_ID_LENGTH).optional(),
    requestId: z.string().max(MAX_REQUEST_ID_LENGTH).optional(),
    since: givenInstant.optional(),
    until: givenInstant.optional(),
  }),
  answers: { 200: cursorList(apiRequest).omit({ total: true }) },
});

export const getRequest = endpoint({
  name: "requests.get",
  method: "GET",
  path: "/requests/:id",
  summary: "Read one API request with its body",
  description:
    "The body without what is secret or about people: addresses in fields that hold some keep their domain, texts are replaced by their length and numbers by a word but for a few that name or count things, and of `data` only the names and types are kept. Null where it was no JSON, or larger than 16 KB.",
  caller: "project",
  params: z.object({ id: pathId }),
  answers: { 200: apiRequest.extend({ body: z.unknown(), bodyBytes: z.int() }) },
  errors: ["REQUEST_NOT_FOUND"],
});
