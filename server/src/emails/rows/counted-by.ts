// Exports SQL expressions for counting emails to other modules. The email row must be named `e`.
import type { RawBuilder, SqlBool } from "kysely";
import { HAS_LEFT, providersOf, PROVIDER, TO_DOMAIN } from "./counted-by-queries.ts";

/** Condition on `status` that the email was sent, regardless of reports. */
export function hasLeft(): RawBuilder<SqlBool> {
  return HAS_LEFT;
}

export function recipientDomain(): RawBuilder<string> {
  return TO_DOMAIN;
}

/** Joins the provider `p` of a domain, at most one. */
export function joinProviders(domain: RawBuilder<unknown>): RawBuilder<unknown> {
  return providersOf(domain);
}

/** The provider of an email, used with `joinProviders`. Domains of no provider count as `other`. */
export function countedProvider(): RawBuilder<string> {
  return PROVIDER;
}
