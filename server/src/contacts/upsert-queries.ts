// Upserts contacts by address, optionally with an event each, and registers the types of new keys, in one statement.
import { sql, type RawBuilder } from "kysely";
import { databaseErrorCode, plannedOften, type Database, type Tx } from "../platform/database/database.ts";
import { idTimeMs } from "../platform/ids.ts";
import { recordEventsFrom } from "../events/events.ts";
import type { ChangeSource } from "./consent.ts";
import { fieldInsert, type ContactField } from "./field-insert-queries.ts";
import { runningDeletionsOf } from "./shown-data-queries.ts";

export interface ContactUpsert {
  projectId: string;
  email: string;
  /** The id of the contact if it is new. */
  newId: string;
  /**
   * The keyed hash of the address, which finds an opt-out when the contact is new. Null if it was not computed, because hashing is slow and
   * no opt-out is expected. Allowed only with a recorder.
   */
  addressHash: string | null;
  /** Whether it is subscribed when it is new and has not opted out. */
  subscribed: boolean;
  /** The subscription that the caller requested for a new contact, or null. Only `true` ends an opt-out. */
  wish: boolean | null;
  /** JSON with the values to merge into the data, and the keys to remove. */
  added: string;
  removed: string;
  /** Source and actor of the first log entry of a new contact. */
  via: ChangeSource;
}

export interface UpsertedContact {
  projectId: string;
  email: string;
  id: string;
  /** The previous state of an existing contact, or the state of a new one. */
  subscribed: boolean;
  /** Whether the contact is new or its data changed. */
  changed: boolean;
}

/** Characters that JSON escapes in addition to quotes and backslashes. Serialized JSON contains none of them. */
const CONTROL = /\p{Cc}/u;

// Functions of the database are called only where there is something to do, because a call costs as much as the rest of the row.

/** Returns data without outdated keys. */
const current = (data: RawBuilder<unknown>, changedAt: RawBuilder<unknown>) =>
  sql`case when g.deletions is null then ${data} else ${data} - outdated_keys(g.deletions, ${changedAt}) end`;
/** Returns data with the added values of a row and without the removed keys. */
const patched = (data: RawBuilder<unknown>, row: "i" | "g") => {
  const [added, removed] = [sql.ref(`${row}.added`), sql.ref(`${row}.removed`)];
  return sql`case when ${removed} = '[]' then (${data}) || ${added} else ((${data}) || ${added}) - jsonb_texts(${removed}) end`;
};

export type ContactUpsertStatement = RawBuilder<UpsertedContact>;

/**
 * Returns an INSERT that records the contacts that a statement patches. `patched` is a query of (id, old, added, removed): the data before,
 * and the patch.
 */
export type PatchRecorder = (patched: RawBuilder<unknown>) => RawBuilder<unknown>;

/**
 * Inserts the contacts that are missing with the beginning of their consent log, patches the data of those that are there
 * where the patch changes anything, and registers the fields; all in one statement, because it is on the way of every
 * tracked event. A new contact whose address opted out begins unsubscribed, unless the caller wishes it subscribed. Making the statement is
 * apart from running it, so that one can be made while another runs.
 *
 * Contacts that another transaction inserts meanwhile are left out and not returned. The next run of the statement finds them. With a
 * recorder the same is true of contacts that another transaction changes, because their previous data is not known. If hashes are missing
 * and the project has any opt-out, all contacts are left out.
 */
export function contactUpsert(
  contacts: readonly ContactUpsert[],
  fields: readonly ContactField[],
  recordPatches?: PatchRecorder,
): ContactUpsertStatement {
  const ways = recordPatches === undefined ? AT_ONCE : recorded(recordPatches, contacts);
  return sql<UpsertedContact>`${plannedOften} with ${upserted(contacts, fields, ways)} select * from upserted`;
}

/** An event of one of the upserted contacts. */
export interface UpsertEvent {
  projectId: string;
  email: string;
  id: string;
  name: string;
  /** JSON. */
  data: string | null;
  /** Whether a call with a public key tracked it. */
  fromPublicKey: true | null;
  createdAt: Date;
  /** Set for a lone event if its data equals the contact's new values. */
  hasAdded?: boolean;
}

/**
 * Also records an event per item, in order. The statement needs no transaction around it. The event ids were made earlier. If that was too
 * long ago, the ids may fall into a range that is already counted (docs/decisions/0044). The statement then does nothing and returns no
 * rows. It fails and changes nothing if a contact would be left out (`isLeftOut`).
 */
