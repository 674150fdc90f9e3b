// HTTP routes for the pixel and links. Responses don't reveal whether a token is valid and never wait for counting.
import * as contract from "@postloft/contract/tracking.ts";
import { now } from "../../platform/clock.ts";
import { ok, route, type HttpResponse, type Call, type Route } from "../../platform/http/route.ts";
import { PIXEL_NUMBER } from "../../rendering/link-target.ts";
import { NOT_FOUND_PAGE, PAGE_HEADERS, PIXEL, PIXEL_HEADERS, UNAVAILABLE_PAGE } from "./responses.ts";
import type { TrackingEndpoint } from "./tracking-endpoint.ts";

const RETRY_AFTER_SECONDS = 5;

export function trackingRoutes({ tokens, follow, book }: TrackingEndpoint): Route[] {
  return [
    route(contract.openPixel, async (call) => {
      const mail = call.method === "HEAD" ? null : tokens.readPixel(call.params.token);
      if (mail !== null)
        book.note({
          ...mail,
          ...visitorOf(call),
          kind: "open",
          number: PIXEL_NUMBER,
          link: null,
          at: now(),
        });
      return { ...ok(PIXEL), headers: PIXEL_HEADERS };
    }),
    route(contract.followLink, async (call) => {
      const followed = await follow(call.params.token, call.query.u);
      if (followed.kind !== "found") return errorOf(followed.kind);
      const { projectId, emailId, number } = followed.link;
      if (call.method !== "HEAD")
        book.note({
          projectId,
          emailId,
          ...visitorOf(call),
          kind: "click",
          number,
          link: followed.target,
          at: now(),
        });
      return { status: 302, body: null, headers: { location: followed.location } } as const;
    }),
  ];
}

function errorOf(kind: "unknown" | "unavailable"): HttpResponse<404 | 503, string> {
  if (kind === "unknown") return { status: 404, body: NOT_FOUND_PAGE, headers: PAGE_HEADERS };
  const headers = { ...PAGE_HEADERS, "retry-after": String(RETRY_AFTER_SECONDS) };
  return { status: 503, body: UNAVAILABLE_PAGE, headers };
}

function visitorOf({ headers }: Pick<Call, "headers">): { userAgent: string; purpose: string } {
  const purposes = [headers["sec-purpose"], headers["purpose"], headers["x-purpose"], headers["x-moz"]];
  return { userAgent: headers["user-agent"] ?? "", purpose: purposes.flat().filter(Boolean).join(" ") };
}
