// Queries that list and search the emails of a project, newest first. Conditions apply to `emails e` and their content `c`.
import { sql, type RawBuilder, type SqlBool } from "kysely";
import { EMAIL_KINDS, type EmailKind, type EmailStatus } from "@postloft/contract/emails.ts";
import type { PROVIDERS } from "@postloft/contract/receiving-providers.ts";
import { plannedEachTime, type Database } from "../../platform/database/database.ts";
import type { Row } from "../../platform/database/row.ts";
import { beginningWith, containing } from "../../platform/http/page.ts";
import { domainsOf, providerDomains } from "../../transports/destinations.ts";
import { HAS_RECIPIENT, SUBJECT, TO_ADDRESS } from "../rows/shown-queries.ts";
import { statusOfEmail } from "../rows/status-queries.ts";

type Condition = RawBuilder<SqlBool>;

/** A recipient's canonical address, or the beginning of canonical addresses. */
export type SoughtRecipient = { address: string } | { beginning: string };

/** Omitted fields do not restrict the list. */
export interface EmailFilter {
  to?: SoughtRecipient | undefined;
  subject?: string | undefined;
  /** The ids that a Message-ID stands for. */
  ids?: readonly string[] | undefined;
  status?: EmailStatus | undefined;
  kind?: EmailKind | undefined;
  tag?: string | undefined;
  contactId?: string | undefined;
  campaignId?: string | undefined;
  workflowId?: string | undefined;
  provider?: (typeof PROVIDERS)[number] | undefined;
  transport?: string | undefined;
  since?: Date | undefined;
  until?: Date | undefined;
}

/** A position in the list: `before` is excluded, and null is the newest end. */
export interface Place {
  before: string | null;
  /** The first id that can match, or null for all. */
  from: string | null;
  limit: number;
}

export type ListedEmailRow = Row<
  "emails",
  | "id"
  | "contactId"
  | "campaignId"
  | "workflowId"
  | "priority"
  | "status"
  | "toAddress"
  | "reason"
  | "attempts"
  | "dueAt"
  | "scheduledFor"
  | "createdAt"
  | "sentAt"
  | "tags"
  | "metadata"
  | "forgottenAt"
> &
  Row<"email_contents", "fromAddress" | "fromName" | "subject">;

const LISTED = sql`e.id, e.contact_id, e.campaign_id, e.workflow_id, e.priority, e.reason, e.attempts, e.due_at, e.scheduled_for, e.created_at, e.sent_at,
  e.tags, e.metadata, e.forgotten_at, c.from_address, c.from_name, ${TO_ADDRESS} as to_address, ${SUBJECT} as subject, ${statusOfEmail} as status`;

const CONTENT = sql`email_contents c on c.project_id = e.project_id and c.id = e.content_id`;

const all = (conditions: readonly Condition[]) =>
  sql<SqlBool>`${sql.join([sql`true`, ...conditions], sql` and `)}`;

/** The column of `emails_by_address`. */
const ADDRESS_HASH = sql`hashtext(e.to_address)`;
/** The condition of `emails_by_address`. A redacted email keeps at most the domain of a provider, and isn't found by it. */
const HAS_ADDRESS = sql<SqlBool>`e.forgotten_at is null and e.to_address <> '' and ${HAS_RECIPIENT}`;

/** The condition of `emails_tagged`. */
const HAS_TAGS = sql<SqlBool>`e.tags is not null`;

const isTo = (to: SoughtRecipient): Condition =>
  "address" in to
    ? sql<SqlBool>`${HAS_ADDRESS} and ${ADDRESS_HASH} = hashtext(${to.address}) and e.to_address = ${to.address}`
    : sql<SqlBool>`${HAS_ADDRESS} and e.to_address like ${beginningWith(to.beginning)}`;

function hasStatus(status: EmailStatus): Condition {
  const stored = sql<SqlBool>`e.status = ${status === "SENDING" ? "CLAIMED" : status}`;
  const isBusy = status === "SENDING" || status === "CLAIMED";
  return isBusy ? sql<SqlBool>`${stored} and ${statusOfEmail} = ${status}` : stored;
}

/** Also finds redacted emails, which keep the domain of a provider. */
function isAtProvider(provider: (typeof PROVIDERS)[number]): Condition {
  const domain = sql`split_part(e.to_address, '@', -1)`;
  return provider === "other"
    ? sql<SqlBool>`${domain} <> all(${providerDomains().map((one) => one.domain)}::text[])`
    : sql<SqlBool>`${domain} = any(${domainsOf(provider)}::text[])`;
}

