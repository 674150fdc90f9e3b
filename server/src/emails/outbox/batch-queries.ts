// Queries on `recipient_batches`, which holds campaign recipients that have no row in `emails` yet, 40 per row.
import { sql, type RawBuilder, type SqlBool } from "kysely";
import { onlyProject } from "../../platform/database/cluster.ts";
import type { Database, Tx } from "../../platform/database/database.ts";
import type { Row } from "../../platform/database/row.ts";
import { notify } from "../../platform/notify.ts";
import type { ListKind } from "../../message/message-headers.ts";
import type { CampaignKey } from "./campaign-queries.ts";
import { addRecipients, countChanges, SUBJECTS } from "../results/email-count-queries.ts";
import { changesOfEnded } from "../results/outcome-queries.ts";
import type { ContactsThere } from "../rows/recipients.ts";
import { CONTACT_DELETED } from "../rows/rules.ts";

/** Recipients per batch, which is also the most a sender claims at a time. */
export const BATCH_SIZE = 40;

/** The recipients `r` (id, contact, address) of the batches `b`. */
export const recipientsOf = (batches: RawBuilder<unknown>) => sql`
  ${batches} b cross join lateral unnest(b.email_ids, b.contact_ids, b.addresses) as r (id, contact_id, address)`;

/** The recipients of `batches` with the columns that an email row needs. Their contact is null if the CTE `there` lacks it. */
const waitingOf = (batches: RawBuilder<unknown>) => sql`
  select b.project_id, r.id, t.id as contact_id, b.content_id, b.campaign_id, r.address, b.created_at
  from ${recipientsOf(batches)} left join there t on t.id = r.contact_id`;

/**
 * Columns `to_address`, `status` and `reason` of a waiting recipient (contact_id, address). A recipient without a contact was deleted while
 * the batch was being created, so the deletion did not see the batch. Its email is skipped and keeps no address.
 */
export const addressed = (status: RawBuilder<unknown>, reason: RawBuilder<unknown>) => sql`
  case when contact_id is null then '' else address end,
  case when contact_id is null then 'SKIPPED' else ${status} end,
  case when contact_id is null then ${CONTACT_DELETED} else ${reason} end`;

/** Batches all recipients of a query of `contact_id` and `email` in one statement. Returns the number of recipients. */
export async function insertRecipientBatches(
  tx: Tx,
  { projectId, campaignId }: CampaignKey,
  contentId: string,
  recipients: RawBuilder<unknown>,
): Promise<number> {
  const { rows } = await sql<{ count: number }>`
    with matching as materialized (
      -- Ordered by contact, so that indexes on contact and email id both grow at their end. Uses no join, because if PostgreSQL
      -- expects few contacts, it would compare all pairs.
      select contact_id, email, new_id() as id
      from (select contact_id, email from (${recipients}) as meant order by contact_id) as ordered
    ), placed as (
      select contact_id, email, id, row_number() over (order by id) - 1 as place from matching
    ), added as (
      insert into recipient_batches (project_id, id, campaign_id, content_id, email_ids, contact_ids, addresses, domains)
      select ${projectId}::uuid, (array_agg(id order by place))[1], ${campaignId}::uuid, ${contentId}::uuid,
        array_agg(id order by place), array_agg(contact_id order by place), array_agg(email order by place),
        array_agg(distinct split_part(email, '@', 2))
      from placed group by place / ${sql.lit(BATCH_SIZE)}
      returning cardinality(email_ids) as size
    ), counted as (${addRecipients(sql`
      select ${projectId}::uuid, ${campaignId}::uuid, sum(size) from added having sum(size) > 0`)}
    )
    select coalesce(sum(size), 0)::float8 as count from added`.execute(tx);
  notify(tx, "emails");
  return rows[0]?.count ?? 0;
}

/** Recipients that wait in a batch, selected by email id or by contact id. */
export interface WaitingRecipients {
  by: "id" | "contactId";
  ids: readonly string[];
}

/** Recipients that wait in a batch, also by their canonical address. */
export type SoughtRecipients = WaitingRecipients | { by: "address"; addresses: readonly string[] };

const isMeant = (sought: SoughtRecipients) =>
  sought.by === "address"
    ? sql<SqlBool>`r.address = any(${sought.addresses}::text[])`
    : sql<SqlBool>`r.${sql.ref(sought.by)} = any(${sought.ids}::uuid[])`;

/** Whether batch `b` of the project holds one of the recipients. Compares whole arrays, ten times faster than element by element. */
const holds = (projectId: string, sought: SoughtRecipients) => {
  const isAmong =
    sought.by === "address"
      ? sql`b.addresses && ${sought.addresses}::text[]`
      : sql`${sought.by === "id" ? sql`b.email_ids` : sql`b.contact_ids`} && ${sought.ids}::uuid[]`;
  return sql<SqlBool>`b.project_id = ${projectId} and ${isAmong}`;
};

