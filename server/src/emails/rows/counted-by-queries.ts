// SQL fragments to count emails `e` by whether they were sent and by receiving provider.
import { sql, type RawBuilder, type SqlBool } from "kysely";
import { providerDomains } from "../../transports/destinations.ts";

/** Follows a status and says whether the email was sent, regardless of reports. */
export const IS_SENT = sql`not in ('QUEUED', 'CLAIMED', 'SENDING', 'FAILED', 'SKIPPED', 'UNCONFIRMED')`;

/** Whether an email was sent, judged by its `status` and regardless of reports. */
export const HAS_LEFT = sql<SqlBool>`status ${IS_SENT}`;

/** The bits of `came_back`, as defined with the column in 0001_initial.sql. */
export const CAME_BACK = { delivered: 1, opened: 2, clicked: 4, bounced: 8, complained: 16 } as const;

/** The recipient's domain of email `e`. */
export const TO_DOMAIN = sql<string>`split_part(e.to_address, '@', -1)`;

/** Joins the provider `p` of a domain, at most one. */
export function providersOf(domain: RawBuilder<unknown>): RawBuilder<unknown> {
  const domains = providerDomains();
  return sql`left join unnest(${domains.map((one) => one.domain)}::text[], ${domains.map(({ provider }) => provider)}::text[])
    p (domain, provider) on p.domain = ${domain}`;
}

/** The provider of an email, used with `providersOf`. Domains of no provider count as `other`. */
export const PROVIDER = sql<string>`coalesce(p.provider, 'other')`;
