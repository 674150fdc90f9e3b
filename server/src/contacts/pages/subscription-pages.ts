// The public pages behind the links in mails: looking changes nothing, a form changes the subscription (decisions §12).
// Before it: routes.ts; links.ts made the links. After it: upsert-contacts.ts flips, page.ts writes the answer.
import { LIMITS } from "@postloft/contract/limits.ts";
import type { Database, Tx } from "../../platform/database.ts";
import { NOBODY } from "../../platform/ids.ts";
import type { RateLimiter } from "../../platform/rate-limit.ts";
import { networkOf } from "../../platform/visitor-network.ts";
import type { ContactLinks, LinkedContact, LinkPurpose } from "../links.ts";
import { flipAndRecord } from "../upsert-contacts.ts";
import { chooseAccepted, chooseLocale } from "./locale.ts";
import { writePage } from "./page.ts";
import { findSubscription } from "./queries.ts";
import { maskAddress, plainPage, readIp, readWish, subscriptionPage, type Form } from "./rules.ts";

const WINDOW_SECONDS = 3_600;

export interface Page<Status extends number = 200 | 404 | 503> {
  status: Status;
  html: string;
  /** After how many seconds to try again. */
  retryAfterSeconds?: number;
}

/** A link that was opened. */
export interface Visit {
  purpose: LinkPurpose;
  token: string;
  /** What the browser says it understands; counts where no contact and no project is known. */
  acceptLanguage: string | undefined;
}

export interface SubscriptionPages {
  show(visit: Visit): Promise<Page>;
  /**
   * null: the form may be submitted. Else what a visitor is told who has subscribed so often, or whose network has, that it can only be a
   * machine: each change is an event and a line in a log that is kept. Unsubscribing is never refused.
   */
  refuseTooOften(visit: Visit, form: Form, ip: string | undefined): Promise<Page<429> | null>;
  /** Does what the form asks for; asked again it changes nothing and returns the same. Events and log commit with it. */
  submit(tx: Tx, visit: Visit, form: Form, ip: string | undefined): Promise<Page<Page["status"] | 422>>;
  /** What a visitor is told when nothing can be read or changed right now. */
  problem(visit: Visit): Page;
}

export function createSubscriptionPages(options: {
  database: Database;
  readLink: (purpose: LinkPurpose, token: string) => LinkedContact | null;
  linksOf: (projectId: string, contactId: string) => ContactLinks;
  /** The path of an image that the project stores here, by its address; null: it is somewhere else. */
  ownImagePath: (projectId: string, url: string) => string | null;
  rateLimiter: Pick<RateLimiter, "take">;
}): SubscriptionPages {
  const { database, readLink, linksOf, ownImagePath, rateLimiter } = options;

  /** The page of a contact as it is; `isNews` right after a change. */
  async function pageOf(
    reader: Database,
    visit: Visit,
    { projectId, contactId }: LinkedContact,
    isNews: boolean,
  ): Promise<Page> {
    const found = await findSubscription(reader, projectId, contactId);
    const locale =
      found === undefined
        ? chooseAccepted(visit.acceptLanguage)
        : chooseLocale(found.locale, found.projectLanguage);
    const sender = found?.projectName ?? null;
    // One from elsewhere would tell others who opens the page.
    const logo = ownImagePath(projectId, found?.logoUrl ?? "");
    if (found === undefined || found.email === null || found.subscribed === null)
      return {
        status: 200,
        html: writePage(locale, plainPage(contactId === NOBODY ? "trial" : "gone", sender), {}, logo),
      };
    const contact = { subscribed: found.subscribed, isNews, sender: found.projectName };
    const content = subscriptionPage(visit.purpose, contact, linksOf(projectId, contactId));
    const values = { email: maskAddress(found.email), project: found.projectName };
    return { status: 200, html: writePage(locale, content, values, logo) };
  }

  return {
    async show(visit) {
      const linked = readLink(visit.purpose, visit.token);
      return linked === null ? tell(404, "invalid", visit) : pageOf(database, visit, linked, false);
    },
    async refuseTooOften(visit, form, ip) {
      const linked = readLink(visit.purpose, visit.token);
      if (linked === null || readWish(visit.purpose, form)?.subscribed !== true) return null;
      const { projectId, contactId } = linked;
      // In this order: what is refused of one contact counts for nobody else in the network.
      for (const [who, limit] of [
        [`${projectId}:${contactId}`, LIMITS.subscriptionChanges],
        [networkOf(ip), LIMITS.networkSubscriptions],
      ] as const) {
        const take = { bucket: `subscribing:${who}`, limit: limit.value, windowSeconds: WINDOW_SECONDS };
        const { allowed, resetSeconds } = await rateLimiter.take(take);
        if (!allowed) return { ...tell(429, "often", visit), retryAfterSeconds: resetSeconds };
      }
      return null;
    },
    async submit(tx, visit, form, ip) {
      const linked = readLink(visit.purpose, visit.token);
      if (linked === null) return tell(404, "invalid", visit);
      const wish = readWish(visit.purpose, form);
      if (wish === null) return { ...(await pageOf(tx, visit, linked, false)), status: 422 };
      const { projectId, contactId } = linked;
      const via = { source: wish.source, actor: null, ip: readIp(ip) };
      await flipAndRecord(tx, [{ projectId, id: contactId, subscribed: wish.subscribed, via }]);
      return pageOf(tx, visit, linked, true);
    },
    problem: (visit) => tell(503, "problem", visit),
  };
}

function tell<Status extends 404 | 429 | 503>(
  status: Status,
  about: "invalid" | "problem" | "often",
  visit: Visit,
): Page<Status> {
  return { status, html: writePage(chooseAccepted(visit.acceptLanguage), plainPage(about, null), {}) };
}
