// Statements on `campaigns`, except those that change the status (status-queries.ts).
import { sql, type RawBuilder, type SqlBool } from "kysely";
import type { CampaignStatus } from "@postloft/contract/campaigns.ts";
import type { Database, Tx } from "../platform/database/database.ts";
import type { Row } from "../platform/database/row.ts";
import { containing } from "../platform/http/page.ts";

export type CampaignRow = Row<"campaigns", (typeof COLUMNS)[number]>;

const COLUMNS = [
  "id",
  "name",
  "description",
  "subject",
  "previewText",
  "body",
  "design",
  "fromAddress",
  "fromName",
  "replyTo",
  "kind",
  "audienceType",
  "segmentId",
  "audienceFilter",
  "status",
  "scheduledFor",
  "heldReasonParts",
  "startedAt",
  "snapshotAt",
  "totalRecipients",
  "excluded",
  "finishedAt",
  "createdAt",
  "updatedAt",
] as const;

/** Lists omit long columns. */
type Long = "previewText" | "body" | "design" | "audienceFilter";
export type ListedCampaignRow = Omit<CampaignRow, Long>;
const LISTED_COLUMNS = COLUMNS.filter(
  (column): column is Exclude<typeof column, Long> =>
    !["previewText", "body", "design", "audienceFilter"].includes(column),
);

/** The columns that a person writes, without the status. */
export interface CampaignTexts extends Pick<
  CampaignRow,
  "name" | "description" | "subject" | "previewText" | "body" | "fromAddress" | "fromName" | "replyTo"
> {
  kind: string;
  audienceType: string;
  segmentId: string | null;
  /** JSON, like the filter. */
  design: string | null;
  audienceFilter: string | null;
}

export async function insertCampaign(
  tx: Tx,
  projectId: string,
  id: string,
  texts: CampaignTexts,
): Promise<void> {
  await tx
    .insertInto("campaigns")
    .values({ projectId, id, ...texts })
    .execute();
}

export async function findCampaign(
  database: Database,
  projectId: string,
  id: string,
): Promise<CampaignRow | undefined> {
  return database
    .selectFrom("campaigns")
    .select(COLUMNS)
    .where("projectId", "=", projectId)
    .where("id", "=", id)
    .executeTakeFirst();
}

export async function findCampaignForUpdate(
  tx: Tx,
  projectId: string,
  id: string,
): Promise<CampaignRow | undefined> {
  return tx
    .selectFrom("campaigns")
    .select(COLUMNS)
    .where("projectId", "=", projectId)
    .where("id", "=", id)
    .forUpdate()
    .executeTakeFirst();
}

export interface CampaignFilter {
  status: CampaignStatus | undefined;
  search: string | undefined;
}

/** The conditions of a list in addition to the project. */
function matching(filter: CampaignFilter) {
  const pattern = containing((filter.search ?? "").toLowerCase());
  return sql<boolean>`(${filter.status ?? null}::text is null or status = ${filter.status ?? null})
    and (${filter.search ?? null}::text is null or lower(name) like ${pattern})`;
}

export async function listCampaignRows(
  database: Database,
  projectId: string,
  filter: CampaignFilter,
  page: { limit: number; before: string | null },
): Promise<ListedCampaignRow[]> {
  let query = database
    .selectFrom("campaigns")
    .select(LISTED_COLUMNS)
    .where("projectId", "=", projectId)
    .where(matching(filter));
  if (page.before !== null) query = query.where("id", "<", page.before);
  return query
    .orderBy("id", "desc")
    .limit(page.limit + 1)
    .execute();
}

/** Returns the total and the number of campaigns on previous pages, down to the id `until`. */
export async function countCampaigns(
  database: Database,
  projectId: string,
  filter: CampaignFilter,
  until: string | null,
): Promise<{ total: number; before: number }> {
  return database
    .selectFrom("campaigns")
    .select((select) => [
      select.fn.countAll<number>().as("total"),
      sql<number>`count(*) filter (where id >= ${until}::uuid)`.as("before"),
    ])
    .where("projectId", "=", projectId)
    .where(matching(filter))
    .executeTakeFirstOrThrow();
}

export async function updateCampaignTexts(
  tx: Tx,
  projectId: string,
  id: string,
  texts: CampaignTexts,
): Promise<void> {
  await tx
    .updateTable("campaigns")
    .set({ ...texts, updatedAt: sql`now()` })
    .where("projectId", "=", projectId)
    .where("id", "=", id)
    .execute();
}

/** Deletes the campaign only in these states. Returns whether it did. */
export async function deleteCampaignRow(
  tx: Tx,
  projectId: string,
  id: string,
  states: readonly CampaignStatus[],
): Promise<boolean> {
  const result = await tx
    .deleteFrom("campaigns")
    .where("projectId", "=", projectId)
    .where("id", "=", id)
    .where("status", "in", states)
    // The waiting emails of a cancelled campaign are dropped first.
    .where(sql<boolean>`(status = 'DRAFT' or finished_at is not null)`)
    .executeTakeFirst();
  return result.numDeletedRows === 1n;
}

/** Returns whether an instant is in the future, by the database's clock. */
export async function isInFuture(database: Database, at: Date): Promise<boolean> {
  const { rows } = await sql<{ future: boolean }>`select ${at}::timestamptz > now() as future`.execute(
    database,
  );
  return rows[0]?.future ?? false;
}

export async function updateSnapshot(
  tx: Tx,
  projectId: string,
  id: string,
  snapshot: { totalRecipients: number; excluded: string },
): Promise<void> {
  await sql`
    update campaigns set snapshot_at = now(), total_recipients = ${snapshot.totalRecipients},
      excluded = ${snapshot.excluded}::jsonb
    where project_id = ${projectId} and id = ${id}`.execute(tx);
}

export async function findProjectName(tx: Tx, projectId: string): Promise<string> {
  const row = await tx
    .selectFrom("projects")
    .select("name")
    .where("id", "=", projectId)
    .executeTakeFirstOrThrow();
  return row.name;
}

/** Returns all contacts, as a condition on `contacts c`. */
export function everybody(): RawBuilder<SqlBool> {
  return sql<SqlBool>`true`;
}

/** Limits an audience to subscribed contacts. */
export function subscribedOf(audience: RawBuilder<SqlBool>): RawBuilder<SqlBool> {
  return sql<SqlBool>`c.subscribed and ${audience}`;
}

/** Removes contacts on the suppression list from an audience. */
export function unsuppressedOf(audience: RawBuilder<SqlBool>): RawBuilder<SqlBool> {
  return sql<SqlBool>`${audience} and not exists (
    select 1 from suppressions s where s.project_id = c.project_id and s.email = c.email)`;
}
