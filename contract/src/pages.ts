// Public pages that recipients open from an email: unsubscribe, subscribe, manage (decisions §12; RFC 8058).
import { z } from "zod";
import { endpoint } from "./endpoint.ts";
import { LIMITS } from "./limits/limits.ts";

const byToken = z.object({
  token: z
    .string()
    .describe(
      "The token from the link. It contains the page, the project, the email and the address in unreadable form.",
    ),
});
const html = z.string();

const HOW_OFTEN = `Unsubscribing always works. Subscribing works ${LIMITS.subscriptionChanges.value} times an hour, and ${LIMITS.networkSubscriptions.value} times from one network. Beyond that the page returns 429 with \`Retry-After\`.`;
const CHANGES_NOTHING = "Opening the link changes nothing, no matter how often or by which program.";

export const showUnsubscribePage = endpoint({
  name: "pages.showUnsubscribe",
  method: "GET",
  path: "/unsubscribe/:token",
  summary: "Show the page to unsubscribe",
  description: CHANGES_NOTHING,
  caller: "anyone",
  params: byToken,
  envelope: "page",
  responses: { 200: html, 404: html, 503: html },
});

export const unsubscribe = endpoint({
  name: "pages.unsubscribe",
  method: "POST",
  path: "/unsubscribe/:token",
  summary: "Unsubscribe with the page's button or with one click in an email program (RFC 8058)",
  description:
    "Needs no cookie or key, because the token is the authorization. Acts on the address the email was sent to, and on its current or next contact. Repeating it changes nothing. A form without an action returns 422 with the page.",
  caller: "anyone",
  params: byToken,
  body: z.object({
    "List-Unsubscribe": z.string().optional().describe("`One-Click`, as sent by an email program."),
    action: z.string().optional().describe("`unsubscribe`, as sent by the button on the page."),
  }),
  bodyLimitBytes: LIMITS.formBytes.value,
  envelope: "page",
  responses: { 200: html, 404: html, 422: html, 503: html },
});

export const showSubscribePage = endpoint({
  name: "pages.showSubscribe",
  method: "GET",
  path: "/subscribe/:token",
  summary: "Show the page to subscribe",
  description: CHANGES_NOTHING,
  caller: "anyone",
  params: byToken,
  envelope: "page",
  responses: { 200: html, 404: html, 503: html },
});

export const subscribe = endpoint({
  name: "pages.subscribe",
  method: "POST",
  path: "/subscribe/:token",
  summary: "Subscribe with the page's button",
  description: `The form of \`GET /subscribe/:token\` posts here. ${HOW_OFTEN}`,
  caller: "anyone",
  params: byToken,
  body: z.object({
    action: z.string().optional().describe("`subscribe`, as sent by the button on the page."),
  }),
  bodyLimitBytes: LIMITS.formBytes.value,
  envelope: "page",
  responses: { 200: html, 404: html, 422: html, 429: html, 503: html },
});

export const showManagePage = endpoint({
  name: "pages.showManage",
  method: "GET",
  path: "/manage/:token",
  summary: "Show the page with the subscription",
  description: CHANGES_NOTHING,
  caller: "anyone",
  params: byToken,
  envelope: "page",
  responses: { 200: html, 404: html, 503: html },
});

export const manage = endpoint({
  name: "pages.manage",
  method: "POST",
  path: "/manage/:token",
  summary: "Subscribe or unsubscribe with the page's button",
  description: `The form of \`GET /manage/:token\` posts here. ${HOW_OFTEN}`,
  caller: "anyone",
  params: byToken,
  body: z.object({
    action: z
      .string()
      .optional()
      .describe("`subscribe` or `unsubscribe`, as sent by the button on the page."),
  }),
  bodyLimitBytes: LIMITS.formBytes.value,
  envelope: "page",
  responses: { 200: html, 404: html, 422: html, 429: html, 503: html },
});
