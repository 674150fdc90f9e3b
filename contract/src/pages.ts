// The public pages a recipient opens from a mail: unsubscribe, subscribe, manage (decisions §12; RFC 8058).
import { z } from "zod";
import { endpoint } from "./endpoint.ts";
import { LIMITS } from "./limits/limits.ts";

const byToken = z.object({
  token: z
    .string()
    .describe(
      "As it stands in the link; names the page, the project, the email and the address, which nobody can read from it.",
    ),
});
const html = z.string();

const HOW_OFTEN = `Unsubscribing always works, subscribing ${LIMITS.subscriptionChanges.value} times an hour, and from one network ${LIMITS.networkSubscriptions.value} times; then the page says 429 with \`Retry-After\`.`;
const CHANGES_NOTHING = "Looking changes nothing, however often and by whomever the link is opened.";

export const showUnsubscribePage = endpoint({
  name: "pages.showUnsubscribe",
  method: "GET",
  path: "/unsubscribe/:token",
  summary: "Page that asks whether to unsubscribe",
  description: CHANGES_NOTHING,
  caller: "anyone",
  params: byToken,
  envelope: "page",
  answers: { 200: html, 404: html, 503: html },
});

export const unsubscribe = endpoint({
  name: "pages.unsubscribe",
  method: "POST",
  path: "/unsubscribe/:token",
  summary: "Unsubscribe, by the page's button or by one click in a mail program (RFC 8058)",
  description:
    "Needs no cookie and no key: the token is the right to do it. Acts on the address that the mail was sent to: on the contact that has it now, or on whichever contact gets it next. Doing it again changes nothing more. A form that asks for nothing is answered 422 with the page.",
  caller: "anyone",
  params: byToken,
  body: z.object({
    "List-Unsubscribe": z.string().optional().describe("`One-Click`, as a mail program sends it."),
    action: z.string().optional().describe("`unsubscribe`, as the button on the page sends it."),
  }),
  bodyLimitBytes: LIMITS.formBytes.value,
  envelope: "page",
  answers: { 200: html, 404: html, 422: html, 503: html },
});

export const showSubscribePage = endpoint({
  name: "pages.showSubscribe",
  method: "GET",
  path: "/subscribe/:token",
  summary: "Page that asks whether to subscribe",
  description: CHANGES_NOTHING,
  caller: "anyone",
  params: byToken,
  envelope: "page",
  answers: { 200: html, 404: html, 503: html },
});

export const subscribe = endpoint({
  name: "pages.subscribe",
  method: "POST",
  path: "/subscribe/:token",
  summary: "Subscribe, by the page's button",
  description: `The form of \`GET /subscribe/:token\` posts here. ${HOW_OFTEN}`,
  caller: "anyone",
  params: byToken,
  body: z.object({
    action: z.string().optional().describe("`subscribe`, as the button on the page sends it."),
  }),
  bodyLimitBytes: LIMITS.formBytes.value,
  envelope: "page",
  answers: { 200: html, 404: html, 422: html, 429: html, 503: html },
});

export const showManagePage = endpoint({
  name: "pages.showManage",
  method: "GET",
  path: "/manage/:token",
  summary: "Page that shows the subscription",
  description: CHANGES_NOTHING,
  caller: "anyone",
  params: byToken,
  envelope: "page",
  answers: { 200: html, 404: html, 503: html },
});

export const manage = endpoint({
  name: "pages.manage",
  method: "POST",
  path: "/manage/:token",
  summary: "Subscribe or unsubscribe, by the page's button",
  description: `The form of \`GET /manage/:token\` posts here. ${HOW_OFTEN}`,
  caller: "anyone",
  params: byToken,
  body: z.object({
    action: z
      .string()
      .optional()
      .describe("`subscribe` or `unsubscribe`, as the button on the page sends it."),
  }),
  bodyLimitBytes: LIMITS.formBytes.value,
  envelope: "page",
  answers: { 200: html, 404: html, 422: html, 429: html, 503: html },
});