export function contactUpsertWithEvents(
  contacts: readonly ContactUpsert[],
  fields: readonly ContactField[],
  events: readonly UpsertEvent[],
): ContactUpsertStatement {
  const hasAdded = events.length === 1 && events[0]?.hasAdded === true;
  const isWanted = isInTime(events[0]?.id ?? "");
  const source = sql`
    select e.project_id, e.id, u.id, e.name, ${hasAdded ? sql`(select added from given)` : sql`e.data`}, null::uuid, e.created_at,
      e.from_public_key
    from unnest(
      ${arrayOf(events.map((event) => event.projectId))}::uuid[],
      ${arrayOf(events.map((event) => event.email))}::text[],
      ${arrayOf(events.map((event) => event.id))}::uuid[],
      ${arrayOf(events.map((event) => event.name))}::text[],
      ${arrayOf(events.map((event) => (hasAdded ? null : event.data)))}::jsonb[],
      ${arrayOf(events.map((event) => event.createdAt.toISOString()))}::timestamptz[],
      ${events.map((event) => event.fromPublicKey)}::boolean[]
    ) as e (project_id, email, id, name, data, created_at, from_public_key)
    left join upserted u on u.project_id = e.project_id and u.email = e.email
    where ${isWanted}
    order by e.id`;
  return sql<UpsertedContact>`
    ${plannedOften} with ${upserted(contacts, fields, { ...AT_ONCE, isWanted })}, ${recordEventsFrom(source)} select * from upserted`;
}

const NOT_NULL_VIOLATION = "23502";

/** Returns whether a contact was left out of a statement with events: its event then has no contact. */
export function isLeftOut(error: unknown): boolean {
  // Workers of Citus report no column. The message is in the language of the database.
  const { column, message } = Object(error) as { column?: unknown; message?: unknown };
  const isOfContact = column === "contact_id" || /\bcontact_id\b/.test(String(message));
  return databaseErrorCode(error) === NOT_NULL_VIOLATION && isOfContact;
}

/** The counts wait for ids up to one second before the start of a transaction. */
const isInTime = (firstId: string) =>
  sql`${idTimeMs(firstId)}::bigint >= extract(epoch from now()) * 1000 - 1000`;

const existsOptOut = (contacts: ReadonlyArray<{ projectId: string }>) => sql<boolean>`exists (
  select 1 from opt_outs where project_id = any(${[...new Set(contacts.map(({ projectId }) => projectId))]}::uuid[]))`;

/** Returns whether any address of the projects of these contacts opted out and has no contact. */
export async function hasOptOuts(tx: Tx, contacts: ReadonlyArray<{ projectId: string }>): Promise<boolean> {
  const { rows } = await sql<{ has: boolean }>`select ${existsOptOut(contacts)} as has`.execute(tx);
  return rows[0]?.has === true;
}

/** The parts in which statements with and without a recorder differ. */
interface UpsertWays {
  /** Whether the statement does anything. */
  isWanted: RawBuilder<unknown>;
  /** More columns of `found`, and their types for contacts that are not there. */
  before: RawBuilder<unknown>;
  beforeNew: RawBuilder<unknown>;
  /** The contacts that are patched, from `given`. */
  differing: RawBuilder<unknown>;
  /** The end of the UPDATE that patches them, and CTEs after it. */
  patchEnd: RawBuilder<unknown>;
  /** Which of the contacts that are there are returned. */
  isDone: RawBuilder<unknown>;
}

const AT_ONCE: UpsertWays = {
  isWanted: sql`true`,
  before: sql``,
  beforeNew: sql``,
  differing: sql`select * from given where differs`,
  patchEnd: sql`)`,
  isDone: sql`true`,
};

/** Data is patched only if it is still the data that `given` read. */
const recorded = (recordPatches: PatchRecorder, contacts: readonly ContactUpsert[]): UpsertWays => ({
  isWanted: contacts.every(({ addressHash }) => addressHash !== null)
    ? sql`true`
    : sql`not ${existsOptOut(contacts)}`,
  before: sql`, c.data as was_data, c.updated_at as was_updated_at`,
  beforeNew: sql`, null::jsonb, null::timestamptz`,
  differing: sql`
    select g.*, ${current(sql`g.was_data`, sql`g.was_updated_at`)} as old from given g where g.differs`,
  patchEnd: sql`and c.data = g.was_data returning c.id, g.old, g.added, g.removed
    ), recorded as (${recordPatches(sql`select id, old, added, removed from patched`)})`,
  isDone: sql`(not differs or id in (select id from patched))`,
});

