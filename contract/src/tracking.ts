// What a mail program and a browser ask for when a mail is opened or a link in it is followed. They are answered like pages, for browsers
// and people: never with an error of the API.
import { z } from "zod";
import { endpoint } from "./endpoint.ts";
import { jsonSchemas } from "./field.ts";

const html = z.string();

export const openPixel = endpoint({
  name: "tracking.open",
  method: "GET",
  path: "/o/:token",
  summary: "The pixel of a mail: a transparent GIF that says that it was opened",
  description:
    "Always the same 43 bytes, also for a token that nobody handed out. Tokens end in `.gif`. What machines load (privacy proxies, prefetching) is counted apart from what people open.",
  caller: "anyone",
  params: z.object({
    token: z.string().describe("As it stands in the mail; names the mail and nothing else."),
  }),
  envelope: "page",
  contentType: "image/gif",
  answers: { 200: z.string() },
});

export const followLink = endpoint({
  name: "tracking.click",
  method: "GET",
  path: "/c/:token",
  summary: "A link of a mail: leads on to where the author meant it to lead",
  description:
    "Redirects to addresses that stood in the mail and to no other; for anything else there is one and the same page. A `HEAD` is answered the same way and not counted. Works for as long as the mail is in the books, also after its contact was deleted and after tracking was switched off; then nothing is counted.",
  caller: "anyone",
  params: z.object({ token: z.string().describe("As it stands in the mail; names the mail and the link.") }),
  query: z.object({
    u: z
      .unknown()
      .optional()
      .register(jsonSchemas, {
        jsonSchema: {
          type: "string",
          description: "Of a link with variables: where it leads, signed in the token.",
        },
      }),
  }),
  envelope: "page",
  answers: { 302: null, 404: html, 503: html },
});
