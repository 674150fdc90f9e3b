// Statements on `domains`.
import { sql } from "kysely";
import type { Database, Tx } from "../platform/database/database.ts";
import type { Row } from "../platform/database/row.ts";

/** TXT records by name, as DNS returned them. Names without an answer are missing. */
export type FoundRecords = Readonly<Record<string, readonly string[]>>;

/** When DNS last answered for a name, and which servers were asked. */
export interface Lookup {
  at: string;
  servers: readonly string[];
}
export type Lookups = Readonly<Record<string, Lookup>>;

interface AsJson {
  dnsFound: FoundRecords;
  dnsLookups: Lookups;
}

export interface DomainRow extends Row<
  "domains",
  | "projectId"
  | "id"
  | "domain"
  | "status"
  | "dkimSelector"
  | "dkimPublicKey"
  | "secondDkimSelector"
  | "secondDkimPublicKey"
  | "ed25519Selector"
  | "ed25519PublicKey"
  | "checkProblem"
  | "failedChecks"
  | "failedAt"
  | "receives"
  | "statusChangedAt"
  | "lastCheckedAt"
  | "createdAt"
  | "updatedAt"
> {
  /** Set for a former key, null for the next one. */
  secondDkimUntil: Date | null;
  /** Whether the last check found it, so that it signs. */
  ed25519Published: boolean;
  dnsFound: FoundRecords;
  /** By the names of the records; names that never got an answer are missing. */
  dnsLookups: Lookups;
  /** The database's clock when the row was read. */
  now: Date;
}

export interface DomainKey {
  projectId: string;
  id: string;
}

export interface SealedDkimKey {
  selector: string;
  publicKey: string;
  sealedPrivateKey: Buffer;
}

export interface NewDomain {
  domain: string;
  key: SealedDkimKey;
}

const COLUMNS = [
  "projectId",
  "id",
  "domain",
  "status",
  "dkimSelector",
  "dkimPublicKey",
  "secondDkimSelector",
  "secondDkimPublicKey",
  "secondDkimUntil",
  "ed25519Selector",
  "ed25519PublicKey",
  "ed25519Published",
  "dnsFound",
  "dnsLookups",
  "checkProblem",
  "failedChecks",
  "failedAt",
  "receives",
  "statusChangedAt",
  "lastCheckedAt",
  "createdAt",
  "updatedAt",
] as const;
const NOW = sql<Date>`now()`.as("now");

export async function listDomainRows(database: Database, projectId: string): Promise<DomainRow[]> {
  return database
    .selectFrom("domains")
    .select([...COLUMNS, NOW])
    .where("projectId", "=", projectId)
    .orderBy("id", "desc")
    .$narrowType<AsJson>()
    .execute();
}

/** Returns a random selection of verified domains. */
export async function listVerifiedDomains(database: Database, limit: number): Promise<DomainRow[]> {
  return database
    .selectFrom("domains")
    .select([...COLUMNS, NOW])
    .where("status", "=", "VERIFIED")
    .orderBy(sql`random()`)
    .limit(limit)
    .$narrowType<AsJson>()
    .execute();
}

export async function countVerifiedDomains(database: Database): Promise<number> {
  const { rows } = await sql<{ count: number }>`
    select count(*)::float8 as count from domains where status = 'VERIFIED'`.execute(database);
  return rows[0]?.count ?? 0;
}

export async function findDomain(
  database: Database,
  { projectId, id }: DomainKey,
): Promise<DomainRow | undefined> {
  return database
    .selectFrom("domains")
    .select([...COLUMNS, NOW])
    .where("projectId", "=", projectId)
    .where("id", "=", id)
    .$narrowType<AsJson>()
    .executeTakeFirst();
}

/** Serializes changes of a domain's owner, because no unique key spans projects. */
export async function lockDomainName(tx: Tx, domain: string): Promise<void> {
  await sql`select pg_advisory_xact_lock(hashtextextended(${`domain:${domain}`}, 0))`.execute(tx);
}

/** Waits until no other transaction adds a domain to this project. */
export async function lockProjectDomains(tx: Tx, projectId: string): Promise<void> {
  await sql`select pg_advisory_xact_lock(hashtextextended(${`domains of:${projectId}`}, 0))`.execute(tx);
}

export async function countDomains(database: Database, projectId: string): Promise<number> {
  const row = await database
    .selectFrom("domains")
    .select((select) => select.fn.countAll<number>().as("count"))
    .where("projectId", "=", projectId)
    .executeTakeFirst();
  return row?.count ?? 0;
}

export async function findClaims(
  tx: Database,
  domain: string,
): Promise<Array<{ projectId: string; status: string; lastCheckedAt: Date | null }>> {
  return tx
    .selectFrom("domains")
    .select(["projectId", "status", "lastCheckedAt"])
    .where("domain", "=", domain)
    .execute();
}

