// By what mails are counted, as expressions for the statements of later folders; in all of them the row of the mail is `e`.
import type { RawBuilder, SqlBool } from "kysely";
import { HAS_LEFT, providersOf, PROVIDER, TO_DOMAIN } from "./counted-by-queries.ts";

/** As a condition on `status`: that the mail was sent, whatever came back. */
export function hasLeft(): RawBuilder<SqlBool> {
  return HAS_LEFT;
}

/** The domain of the recipient. */
export function recipientDomain(): RawBuilder<string> {
  return TO_DOMAIN;
}

/** Joins the provider `p` that has a domain, at most one. */
export function joinProviders(domain: RawBuilder<unknown>): RawBuilder<unknown> {
  return providersOf(domain);
}

/** What a mail is counted by, beside `joinProviders`: one to a domain of no provider counts as `other`. */
export function countedProvider(): RawBuilder<string> {
  return PROVIDER;
}
