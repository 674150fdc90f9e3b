// Statements on `contacts`. Callers sort batches, so that locks are taken in one order. upsert-queries.ts creates contacts.
import { sql, type RawBuilder } from "kysely";
import type { Database, Tx } from "../platform/database/database.ts";
import type { Row } from "../platform/database/row.ts";
import { insertRepeatedOptOuts, lockImported } from "./repeated-opt-out-queries.ts";
import type { ChangeSource } from "./rules.ts";
import { shownData } from "./shown-data-queries.ts";

/** The columns that callers see, without `data`. Every list, page and export of contacts selects them. */
const COLUMNS = ["id", "email", "subscribed", "createdAt", "updatedAt"] as const;

export type ContactRow = Row<"contacts", (typeof COLUMNS)[number] | "data">;

/** Returns the columns of `ContactRow` for a statement on `contacts c`. */
export function contactColumns(projectId: string): RawBuilder<unknown> {
  const stored = COLUMNS.map((column) => sql.ref(`c.${column}`));
  return sql`${sql.join(stored)}, ${shownData(projectId)} as data`;
}

function selectContact(database: Database, projectId: string) {
  return database
    .selectFrom("contacts as c")
    .select(COLUMNS)
    .select(shownData(projectId).as("data"))
    .where("c.projectId", "=", projectId);
}

/**
 * Sets `subscribed` where it differs and logs each change in the consent log. Returns the contacts that flipped, and those whose opt-out
 * was also logged because an import had unsubscribed them. Safe under concurrency. Each contact may appear once.
 */
export async function flipSubscriptions(
  tx: Tx,
  flips: readonly FlipRow[],
): Promise<{ flipped: FlippedContact[]; repeated: string[] }> {
  const rows = await flipRows(tx, flips);
  const flipped = new Set(rows.map(({ id }) => id));
  const optOuts = flips.filter(
    ({ id, subscribed, via }) => !subscribed && via.source !== "import" && !flipped.has(id),
  );
  const repeated: string[] = [];
  for (const [projectId, own] of Map.groupBy(optOuts, (flip) => flip.projectId)) {
    const late = await repeatOptOuts(tx, projectId, own);
    rows.push(...late.flipped);
    repeated.push(...late.repeated);
  }
  return { flipped: rows, repeated };
}

/** Logs opt-outs of contacts that were already unsubscribed by an import. */
async function repeatOptOuts(
  tx: Tx,
  projectId: string,
  optOuts: readonly FlipRow[],
): Promise<{ flipped: FlippedContact[]; repeated: string[] }> {
  const held = await lockImported(
    tx,
    projectId,
    optOuts.map(({ id }) => id),
  );
  if (held.size === 0) return { flipped: [], repeated: [] };
  const meant = optOuts.filter(({ id }) => held.has(id));
  // An undo may have resubscribed the contacts before it released the locks.
  const flipped = await flipRows(tx, meant);
  return { flipped, repeated: await insertRepeatedOptOuts(tx, projectId, meant) };
}

interface FlipRow extends FlippedContact {
  changeId: string;
  via: ChangeSource;
}

type FlippedContact = Row<"contacts", "projectId" | "id" | "subscribed">;

async function flipRows(tx: Tx, flips: readonly FlipRow[]): Promise<FlippedContact[]> {
  const { rows } = await sql<FlippedContact>`
    with given as (
      select * from unnest(
        ${flips.map((flip) => flip.projectId)}::uuid[],
        ${flips.map((flip) => flip.id)}::uuid[],
        ${flips.map((flip) => flip.subscribed)}::boolean[],
        ${flips.map((flip) => flip.changeId)}::uuid[],
        ${flips.map((flip) => flip.via.source)}::text[],
        ${flips.map((flip) => flip.via.actor)}::text[],
        ${flips.map((flip) => flip.via.ip)}::inet[],
        ${flips.map((flip) => flip.via.emailId ?? null)}::uuid[]
      ) as t (project_id, id, subscribed, change_id, source, actor, ip, email_id)
    ), flipped as (
      update contacts c set subscribed = i.subscribed, data = ${shownData(sql`c.project_id`)}, updated_at = now()
      from (select * from given order by project_id, id) i
      where c.project_id = i.project_id and c.id = i.id and c.subscribed <> i.subscribed
      returning c.project_id, c.id, c.subscribed
    ), logged as (
      insert into consent_changes (project_id, contact_id, id, subscribed, source, actor, ip, email_id)
      select f.project_id, f.id, g.change_id, f.subscribed, g.source, g.actor, g.ip, g.email_id
      from flipped f join given g on g.project_id = f.project_id and g.id = f.id
    )
    select project_id, id, subscribed from flipped`.execute(tx);
  return rows;
}