/** As CTEs of a larger statement; the last of them answers. */
function upserted(
  contacts: readonly ContactUpsert[],
  fields: readonly ContactField[],
  { isWanted, before, beforeNew, differing, patchEnd, isDone }: UpsertWays,
): RawBuilder<unknown> {
  return sql`
    wanted as materialized (
      select i.*
      from unnest(
        -- A subquery hides the array's length from the planner. Otherwise each short batch would be planned again.
        (select ${arrayOf(contacts.map((contact) => contact.projectId))}::uuid[]),
        ${arrayOf(contacts.map((contact) => contact.email))}::text[],
        ${arrayOf(contacts.map((contact) => contact.newId))}::uuid[],
        ${arrayOf(contacts.map((contact) => contact.addressHash))}::uuid[],
        ${arrayOfFlags(contacts.map((contact) => contact.subscribed))}::boolean[],
        ${arrayOfFlags(contacts.map((contact) => contact.wish))}::boolean[],
        ${arrayOf(contacts.map((contact) => contact.added))}::jsonb[],
        ${arrayOf(contacts.map((contact) => contact.removed))}::jsonb[],
        ${arrayOf(contacts.map((contact) => contact.via.source))}::text[],
        ${arrayOf(contacts.map((contact) => contact.via.actor))}::text[],
        ${arrayOf(contacts.map((contact) => contact.via.ip))}::inet[]
      ) as i (project_id, email, new_id, address_hash, subscribed, wish, added, removed, source, actor, ip)
      where ${isWanted}
    ), deleting as materialized (
      ${runningDeletionsOf(sql`${arrayOf([...new Set(contacts.map((contact) => contact.projectId))])}::uuid[]`)}
    ), found as materialized (
      select i.*, d.deletions, c.id, c.subscribed as was,
        ${patched(sql`c.data`, "i")} is distinct from c.data
          or d.deletions is not null and i.added ?| outdated_keys(d.deletions, c.updated_at) as differs ${before}
      from wanted i left join deleting d on d.project_id = i.project_id
      join contacts c on c.project_id = i.project_id and c.email = i.email
    ), given as (
      -- Not a left join, because a distributed database would read all contacts for it.
      select * from found
      union all
      select i.*, null::jsonb, null::uuid, null::boolean, false ${beforeNew} from wanted i
      where (i.new_id in (select new_id from found)) is not true
    ), opted_out as (
      -- A new contact consumes the opt-out of its address.
      delete from opt_outs o using given g
      where g.id is null and o.project_id = g.project_id and o.address_hash = g.address_hash
      returning g.new_id
    ), beginning as (
      select g.*, g.wish is not true and g.new_id in (select new_id from opted_out) as is_opted_out from given g where g.id is null
    ), inserted as (
      insert into contacts (project_id, id, email, subscribed, data)
      select project_id, new_id, email, subscribed and not is_opted_out, bounded_data(added, '{}') from beginning order by project_id, email
      on conflict (project_id, email) do nothing
      returning project_id, email, id, subscribed
    ), begun as (
      insert into consent_changes (project_id, contact_id, id, subscribed, source, actor, ip, by_default)
      select g.project_id, g.new_id, g.new_id, g.subscribed and not g.is_opted_out,
             case when g.is_opted_out then 'opt-out' else g.source end, g.actor, g.ip, g.wish is null and not g.is_opted_out
      from beginning g
      -- An expression is hashed. For a join the planner expects a row or two on each side and would compare every pair.
      where (g.new_id in (select id from inserted)) is true
    ), patched as (
      update contacts c set data = bounded_data(${patched(current(sql`c.data`, sql`c.updated_at`), "g")}, c.data), updated_at = now()
      from (${differing} order by project_id, email) g
      where c.project_id = g.project_id and c.id = g.id ${patchEnd}, registered as (${fieldInsert(fields)}
    ), upserted as (
      select project_id, email, id, was as subscribed, differs as changed from given where id is not null and ${isDone}
      union all select project_id, email, id, subscribed, true from inserted
    )`;
}

export async function upsertContactRows(
  database: Database,
  statement: ContactUpsertStatement,
): Promise<UpsertedContact[]> {
  return (await statement.execute(database)).rows;
}

/** Longer texts are sent as a separate parameter, because escaping them is slow. */
const LARGE_LENGTH = 64 * 1024;

/**
 * Serializes texts as a PostgreSQL array literal. JSON escapes quotes and backslashes in the same way and is many times faster than the
 * driver. Texts with other escapes are left to the driver.
 */
function arrayOf(
  texts: ReadonlyArray<string | null>,
): string | ReadonlyArray<string | null> | RawBuilder<unknown> {
  const [first = null, ...others] = texts;
  if (first !== null && first.length > LARGE_LENGTH && others.length === 0) return sql`array[${first}]`;
  if (texts.some((text) => text !== null && (CONTROL.test(text) || !text.isWellFormed()))) return texts;
  return `{${JSON.stringify(texts).slice(1, -1)}}`;
}

/** The same of booleans. */
const arrayOfFlags = (flags: ReadonlyArray<boolean | null>) => `{${JSON.stringify(flags).slice(1, -1)}}`;
