// Statements on `contacts` and `contact_fields`. Batches come as arrays, sorted by their caller so that locks are taken in one order.
import { sql, type RawBuilder } from "kysely";
import type { Database, Tx } from "../platform/database.ts";
import type { Via } from "./consent.ts";
import type { FieldType } from "./rules.ts";

export interface ContactRow {
  id: string;
  email: string;
  subscribed: boolean;
  data: unknown;
  created_at: Date;
  updated_at: Date;
}

const COLUMNS = ["id", "email", "subscribed", "data", "created_at", "updated_at"] as const;

export interface ContactUpsert {
  projectId: string;
  email: string;
  /** The id it gets when it is new. */
  newId: string;
  /** Whether it is subscribed when it is new. */
  subscribed: boolean;
  /** JSON: what is laid over its data, and the keys that go. */
  added: string;
  removed: string;
  /** What the consent log says about its beginning when it is new. */
  via: Via;
}

export interface UpsertedContact {
  project_id: string;
  email: string;
  id: string;
  /** As it was before; of a new contact as it is. */
  subscribed: boolean;
  /** Whether it is new, or its data changed. */
  changed: boolean;
}

const keysOf = (column: string) => sql.raw(`array(select jsonb_array_elements_text(${column}))`);

export type ContactUpsertStatement = RawBuilder<UpsertedContact>;

/**
 * Inserts the contacts that are missing with the beginning of their consent log, patches the data of those that are there
 * where the patch changes anything, and registers the fields; all in one statement, because it is on the way of every
 * tracked event. A contact that another transaction inserts meanwhile is patched too. Making the statement is apart from
 * running it, so that one can be made while another runs.
 */
export function contactUpsert(
  contacts: readonly ContactUpsert[],
  fields: readonly ContactField[],
): ContactUpsertStatement {
  return sql<UpsertedContact>`
    with given as (
      select i.*, c.id, c.subscribed as was,
             c.id is not null and (c.data || i.added) - ${keysOf("i.removed")} is distinct from c.data as differs
      from unnest(
        ${arrayOf(contacts.map((contact) => contact.projectId))}::uuid[],
        ${arrayOf(contacts.map((contact) => contact.email))}::text[],
        ${arrayOf(contacts.map((contact) => contact.newId))}::uuid[],
        ${contacts.map((contact) => contact.subscribed)}::boolean[],
        ${arrayOf(contacts.map((contact) => contact.added))}::jsonb[],
        ${arrayOf(contacts.map((contact) => contact.removed))}::jsonb[],
        ${arrayOf(contacts.map((contact) => contact.via.source))}::text[],
        ${arrayOf(contacts.map((contact) => contact.via.actor))}::text[],
        ${arrayOf(contacts.map((contact) => contact.via.ip))}::inet[]
      ) as i (project_id, email, new_id, subscribed, added, removed, source, actor, ip)
      left join contacts c on c.project_id = i.project_id and c.email = i.email
    ), inserted as (
      insert into contacts (project_id, id, email, subscribed, data)
      select project_id, new_id, email, subscribed, added from given where id is null order by project_id, email
      on conflict (project_id, email) do update set updated_at = now(),
        data = (contacts.data || excluded.data) - array(
          select jsonb_array_elements_text(g.removed) from given g
          where g.project_id = excluded.project_id and g.email = excluded.email)
      returning project_id, email, id, subscribed
    ), begun as (
      insert into consent_changes (project_id, contact_id, id, subscribed, source, actor, ip)
      select i.project_id, i.id, i.id, i.subscribed, g.source, g.actor, g.ip
      from inserted i join given g on g.project_id = i.project_id and g.new_id = i.id
    ), patched as (
      update contacts c set data = (c.data || g.added) - ${keysOf("g.removed")}, updated_at = now()
      from (select * from given where differs order by project_id, email) g
      where c.project_id = g.project_id and c.id = g.id
    ), registered as (${fieldInsert(fields)})
    select project_id, email, id, was as subscribed, differs as changed from given where id is not null
    union all select project_id, email, id, subscribed, true from inserted`;
}

export async function upsertContactRows(
  tx: Tx,
  statement: ContactUpsertStatement,
): Promise<UpsertedContact[]> {
  return (await statement.execute(tx)).rows;
}

/**
 * Texts as the database writes an array of them. Quotes and backslashes are escaped in JSON alike, and that is made many
 * times faster than the driver does it; where JSON escapes anything else, it is left to the driver.
 */
