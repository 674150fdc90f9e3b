// What a public page shows and what a form on it asks for: pure, no clock, no database.
import { isIP } from "node:net";
import type { ContactLinks, LinkPurpose } from "../links.ts";
import type { PageContent } from "./page.ts";

export interface Wish {
  subscribed: boolean;
  source: "page" | "one-click";
}

export interface Form {
  action?: string | undefined;
  "List-Unsubscribe"?: string | undefined;
}

/** What a form asks for where it was sent to; null when it asks for nothing that this page does. */
export function readWish(purpose: LinkPurpose, form: Form): Wish | null {
  const mayUnsubscribe = purpose !== "subscribe";
  const maySubscribe = purpose !== "unsubscribe";
  // Some mail programs end the form in a line break, which becomes part of its last value.
  if (purpose === "unsubscribe" && form["List-Unsubscribe"]?.trimEnd() === "One-Click")
    return { subscribed: false, source: "one-click" };
  if (mayUnsubscribe && form.action === "unsubscribe") return { subscribed: false, source: "page" };
  if (maySubscribe && form.action === "subscribe") return { subscribed: true, source: "page" };
  return null;
}

/**
 * The page for a contact as it is now. It asks while there is something to ask, and tells how it is otherwise;
 * right after a change it offers the way back.
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
    // Where unsubscribing is asked for or done.
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
 * The page for an address that no contact has. It unsubscribes the address all the same, so that it stays so when a contact gets
 * it, and offers the way back right there; there is nothing to subscribe.
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

/** A page that only tells something: the link is not ours, the contact is gone or was none, or nothing works right now, or was asked for too often. */
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

/** The path of a link: a page also works where it is reached by another name than the public one. */
function pathOf(url: string): string {
  return new URL(url).pathname;
}

/** `ada@example.com` → `a•••@example.com`: enough to recognise one's own address, too little to learn another's. */
export function maskAddress(email: string): string {
  const at = email.lastIndexOf("@");
  const [first = ""] = email.slice(0, at);
  return `${first}•••${email.slice(at)}`;
}

/**
 * An address of a request as the database takes it: without the zone of a link-local one, and IPv4 as such. Null when it is
 * none, or when whoever asked is gone already.
 */
export function readIp(text: string | undefined): string | null {
  const ip = text?.replace(/%.*$/, "").replace(/^::ffff:(?=\d+\.)/i, "") ?? "";
  return isIP(ip) === 0 ? null : ip;
}