/** Marks that these contacts are unsubscribed by choice and no longer by default. */
export async function endDefaults(
  tx: Tx,
  contacts: ReadonlyArray<{ projectId: string; id: string }>,
): Promise<void> {
  await sql`
    update consent_changes l set by_default = false
    from unnest(${contacts.map(({ projectId }) => projectId)}::uuid[], ${contacts.map(({ id }) => id)}::uuid[]) as i (project_id, id)
    where l.project_id = i.project_id and l.contact_id = i.id and l.id = i.id and l.by_default`.execute(tx);
}

export async function findContact(
  database: Database,
  projectId: string,
  id: string,
): Promise<ContactRow | undefined> {
  return selectContact(database, projectId).where("c.id", "=", id).executeTakeFirst();
}

export async function findContactRowByEmail(
  database: Database,
  projectId: string,
  email: string,
): Promise<ContactRow | undefined> {
  return selectContact(database, projectId).where("c.email", "=", email).executeTakeFirst();
}

export async function findContactForUpdate(
  tx: Tx,
  projectId: string,
  id: string,
): Promise<ContactRow | undefined> {
  return selectContact(tx, projectId).where("c.id", "=", id).forUpdate().executeTakeFirst();
}

/** Columns to write; `data` is JSON. */
export type ContactChanges = Partial<Omit<ContactRow, "data">> & { data?: string };

export async function updateContactRow(
  tx: Tx,
  projectId: string,
  id: string,
  changes: ContactChanges,
): Promise<void> {
  await tx
    .updateTable("contacts")
    .set({ data: sql`${shownData(projectId, "contacts")}`, ...changes, updatedAt: sql`now()` })
    .where("projectId", "=", projectId)
    .where("id", "=", id)
    .execute();
}

type LockedContact = Row<"contacts", "id" | "email" | "subscribed">;

/**
 * Locks existing contacts of a project in the lock order of upserts, which avoids deadlocks, and returns them. `deleting` also waits for
 * transactions that add rows referencing the contacts.
 */
export async function lockContacts(
  tx: Tx,
  projectId: string,
  ids: readonly string[],
  purpose: "changing" | "deleting",
): Promise<LockedContact[]> {
  const strength = purpose === "deleting" ? sql`for update` : sql`for no key update`;
  const { rows } = await sql<LockedContact>`
    select id, email, subscribed from contacts where project_id = ${projectId} and id = any(${ids}::uuid[])
    order by email ${strength}`.execute(tx);
  return rows;
}

/** Locks the contact of an address, if any. Waits for a concurrent deletion, so that the next statement no longer finds the contact. */
export async function lockContactOf(tx: Tx, projectId: string, email: string): Promise<void> {
  await sql`
    select 1 from contacts where project_id = ${projectId} and email = ${email} for no key update`.execute(
    tx,
  );
}

/** Also deletes their consent log. `consent_erasures` keeps only the positions of the deleted rows. */
export async function deleteContactRows(tx: Tx, projectId: string, ids: readonly string[]): Promise<void> {
  await sql`
    with gone as (
      select array_agg(position order by position) as positions from consent_changes
      where project_id = ${projectId} and contact_id = any(${ids}::uuid[])
    ), noted as (
      insert into consent_erasures (project_id, positions)
      select ${projectId}, positions from gone where positions is not null
    )
    delete from contacts where project_id = ${projectId} and id = any(${ids}::uuid[])`.execute(tx);
}

/** Returns the current addresses of existing contacts. */
export async function findAddresses(
  database: Database,
  projectId: string,
  ids: readonly string[],
): Promise<Array<{ id: string; email: string }>> {
  const { rows } = await sql<{ id: string; email: string }>`
    select id, email from contacts where project_id = ${projectId} and id = any(${ids}::uuid[])`.execute(
    database,
  );
  return rows;
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

/** Returns whether existing contacts with these addresses are subscribed. */
export async function findSubscriptions(
  database: Database,
  projectId: string,
  emails: readonly string[],
): Promise<Map<string, boolean>> {
  const { rows } = await sql<{ email: string; subscribed: boolean }>`
    select email, subscribed from contacts where project_id = ${projectId} and email = any(${emails}::text[])`.execute(
    database,
  );
  return new Map(rows.map((row) => [row.email, row.subscribed]));
}

/** Returns contacts of many projects with the data needed for rendering. */
export async function findContactsById(
  database: Database,
  keys: ReadonlyArray<{ projectId: string; id: string }>,
) {
  const { rows } = await sql<Row<"contacts", "projectId" | "id" | "email" | "subscribed" | "data">>`
    select c.project_id, c.id, c.email, c.subscribed, ${shownData(sql`c.project_id`)} as data
    from unnest(${keys.map((key) => key.projectId)}::uuid[], ${keys.map((key) => key.id)}::uuid[]) as i (project_id, id)
    join contacts c on c.project_id = i.project_id and c.id = i.id`.execute(database);
  return rows;
}
