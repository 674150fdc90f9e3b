// Erases people from the mails they got, and what mails said when they are old enough.
import { sql, type RawBuilder, type SqlBool } from "kysely";
import type { Tx } from "../../platform/database.ts";
import { providerDomains } from "../../transports/destinations.ts";
import { endedAs } from "../doubt/end-queries.ts";
import { isInHandover } from "../handover/handover-queries.ts";
import { CONTACT_DELETED } from "./rules.ts";

const hasNotLeft = sql`(e.status in ('QUEUED', 'CLAIMED') and not ${isInHandover})`;

/** A contact that is deleted, with its address and the hash that is kept of it. */
export interface ErasedPerson {
  id: string;
  email: string;
  addressHash: string;
}

/**
 * Takes people out of their mails and skips those that have not left. A hash of the address stays, so that a bounce that comes later
 * is about the address. Returns which mails that were.
 */
export async function eraseRecipients(
  tx: Tx,
  projectId: string,
  people: readonly ErasedPerson[],
): Promise<string[]> {
  const contactIds = people.map(({ id }) => id);
  // First the locks: who has been let go by the handover check stands in its sender's row when the next statements look.
  const { rows: mails } = await sql<{ id: string }>`
    select id from emails where project_id = ${projectId} and contact_id = any(${contactIds}::uuid[])
    order by id for update`.execute(tx);
  await eraseTexts(tx, projectId, {
    isMeant: sql`e.contact_id = any(${contactIds}::uuid[])`,
    from: sql`from unnest(
      ${contactIds}::uuid[], ${people.map(({ email }) => email)}::text[], ${people.map(({ addressHash }) => addressHash)}::uuid[]
    ) as p (person_id, email, address_hash)`,
    joined: sql`e.contact_id = p.person_id`,
    set: sql`to_address = '', erased_to = case when to_address = p.email then p.address_hash else erased_to end, copies = null,
      status = case when ${hasNotLeft} then ${endedAs(sql`'SKIPPED'`)} else status end,
      reason = case when ${hasNotLeft} then ${CONTACT_DELETED} else ${WITHOUT_ADDRESS} end`,
  });
  return mails.map(({ id }) => id);
}

/** Of an address the domain, where it is a provider's and names nobody: mails are counted by it. */
const ONLY_PROVIDER = sql`case when split_part(to_address, '@', -1) = any(${providerDomains().map(({ domain }) => domain)}::text[])
  then '@' || split_part(to_address, '@', -1) else '' end`;

/** Forgets to whom mails went and what was filled in. They have ended, and are the transaction's own. */
export async function forgetEmails(tx: Tx, projectId: string, ids: readonly string[]): Promise<void> {
  await eraseTexts(tx, projectId, {
    isMeant: sql`e.id = any(${ids}::uuid[])`,
    // That there were copies stays: what is reported late may be about one of them.
    set: sql`forgotten_at = now(), to_address = ${ONLY_PROVIDER}, reason = ${WITHOUT_ADDRESS},
      copies = case when copies is not null then '{"cc": [], "bcc": []}'::jsonb end`,
  });
}

/** Servers repeat the address in what they answer. */
const WITHOUT_ADDRESS = sql`replace(reason, to_address, '***')`;

/** Takes out of mails `e` what was filled in and what came back in words, and sets what is different of who is erased. */
async function eraseTexts(
  tx: Tx,
  projectId: string,
  {
    isMeant,
    set,
    from = sql``,
    joined = sql<SqlBool>`true`,
  }: {
    isMeant: RawBuilder<SqlBool>;
    set: RawBuilder<unknown>;
    /** Rows that `set` reads, and how they belong to the mails. */
    from?: RawBuilder<unknown>;
    joined?: RawBuilder<SqlBool>;
  },
): Promise<void> {
  await sql`
    update email_attempts a set answer = replace(a.answer, e.to_address, '***')
    from emails e
    where e.project_id = ${projectId} and ${isMeant} and a.project_id = ${projectId} and a.email_id = e.id`.execute(
    tx,
  );
  await sql`
    update emails e set to_name = null, variables = null, subject = null, answer = replace(answer, to_address, '***'), ${set}
    ${from} where e.project_id = ${projectId} and ${isMeant} and ${joined}`.execute(tx);
  await sql`
    delete from returned_messages r using emails e
    where e.project_id = ${projectId} and ${isMeant} and r.project_id = e.project_id and r.email_id = e.id`.execute(
    tx,
  );
}