/** Senders try again for four to five days (RFC 5321 section 4.5.4.1). */
const RECENT_DAYS = 4;

/** Returns the domains of these names that should receive email, verified or not. `isRecent`: the status changed in the last four days. */
export async function findReceivingRows(database: Database, names: readonly string[]) {
  return database
    .selectFrom("domains")
    .select(["projectId", "domain", "status", "lastCheckedAt", "failedChecks"])
    .select(sql<boolean>`status_changed_at > now() - make_interval(days => ${RECENT_DAYS})`.as("isRecent"))
    .where("domain", "in", [...names])
    .where("receives", "=", true)
    .execute();
}

export async function updateReceives(tx: Tx, { projectId, id }: DomainKey, receives: boolean): Promise<void> {
  await tx
    .updateTable("domains")
    .set({ receives, updatedAt: sql`now()` })
    .where("projectId", "=", projectId)
    .where("id", "=", id)
    .where("receives", "!=", receives)
    .execute();
}

export async function insertDomain(
  tx: Tx,
  { projectId, id }: DomainKey,
  domain: string,
  key: SealedDkimKey,
): Promise<void> {
  await tx
    .insertInto("domains")
    .values({
      projectId,
      id,
      domain,
      dkimSelector: key.selector,
      dkimPublicKey: key.publicKey,
      dkimPrivateKey: key.sealedPrivateKey,
    })
    .execute();
}

export async function deleteDomainRow(tx: Tx, { projectId, id }: DomainKey): Promise<boolean> {
  const result = await tx
    .deleteFrom("domains")
    .where("projectId", "=", projectId)
    .where("id", "=", id)
    .executeTakeFirst();
  return result.numDeletedRows === 1n;
}

/** Blocks the deletion of the domain until the transaction ends. */
export async function lockDomain(
  tx: Tx,
  { projectId, domain }: { projectId: string; domain: string },
): Promise<void> {
  await sql`select from domains where project_id = ${projectId} and domain = ${domain} for key share`.execute(
    tx,
  );
}

/** Returns the signing keys of these domains, verified or not. */
export async function findDkimKeys(
  database: Database,
  names: ReadonlyArray<{ projectId: string; domain: string }>,
) {
  const { rows } = await sql<{
    projectId: string;
    domain: string;
    status: string;
    lastCheckedAt: Date | null;
    dkimSelector: string;
    dkimPrivateKey: Buffer;
    /** null unless it signs. */
    ed25519Selector: string | null;
    ed25519PrivateKey: Buffer | null;
  }>`
    select d.project_id, d.domain, d.status, d.last_checked_at, d.dkim_selector, d.dkim_private_key,
      case when d.ed25519_published then d.ed25519_selector end as ed25519_selector,
      case when d.ed25519_published then d.ed25519_private_key end as ed25519_private_key
    from unnest(${names.map((name) => name.projectId)}::uuid[], ${names.map((name) => name.domain)}::text[]) as i (project_id, domain)
    join domains d on d.project_id = i.project_id and d.domain = i.domain`.execute(database);
  return rows;
}

/** Stores a second key as the next one. Returns false if there already is a second key in use. */
export async function insertNextDkimKey(
  tx: Tx,
  { projectId, id }: DomainKey,
  key: SealedDkimKey,
): Promise<boolean> {
  const result = await tx
    .updateTable("domains")
    .set({
      secondDkimSelector: key.selector,
      secondDkimPublicKey: key.publicKey,
      secondDkimPrivateKey: key.sealedPrivateKey,
      secondDkimUntil: null,
      updatedAt: sql`now()`,
    })
    .where("projectId", "=", projectId)
    .where("id", "=", id)
    .where((where) =>
      where.or([where("secondDkimSelector", "is", null), where("secondDkimUntil", "<=", sql<Date>`now()`)]),
    )
    .executeTakeFirst();
  return result.numUpdatedRows === 1n;
}

/** Gives a domain an Ed25519 key unless it has one. Null removes the key. */
export async function updateEd25519Key(
  tx: Tx,
  { projectId, id }: DomainKey,
  key: SealedDkimKey | null,
): Promise<void> {
  await tx
    .updateTable("domains")
    .set({
      ed25519Selector: key?.selector ?? null,
      ed25519PublicKey: key?.publicKey ?? null,
      ed25519PrivateKey: key?.sealedPrivateKey ?? null,
      ed25519Published: false,
      updatedAt: sql`now()`,
    })
    .where("projectId", "=", projectId)
    .where("id", "=", id)
    .where("ed25519Selector", key === null ? "is not" : "is", null)
    .execute();
}
