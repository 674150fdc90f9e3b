// Contents of public pages and the meaning of their forms: pure, no clock, no database.
import { isIP } from "node:net";
import type { ContactLinks, LinkPurpose } from "../links.ts";
import type { PageContent } from "./page.ts";

export interface RequestedChange {
  subscribed: boolean;
  source: "page" | "one-click";
}

export interface Form {
  action?: string | undefined;
  "List-Unsubscribe"?: string | undefined;
}

/** Returns the change that a form requests on this page, or null if the page does not offer that change. */
export function readRequestedChange(purpose: LinkPurpose, form: Form): RequestedChange | null {
  const mayUnsubscribe = purpose !== "subscribe";
  const maySubscribe = purpose !== "unsubscribe";
  // Some email clients end the form with a line break, which becomes part of the last value.
  if (purpose === "unsubscribe" && form["List-Unsubscribe"]?.trimEnd() === "One-Click")
    return { subscribed: false, source: "one-click" };
  if (mayUnsubscribe && form.action === "unsubscribe") return { subscribed: false, source: "page" };
  if (maySubscribe && form.action === "subscribe") return { subscribed: true, source: "page" };
  return null;
}

/**
 * Returns the page for a contact in its current state. The page asks for confirmation, or shows the state if there is nothing to confirm.
 * After a change it offers to undo.
 */
export function subscriptionPage(
  purpose: LinkPurpose,
  contact: { subscribed: boolean; isNews: boolean; sender: string },
  links: ContactLinks,
): PageContent {
  const { subscribed, isNews, sender } = contact;
  const action = subscribed ? "unsubscribe" : "subscribe";
  const asks = !isNews && action === purpose;
  const label = isNews && !subscribed ? "undoButton" : subscribed ? "unsubscribeButton" : "subscribeButton";
  const ofAction = subscribed ? links.unsubscribeUrl : links.subscribeUrl;
  return {
    sender,
    ...(asks ? QUESTIONS[action] : STATES[subscribed ? "subscribed" : "unsubscribed"]),
    ...(purpose === "manage" && !isNews ? { heading: "manageTitle" } : {}),
    isNews,
    // Shown when the page asks to unsubscribe or has just done so.
    note: asks === subscribed ? "accountNote" : null,
    button: {
      label,
      target: pathOf(purpose === "manage" ? links.manageUrl : ofAction),
      action,
      weight: asks ? "strong" : "quiet",
    },
    link: purpose === "manage" ? null : { label: "manageLink", target: pathOf(links.manageUrl) },
  };
}

const QUESTIONS = {
  unsubscribe: { heading: "unsubscribeTitle", text: "unsubscribeText" },
  subscribe: { heading: "subscribeTitle", text: "subscribeText" },
} as const;

const STATES = {
  subscribed: { heading: "subscribedTitle", text: "subscribedText" },
  unsubscribed: { heading: "unsubscribedTitle", text: "unsubscribedText" },
} as const;

/**
 * Returns the page for an address without a contact. The page can unsubscribe the address, so that a later contact stays unsubscribed, and
 * then offers to undo. It cannot subscribe.
 */
export function addressPage(
  purpose: LinkPurpose,
  { optedOut, isNews, sender }: { optedOut: boolean; isNews: boolean; sender: string | null },
  links: ContactLinks,
): PageContent {
  const target = (url: string) => pathOf(purpose === "manage" ? links.manageUrl : url);
  if (optedOut)
    return {
      sender,
      ...STATES.unsubscribed,
      isNews,
      note: "keptNote",
      button: {
        label: "undoButton",
        target: target(links.subscribeUrl),
        action: "subscribe",
        weight: "quiet",
      },
      link: null,
    };
  const page = { ...plainPage("gone", sender), isNews };
  if (purpose === "subscribe") return page;
  const label = "unsubscribeButton";
  const button = {
    label,
    target: target(links.unsubscribeUrl),
    action: "unsubscribe",
    weight: "strong",
  } as const;
  return { ...page, button };
}

/** Returns a page with a message only: invalid link, missing contact, test link, temporary problem, or too many changes. */
export function plainPage(
  about: "invalid" | "gone" | "trial" | "problem" | "often",
  sender: string | null,
): PageContent {
  const page = { sender, isNews: false, note: null, button: null, link: null };
  switch (about) {
    case "invalid":
      return { ...page, heading: "invalidTitle", text: "invalidText" };
    case "gone":
      return { ...page, heading: "goneTitle", text: "goneText" };
    case "trial":
      return { ...page, heading: "trialTitle", text: "trialText" };
    case "problem":
      return { ...page, heading: "problemTitle", text: "problemText" };
    case "often":
      return { ...page, heading: "problemTitle", text: "oftenText" };
  }
}

/** Returns the path of a link, so that a page also works under a host name other than the public one. */
function pathOf(url: string): string {
  return new URL(url).pathname;
}

/** `ada@example.com` → `a•••@example.com`, enough to recognize one's own address but too little to learn another one. */
export function maskAddress(email: string): string {
  const at = email.lastIndexOf("@");
  const [first = ""] = email.slice(0, at);
  return `${first}•••${email.slice(at)}`;
}

/**
 * Returns an IP address that the database accepts, without the zone of a link-local address and with IPv4 unmapped. Null for invalid
 * addresses and closed connections.
 */
export function readIp(text: string | undefined): string | null {
  const ip = text?.replace(/%.*$/, "").replace(/^::ffff:(?=\d+\.)/i, "") ?? "";
  return isIP(ip) === 0 ? null : ip;
}
