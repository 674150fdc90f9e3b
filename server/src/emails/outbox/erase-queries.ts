// Erases deleted contacts from their emails, and redacts emails that are past their retention.
import { sql, type RawBuilder, type SqlBool } from "kysely";
import { onlyProject } from "../../platform/database/cluster.ts";
import type { Tx } from "../../platform/database/database.ts";
import { providerDomains } from "../../transports/destinations.ts";
import { countChanges, SUBJECTS } from "../results/email-count-queries.ts";
import { changesOfEnded } from "../results/outcome-queries.ts";
import { endedAs } from "../rows/end-queries.ts";
import { isBeingSubmittedIn } from "../rows/status-queries.ts";
import { CONTACT_DELETED } from "../rows/rules.ts";

/** Keeps `@domain` for addresses at a known provider, because counts per provider need it and it identifies no one. */
const ONLY_PROVIDER = sql`case when split_part(e.to_address, '@', -1) = any(${providerDomains().map(({ domain }) => domain)}::text[])
  then '@' || split_part(e.to_address, '@', -1) else '' end`;

/** A deleted contact with its address and the hash that replaces it. */
export interface ErasedPerson {
  id: string;
  email: string;
  addressHash: string;
}

/**
 * Erases contacts from their emails and skips the emails not sent yet. Keeps a hash of the address so that a later bounce can still be
 * matched to it. Returns the ids of all affected emails.
 */
export async function eraseRecipients(
  tx: Tx,
  projectId: string,
  people: readonly ErasedPerson[],
): Promise<string[]> {
  const contactIds = people.map(({ id }) => id);
  // Lock first. An email that just passed the pre-send check is then visible in its sender's row to the statements below.
  const { rows: mails } = await sql<{ id: string }>`
    select id from emails where project_id = ${projectId} and contact_id = any(${contactIds}::uuid[])
    order by id for update`.execute(tx);
  const hasNotLeft = sql`(e.status in ('QUEUED', 'CLAIMED') and not ${await isBeingSubmittedIn(tx)})`;
  await eraseTexts(tx, projectId, {
    isMeant: sql`e.contact_id = any(${contactIds}::uuid[])`,
    from: sql`, unnest(
      ${contactIds}::uuid[], ${people.map(({ email }) => email)}::text[], ${people.map(({ addressHash }) => addressHash)}::uuid[]
    ) as p (person_id, email, address_hash)`,
    joined: sql`e.contact_id = p.person_id`,
    // An email that is being submitted keeps nothing, because its transport must find no address if it has to be sent again.
    set: sql`to_address = case when e.status in ('QUEUED', 'CLAIMED') then '' else ${ONLY_PROVIDER} end, erased_to = case when e.to_address = p.email then p.address_hash else e.erased_to end, copies = null,
      status = case when ${hasNotLeft} then ${endedAs(sql`'SKIPPED'`, sql`${projectId}::uuid`)} else e.status end,
      reason = case when ${hasNotLeft} then ${CONTACT_DELETED} else ${WITHOUT_ADDRESS} end`,
  });
  await redactRaw(tx, projectId, sql`e.contact_id = any(${contactIds}::uuid[])`);
  return mails.map(({ id }) => id);
}

/** Detaches the emails of contacts that this transaction deletes. The contacts are locked, so no other email refers to them. */
export async function detachContacts(
  tx: Tx,
  projectId: string,
  contactIds: readonly string[],
): Promise<void> {
  await sql`
    update emails set contact_id = null
    where project_id = ${projectId} and contact_id = any(${contactIds}::uuid[])`.execute(tx);
}

/** Redacts the recipients and variables of emails. The emails must have ended and be locked by this transaction. */
export async function redactEmails(tx: Tx, projectId: string, ids: readonly string[]): Promise<void> {
  await eraseTexts(tx, projectId, {
    isMeant: sql`e.id = any(${ids}::uuid[])`,
    // Keep the fact that there were copies, because a late report may be about one of them.
    set: sql`forgotten_at = now(), to_address = ${ONLY_PROVIDER}, reason = ${WITHOUT_ADDRESS},
      copies = case when e.copies is not null then '{"cc": [], "bcc": []}'::jsonb end`,
  });
  await redactRaw(tx, projectId, sql`e.id = any(${ids}::uuid[])`);
}

/**
 * Redacts the raw messages of the emails `e`, because their headers name the recipients. A message that still waits for another recipient
 * stays until the retention of contents.
 */
async function redactRaw(tx: Tx, projectId: string, isMeant: RawBuilder<SqlBool>): Promise<void> {
  await sql`
    with meant as materialized (
      select distinct c.id from emails e join email_contents c on c.project_id = ${projectId} and c.id = e.content_id
      where e.project_id = ${projectId} and ${isMeant} and c.raw is not null)
    update email_contents c set subject = '', reply_to = null, raw = null, forgotten_at = now()
    from meant m
    where c.project_id = ${projectId} and c.id = m.id and not exists (
      select 1 from emails w
      where w.project_id = ${projectId} and w.content_id = m.id and w.campaign_id is null and w.status in ('QUEUED', 'CLAIMED'))`.execute(
    tx,
  );
}

/** Servers repeat the address in their replies. */
const WITHOUT_ADDRESS = sql`replace(e.reason, e.to_address, '***')`;

/** Removes variables, tags, metadata and server replies from the emails `e`, and applies the caller's `set` clause. */
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
    /** Rows that `set` reads, and the condition that joins them to the emails. */
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
    with ended as (
      update emails e set to_name = null, variables = null, tags = null, metadata = null, subject = null, answer = replace(e.answer, e.to_address, '***'), ${set}
      -- The same row before the update, which the caller has locked.
      from emails b ${from}
      where e.project_id = ${projectId} and ${isMeant} and ${joined} and b.project_id = e.project_id and b.id = e.id
      returning e.project_id, ${SUBJECTS}, b.status as was, e.status as became
    ), ${countChanges(changesOfEnded, await onlyProject(tx, projectId))}
    select`.execute(tx);
  await sql`
    delete from returned_messages r using emails e
    where e.project_id = ${projectId} and ${isMeant} and r.project_id = e.project_id and r.email_id = e.id`.execute(
    tx,
  );
}
