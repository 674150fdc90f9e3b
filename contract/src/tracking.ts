// The open pixel and tracked links of emails. Responses are pages and images for browsers, never API errors.
import { z } from "zod";
import { endpoint } from "./endpoint.ts";
import { jsonSchemas } from "./field.ts";

const html = z.string();

export const openPixel = endpoint({
  name: "tracking.open",
  method: "GET",
  path: "/o/:token",
  summary: "Return the tracking pixel of an email, a transparent GIF",
  description:
    "Always the same 43 bytes, even for an unknown token. Tokens end in `.gif`. Loads by machines (privacy proxies, prefetching) are counted separately from opens by people.",
  caller: "anyone",
  params: z.object({
    token: z.string().describe("The token from the email, which identifies only the email."),
  }),
  envelope: "page",
  contentType: "image/gif",
  responses: { 200: z.string() },
});

export const followLink = endpoint({
  name: "tracking.click",
  method: "GET",
  path: "/c/:token",
  summary: "Follow a tracked link to its target",
  description:
    "Redirects only to addresses from the email; anything else returns the same page. `HEAD` returns the same response and is not counted. Works as long as the email is kept, even after its contact was deleted or tracking was turned off; in these cases nothing is counted.",
  caller: "anyone",
  params: z.object({
    token: z.string().describe("The token from the email, which identifies the email and the link."),
  }),
  query: z.object({
    u: z
      .unknown()
      .optional()
      .register(jsonSchemas, {
        jsonSchema: {
          type: "string",
          description: "For a link with variables, its target, which is signed in the token.",
        },
      }),
  }),
  envelope: "page",
  responses: { 302: null, 404: html, 503: html },
});