function arrayOf(texts: ReadonlyArray<string | null>): string | ReadonlyArray<string | null> {
  const json = JSON.stringify(texts);
  return /\\[^"\\]/.test(json) ? texts : `{${json.slice(1, -1)}}`;
}

/**
 * Sets `subscribed` where it differs, with a row of the consent log for each, and answers the contacts that really flipped,
 * also beside other transactions. A contact may be given once.
 */
export async function flipSubscriptions(
  tx: Tx,
  flips: ReadonlyArray<{ projectId: string; id: string; subscribed: boolean; changeId: string; via: Via }>,
) {
  const { rows } = await sql<{ project_id: string; id: string; subscribed: boolean }>`
    with given as (
      select * from unnest(
        ${flips.map((flip) => flip.projectId)}::uuid[],
        ${flips.map((flip) => flip.id)}::uuid[],
        ${flips.map((flip) => flip.subscribed)}::boolean[],
        ${flips.map((flip) => flip.changeId)}::uuid[],
        ${flips.map((flip) => flip.via.source)}::text[],
        ${flips.map((flip) => flip.via.actor)}::text[],
        ${flips.map((flip) => flip.via.ip)}::inet[]
      ) as t (project_id, id, subscribed, change_id, source, actor, ip)
    ), flipped as (
      update contacts c set subscribed = i.subscribed, updated_at = now()
      from (select * from given order by project_id, id) i
      where c.project_id = i.project_id and c.id = i.id and c.subscribed <> i.subscribed
      returning c.project_id, c.id, c.subscribed
    ), logged as (
      insert into consent_changes (project_id, contact_id, id, subscribed, source, actor, ip)
      select f.project_id, f.id, g.change_id, f.subscribed, g.source, g.actor, g.ip
      from flipped f join given g on g.project_id = f.project_id and g.id = f.id
    )
    select project_id, id, subscribed from flipped`.execute(tx);
  return rows;
}

export interface ContactField {
  projectId: string;
  field: string;
  type: FieldType;
}

/** Registers the type of keys seen for the first time; the first type stays. */
export async function insertFields(tx: Tx, fields: readonly ContactField[]): Promise<void> {
  await fieldInsert(fields).execute(tx);
}

function fieldInsert(fields: readonly ContactField[]) {
  return sql`
    insert into contact_fields (project_id, field, type)
    select i.project_id, i.field, i.type from unnest(
      ${fields.map((field) => field.projectId)}::uuid[],
      ${fields.map((field) => field.field)}::text[],
      ${fields.map((field) => field.type)}::text[]
    ) as i (project_id, field, type)
    where not exists (select 1 from contact_fields f where f.project_id = i.project_id and f.field = i.field)
    order by i.project_id, i.field
    on conflict do nothing`;
}

export async function findContact(
  database: Database,
  projectId: string,
  id: string,
): Promise<ContactRow | undefined> {
  return database
    .selectFrom("contacts")
    .select(COLUMNS)
    .where("project_id", "=", projectId)
    .where("id", "=", id)
    .executeTakeFirst();
}

export async function findContactRowByEmail(
  database: Database,
  projectId: string,
  email: string,
): Promise<ContactRow | undefined> {
  return database
    .selectFrom("contacts")
    .select(COLUMNS)
    .where("project_id", "=", projectId)
    .where("email", "=", email)
    .executeTakeFirst();
}

export async function findContactForUpdate(
  tx: Tx,
  projectId: string,
  id: string,
): Promise<ContactRow | undefined> {
  return tx
    .selectFrom("contacts")
    .select(COLUMNS)
    .where("project_id", "=", projectId)
    .where("id", "=", id)
    .forUpdate()
    .executeTakeFirst();
}

export async function updateContactRow(
  tx: Tx,
  projectId: string,
  id: string,
  changes: { email?: string; subscribed?: boolean; data?: string },
): Promise<void> {
  await tx
    .updateTable("contacts")
    .set({ ...changes, updated_at: sql`now()` })
    .where("project_id", "=", projectId)
    .where("id", "=", id)
    .execute();
}

/**
 * Locks contacts of a project and answers those that are there. In the order in which upserts lock them, so that neither
 * waits for the other in a circle. `deleting` also waits for whoever adds something to them.
 */
export async function lockContacts(
  tx: Tx,
  projectId: string,
  ids: readonly string[],
  purpose: "changing" | "deleting",
): Promise<Array<{ id: string; subscribed: boolean }>> {
  const strength = purpose === "deleting" ? sql`for update` : sql`for no key update`;
  const { rows } = await sql<{ id: string; subscribed: boolean }>`
    select id, subscribed from contacts where project_id = ${projectId} and id = any(${ids}::uuid[])
    order by email ${strength}`.execute(tx);
  return rows;
}

export async function deleteContactRows(tx: Tx, projectId: string, ids: readonly string[]): Promise<void> {
  await sql`delete from contacts where project_id = ${projectId} and id = any(${ids}::uuid[])`.execute(tx);
}

export async function findEmails(
  database: Database,
  projectId: string,
  emails: readonly string[],
): Promise<Set<string>> {
  const { rows } = await sql<{ email: string }>`
    select email from contacts where project_id = ${projectId} and email = any(${emails}::text[])`.execute(
    database,
  );
  return new Set(rows.map((row) => row.email));
}

/** Contacts whose data is needed for rendering, many projects at once. */
export async function findContactsById(
  database: Database,
  keys: ReadonlyArray<{ projectId: string; id: string }>,
) {
  const { rows } = await sql<{
    project_id: string;
    id: string;
    email: string;
    subscribed: boolean;
    data: unknown;
  }>`
    select c.project_id, c.id, c.email, c.subscribed, c.data
    from unnest(${keys.map((key) => key.projectId)}::uuid[], ${keys.map((key) => key.id)}::uuid[]) as i (project_id, id)
    join contacts c on c.project_id = i.project_id and c.id = i.id`.execute(database);
  return rows;
}