/** Moves recipients from their batches to queued email rows. Recipients that already have a row are left alone. */
export async function takeOutRecipients(
  tx: Tx,
  projectId: string,
  recipients: WaitingRecipients,
  contactsThere: ContactsThere,
): Promise<void> {
  const { rows } = await sql<{ id: string }>`
    select b.id from recipient_batches b where ${holds(projectId, recipients)} order by b.id for update`.execute(
    tx,
  );
  if (rows.length === 0) return;
  const locked = sql<SqlBool>`b.project_id = ${projectId} and b.id = any(${rows.map(({ id }) => id)}::uuid[])`;
  const only = await onlyProject(tx, projectId);
  await sql`
    with there as materialized (${contactsThere(
      sql`select b.project_id, r.contact_id from ${recipientsOf(sql`recipient_batches`)} where ${locked} and ${isMeant(recipients)}`,
      only,
    )}
    ), ended as (
      insert into emails as e (project_id, id, contact_id, content_id, campaign_id, priority, to_address, status, reason, created_at)
      select project_id, id, contact_id, content_id, campaign_id, 3, ${addressed(sql`'QUEUED'`, sql`null`)}, created_at
      from (${waitingOf(sql`recipient_batches`)} where ${locked} and ${isMeant(recipients)}) as waiting
      returning e.project_id, ${SUBJECTS}, null as was, e.status as became
    ), ${countChanges(changesOfEnded, only)}
    select`.execute(tx);
  const rest = (values: RawBuilder<unknown>) => sql`array(
    select ${values} from unnest(b.email_ids, b.contact_ids, b.addresses) as r (id, contact_id, address)
    where not (${isMeant(recipients)}) order by r.id)`;
  await sql`
    update recipient_batches b set email_ids = ${rest(sql`r.id`)}, contact_ids = ${rest(sql`r.contact_id`)},
      addresses = ${rest(sql`r.address`)}
    where ${locked}`.execute(tx);
  await sql`delete from recipient_batches b where ${locked} and b.email_ids = '{}'`.execute(tx);
}

/** Returns recipients in batches as queued emails, newest first. */
export async function listWaiting(database: Database, projectId: string, recipients: SoughtRecipients) {
  const { rows } = await sql<WaitingRow>`
    select r.id, b.campaign_id, r.contact_id, r.address as to_address, b.created_at, k.from_address, k.from_name, k.subject,
      k.reply_to, k.html, k.headers, k.attachments, k.list_kind
    from ${recipientsOf(sql`recipient_batches`)}
    join email_contents k on k.project_id = b.project_id and k.id = b.content_id
    where ${holds(projectId, recipients)} and ${isMeant(recipients)}
    order by r.id desc`.execute(database);
  return rows;
}

export interface WaitingRow extends Row<
  "email_contents",
  "fromAddress" | "fromName" | "subject" | "replyTo" | "html" | "headers" | "attachments"
> {
  id: string;
  campaignId: string;
  contactId: string | null;
  toAddress: string;
  createdAt: Date;
  listKind: ListKind | null;
}

/** Drops the recipients of up to `limit` batches of a campaign. Returns how many emails were dropped. */
export async function skipBatches(
  tx: Tx,
  { projectId, campaignId }: CampaignKey,
  reason: string,
  { limit, contactsThere }: { limit: number; contactsThere: ContactsThere },
): Promise<number> {
  const only = await onlyProject(tx, projectId);
  const { rows } = await sql<{ count: number }>`
    with dropped as (
      delete from recipient_batches where project_id = ${projectId} and id = any (array(
        select id from recipient_batches
        where project_id = ${projectId} and campaign_id = ${campaignId}
        order by id limit ${limit} for update skip locked))
      returning *
    ), there as materialized (${contactsThere(sql`select project_id, unnest(contact_ids) from dropped`, only)}
    ), ended as (
      insert into emails as e (project_id, id, contact_id, content_id, campaign_id, priority, to_address, status, reason, created_at)
      select project_id, id, contact_id, content_id, campaign_id, 3, ${addressed(sql`'SKIPPED'`, sql`${reason}`)}, created_at
      from (${waitingOf(sql`dropped`)}) as waiting
      on conflict do nothing
      returning e.project_id, ${SUBJECTS}, null as was, e.status as became
    ), ${countChanges(changesOfEnded, only)}
    select count(*)::float8 as count from ended`.execute(tx);
  return rows[0]?.count ?? 0;
}
