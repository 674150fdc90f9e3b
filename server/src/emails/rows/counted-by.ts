// Exports SQL expressions for counting emails to other modules. The email row must be named `e`.
import type { RawBuilder } from "kysely";
import { providersOf, PROVIDER, TO_DOMAIN } from "./counted-by-queries.ts";

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