function conditionsOf(filter: EmailFilter): Condition[] {
  const { to, subject, ids, status, kind, contactId, campaignId, workflowId, provider, transport } = filter;
  const { since, until, tag } = filter;
  return [
    ...(ids === undefined ? [] : [sql<SqlBool>`e.id = any(${ids}::uuid[])`]),
    ...(to === undefined ? [] : [isTo(to)]),
    ...(status === undefined ? [] : [hasStatus(status)]),
    ...(kind === undefined ? [] : [sql<SqlBool>`e.priority = ${EMAIL_KINDS.indexOf(kind) + 1}`]),
    ...(tag === undefined ? [] : [sql<SqlBool>`${HAS_TAGS} and e.tags @> ${JSON.stringify([tag])}::jsonb`]),
    ...(contactId === undefined ? [] : [sql<SqlBool>`e.contact_id = ${contactId}`]),
    ...(campaignId === undefined ? [] : [sql<SqlBool>`e.campaign_id = ${campaignId}`]),
    ...(workflowId === undefined ? [] : [sql<SqlBool>`e.workflow_id = ${workflowId}`]),
    ...(provider === undefined ? [] : [isAtProvider(provider)]),
    ...(transport === undefined ? [] : [sql<SqlBool>`e.transport = ${transport}`]),
    ...(since === undefined ? [] : [sql<SqlBool>`e.created_at >= ${since}`]),
    ...(until === undefined ? [] : [sql<SqlBool>`e.created_at < ${until}`]),
    // Last, because it reads the content.
    ...(subject === undefined ? [] : [sql<SqlBool>`${SUBJECT} ilike ${containing(subject)}`]),
  ];
}

const isAt = ({ before, from }: Place) =>
  all([
    ...(before === null ? [] : [sql<SqlBool>`e.id < ${before}`]),
    ...(from === null ? [] : [sql<SqlBool>`e.id >= ${from}`]),
  ]);

/** Returns up to `limit` matches. Takes long if few of millions of emails match. */
export async function listEmailRows(
  database: Database,
  projectId: string,
  filter: EmailFilter,
  place: Place,
): Promise<ListedEmailRow[]> {
  const { rows } = await sql<ListedEmailRow>`
    ${plannedEachTime} select ${LISTED} from emails e join ${CONTENT}
    where e.project_id = ${projectId} and ${isAt(place)} and ${all(conditionsOf(filter))}
    order by e.id desc limit ${place.limit}`.execute(database);
  return rows;
}

/** The statuses in `emails_not_delivered`. Few emails have them. */
const NOT_DELIVERED: readonly EmailStatus[] = ["FAILED", "SKIPPED", "UNCONFIRMED", "BOUNCED", "COMPLAINED"];
const isNotDelivered = sql<SqlBool>`e.status in (${sql.join(NOT_DELIVERED.map((status) => sql.lit(status)))})`;

/** One value of the leading column of an index. */
interface Anchor {
  column: RawBuilder<unknown>;
  value: string | RawBuilder<unknown>;
  /** The condition of a partial index. */
  partial: Condition;
}

/**
 * Compares with a range, and the caller adds the column to the order, so that only its index can supply the rows. With an equality the
 * planner walks all emails of the project if it expects many matches, and reads millions if there are few.
 */
const isAnchored = ({ column, value, partial }: Anchor) =>
  sql<SqlBool>`${partial} and ${column} >= ${value} and ${column} <= ${value}`;

/** Returns an index with the order of the list, or null if the filter has none. */
function anchorOf({ status, workflowId }: EmailFilter): Anchor | null {
  if (status !== undefined && NOT_DELIVERED.includes(status))
    return { column: sql`e.status`, value: status, partial: isNotDelivered };
  if (workflowId !== undefined) return { column: sql`e.workflow_id`, value: workflowId, partial: sql`true` };
  return null;
}

export interface Nearby {
  rows: ListedEmailRow[];
  /** The id of the last checked email, or null if the list ended. */
  end: string | null;
}

/** Without a match the only row has no email. */
type NearbyRow = { [Name in keyof ListedEmailRow]: ListedEmailRow[Name] | null } & { end: string | null };

const isEmail = (row: NearbyRow): row is NearbyRow & ListedEmailRow => row.id !== null;

