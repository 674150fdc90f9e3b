// Public pages behind the links in emails. GET changes nothing, and a form changes the subscription (decisions §12).
import { LIMITS } from "@postloft/contract/limits/limits.ts";
import type { Database, Tx } from "../../platform/database/database.ts";
import { NO_ONE } from "../../platform/ids.ts";
import type { RateLimiter } from "../../platform/http/rate-limit.ts";
import { networkOf } from "../../platform/http/visitor-network.ts";
import { hashAddress } from "../../platform/address-hash.ts";
import type { LinkedRecipient, LinkParts, LinkPurpose } from "../links.ts";
import { isOptedOut, optIn, optOut } from "../opt-outs.ts";
import { flipAndRecord } from "../upsert-contacts.ts";
import { chooseAccepted, chooseLocale } from "./locale.ts";
import { writePage, type PageContent } from "./page.ts";
import { pageStyle } from "./page-style.ts";
import { findSubscription } from "./queries.ts";
import {
  addressPage,
  maskAddress,
  plainPage,
  readIp,
  readRequestedChange,
  subscriptionPage,
  type Form,
  type RequestedChange,
} from "./rules.ts";

const WINDOW_SECONDS = 3_600;

export interface Page<Status extends number = 200 | 404 | 503> {
  status: Status;
  html: string;
  /** The colors in the page, which its headers must allow. */
  style: string;
  /** Seconds until the next attempt. */
  retryAfterSeconds?: number;
}

/** An opened link. */
export interface Visit {
  purpose: LinkPurpose;
  token: string;
  /** The `Accept-Language` header, used if neither a contact nor a project is known. */
  acceptLanguage: string | undefined;
}

export interface SubscriptionPages {
  show(visit: Visit): Promise<Page>;
  /**
   * Returns null if the form may be submitted, or an error page for automated requests. Limits subscriptions per contact and per network,
   * because each change adds an event and a permanent log entry. Unsubscribing is never rejected.
   */
  limitSubscriptions(visit: Visit, form: Form, ip: string | undefined): Promise<Page<429> | null>;
  /** Applies the form. A repeated request changes nothing and returns the same page. Events and log entries commit with the change. */
  submit(tx: Tx, visit: Visit, form: Form, ip: string | undefined): Promise<Page<Page["status"] | 422>>;
  /** Returns the page for a temporary failure. */
  problem(visit: Visit): Page;
}

// oxlint-disable-next-line max-lines-per-function -- the inner functions share its state
export function createSubscriptionPages(
  options: LinkParts & {
    database: Database;
    /** Returns the path of an image stored on this server for the project, or null for any other image. */
    ownImagePath: (projectId: string, url: string) => string | null;
    rateLimiter: Pick<RateLimiter, "take">;
  },
): SubscriptionPages {
  const { database, readLink, linksOf, ownImagePath, rateLimiter } = options;

  /** Returns the page of a contact or an address in its current state. `isNews` is set right after a change. */
  async function pageOf(
    reader: Database,
    visit: Visit,
    linked: LinkedRecipient,
    isNews: boolean,
  ): Promise<Page> {
    const { projectId, contactId, to } = linked;
    const links = linksOf(projectId, contactId ?? NO_ONE, to);
    const found = await findSubscription(reader, linked);
    const locale =
      found === undefined
        ? chooseAccepted(visit.acceptLanguage)
        : chooseLocale(found.locale, found.projectLanguage);
    const sender = found?.projectName ?? null;
    // An external image would reveal to its host that the page was opened.
    const logo = ownImagePath(projectId, found?.logoUrl ?? "");
    const style = found === undefined ? "" : pageStyle(found);
    const respond = (content: PageContent, email = "") => {
      const values = { email: maskAddress(email), project: sender ?? "" };
      return { status: 200 as const, html: writePage(locale, content, values, { logo, style }), style };
    };
    if (found !== undefined && found.email !== null && found.subscribed !== null) {
      const contact = { subscribed: found.subscribed, isNews, sender: found.projectName };
      return respond(subscriptionPage(visit.purpose, contact, links), found.email);
    }
    if (found === undefined || to === undefined)
      return respond(plainPage(contactId === NO_ONE ? "trial" : "gone", sender));
    const optedOut = await isOptedOut(reader, projectId, to.address);
    return respond(addressPage(visit.purpose, { optedOut, isNews, sender }, links), to.address);
  }

  return {
    async show(visit) {
      const linked = readLink(visit.purpose, visit.token);
      return linked === null ? notify(404, "invalid", visit) : pageOf(database, visit, linked, false);
    },
    async limitSubscriptions(visit, form, ip) {
      const linked = readLink(visit.purpose, visit.token);
      if (linked === null || readRequestedChange(visit.purpose, form)?.subscribed !== true) return null;
      const { projectId, contactId, to } = linked;
      const owner = to === undefined ? contactId : hashAddress(projectId, to.address);
      // Checked in this order, so that requests rejected for one contact do not count against the network.
      for (const [who, limit] of [
        [`${projectId}:${owner}`, LIMITS.subscriptionChanges],
        [networkOf(ip), LIMITS.networkSubscriptions],
      ] as const) {
        const take = { bucket: `subscribing:${who}`, limit: limit.value, windowSeconds: WINDOW_SECONDS };
        const { allowed, resetSeconds } = await rateLimiter.take(take);
        if (!allowed) return { ...notify(429, "often", visit), retryAfterSeconds: resetSeconds };
      }
      return null;
    },
    async submit(tx, visit, form, ip) {
      const linked = readLink(visit.purpose, visit.token);
      if (linked === null) return notify(404, "invalid", visit);
      const wish = readRequestedChange(visit.purpose, form);
      if (wish === null) return { ...(await pageOf(tx, visit, linked, false)), status: 422 };
      await applyChange(tx, linked, wish, readIp(ip));
      return pageOf(tx, visit, linked, true);
    },
    problem: (visit) => notify(503, "problem", visit),
  };
}

async function applyChange(
  tx: Tx,
  { projectId, contactId, to }: LinkedRecipient,
  { subscribed, source }: RequestedChange,
  ip: string | null,
): Promise<void> {
  const via = { source, actor: null, ip, emailId: to?.emailId ?? null };
  if (to === undefined) await flipAndRecord(tx, [{ projectId, id: contactId, subscribed, via }]);
  else if (subscribed) await optIn(tx, { projectId, email: to.address, via });
  else await optOut(tx, [{ projectId, email: to.address, via }]);
}

function notify<Status extends 404 | 429 | 503>(
  status: Status,
  about: "invalid" | "problem" | "often",
  visit: Visit,
): Page<Status> {
  const html = writePage(chooseAccepted(visit.acceptLanguage), plainPage(about, null), {});
  return { status, html, style: "" };
}
