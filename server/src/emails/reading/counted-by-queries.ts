// Pieces of statements by which mails `e` are counted: whether they left, and for which receiving provider.
import { sql, type RawBuilder, type SqlBool } from "kysely";
import { providerDomains } from "../../transports/destinations.ts";

/** Whether a mail was sent, whatever came back: of its `status`. */
export const HAS_LEFT = sql<SqlBool>`status not in ('QUEUED', 'CLAIMED', 'SENDING', 'FAILED', 'SKIPPED', 'UNCONFIRMED')`;

/** The domain of the address of a mail `e`. */
export const TO_DOMAIN = sql<string>`split_part(e.to_address, '@', -1)`;

/** The providers `p` that have a domain; joined they are at most one. */
export function providersOf(domain: RawBuilder<unknown>): RawBuilder<unknown> {
  const domains = providerDomains();
  return sql`left join unnest(${domains.map((one) => one.domain)}::text[], ${domains.map(({ provider }) => provider)}::text[])
    p (domain, provider) on p.domain = ${domain}`;
}

/** What a mail is counted by, beside `providersOf`: a domain of no provider counts as `other`. */
export const PROVIDER = sql<string>`coalesce(p.provider, 'other')`;