/** Returns up to `limit` matches among the next `look` emails of an index that has the order of the list. */
export async function listEmailRowsNearby(
  database: Database,
  projectId: string,
  filter: EmailFilter,
  { look, ...place }: Place & { look: number },
): Promise<Nearby> {
  const anchor = anchorOf(filter);
  const isTagged = filter.tag === undefined ? sql`true` : HAS_TAGS;
  const isNext = anchor === null ? isTagged : isAnchored(anchor);
  const order = anchor === null ? sql`e.id desc` : sql`${anchor.column} desc, e.id desc`;
  const { rows } = await sql<NearbyRow>`
    ${plannedEachTime} with nearby as materialized (
      select * from emails e where e.project_id = ${projectId} and ${isAt(place)} and ${isNext}
      order by ${order} limit ${look}
    ), matches as (
      select ${LISTED} from nearby e join ${CONTENT} where ${all(conditionsOf(filter))}
      order by e.id desc limit ${place.limit}
    )
    select m.*, (select id from nearby order by id desc offset ${look - 1}) as "end"
    from (select 1) one left join matches m on true order by m.id desc`.execute(database);
  return { rows: rows.filter(isEmail), end: rows[0]?.end ?? null };
}

/** An index that finds emails by a part of the filter, but not in the order of the list. */
export type Index = "contact" | "address" | "campaign" | "queue" | "campaignQueues";

/** Returns the indexes that all matches of a filter are in, most selective first. */
export function indexesOf({ to, contactId, campaignId, status }: EmailFilter): Index[][] {
  return [
    ...(contactId === undefined ? [] : [["contact" as const]]),
    ...(to === undefined || !("address" in to) ? [] : [["address" as const]]),
    ...(campaignId === undefined ? [] : [["campaign" as const]]),
    ...(status === "QUEUED" ? [["queue" as const, "campaignQueues" as const]] : []),
  ];
}

/** Returns up to `limit` ids that an index has for the filter, in the order of the index, so that the planner uses no other one. */
export async function listIndexedIds(
  database: Database,
  projectId: string,
  { to, contactId, campaignId, status }: EmailFilter,
  index: Index,
  limit: number,
): Promise<string[]> {
  const inCampaign = (value: string) =>
    isAnchored({ column: sql`e.campaign_id`, value, partial: all(conditionsOf({ status })) });
  const address = to !== undefined && "address" in to ? to.address : "";
  const toAddress = sql<SqlBool>`${HAS_ADDRESS} and e.to_address = ${address}`;
  const { is, order } = {
    contact: () => ({ is: all(conditionsOf({ contactId, campaignId })), order: sql`e.contact_id` }),
    address: () => ({
      is: isAnchored({ column: ADDRESS_HASH, value: sql`hashtext(${address})`, partial: toAddress }),
      order: ADDRESS_HASH,
    }),
    campaign: () => ({ is: inCampaign(campaignId ?? ""), order: sql`e.campaign_id` }),
    queue: () => ({
      is: sql`e.status = 'QUEUED' and e.campaign_id is null`,
      order: sql`e.priority, e.due_at`,
    }),
    campaignQueues: () => ({
      is: sql`e.status = 'QUEUED' and e.campaign_id is not null`,
      order: sql`e.campaign_id, e.due_at`,
    }),
  }[index]();
  const { rows } = await sql<{ id: string }>`
    ${plannedEachTime} select e.id from emails e where e.project_id = ${projectId} and ${is}
    order by ${order} limit ${limit}`.execute(database);
  return rows.map(({ id }) => id);
}

/** Returns the newest emails of messages that a program submitted over SMTP with this Message-ID. */
export async function findIdsBySubmitted(
  database: Database,
  projectId: string,
  messageId: string,
): Promise<string[]> {
  const { rows } = await sql<{ id: string }>`
    select id from emails where project_id = ${projectId} and submitted_message_id = ${messageId}
    order by id desc limit ${IDS_OF_A_SUBMISSION}`.execute(database);
  return rows.map(({ id }) => id);
}
/** A message has up to 100 recipients, and a program may reuse its Message-ID on another day. */
const IDS_OF_A_SUBMISSION = 1_000;

/** Returns the emails that an external sending service knows by one of these ids. */
export async function findIdsByProvider(
  database: Database,
  projectId: string,
  providerIds: readonly string[],
): Promise<string[]> {
  const { rows } = await sql<{ id: string }>`
    select id from emails where project_id = ${projectId} and provider_message_id = any(${providerIds}::text[])
    order by id desc limit ${IDS_OF_A_MESSAGE}`.execute(database);
  return rows.map(({ id }) => id);
}
/** A sending service gives each message its own id. */
const IDS_OF_A_MESSAGE = 10;

export async function countEmails(
  database: Database,
  projectId: string,
  filter: EmailFilter,
): Promise<number> {
  const content = filter.subject === undefined ? sql`` : sql`join ${CONTENT}`;
  const { rows } = await sql<{ count: number }>`
    ${plannedEachTime} select count(*) as count from emails e ${content}
    where e.project_id = ${projectId} and ${all(conditionsOf(filter))}`.execute(database);
  return rows[0]?.count ?? 0;
}
