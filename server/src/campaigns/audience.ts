// Who a campaign is for: the contacts of its audience, and who of them gets its kind.
import type { RawBuilder, SqlBool } from "kysely";
import type { AudienceType, CampaignKind } from "@postloft/contract/campaigns.ts";
import type { Filter } from "@postloft/contract/filters.ts";
import type { Database } from "../platform/database/database.ts";
import { invalidField } from "../platform/refusal.ts";
import { usesSuppressionList } from "../emails/outbox/queues.ts";
import { countMatching } from "../contacts/matching-contacts.ts";
import { segmentRestriction } from "../segments/segment-restriction.ts";
import { everybody, subscribedOf, unsuppressedOf, type CampaignRow } from "./queries.ts";
import { needsSubscription } from "./rules.ts";

/** A campaign whose audience is being asked for: the audience as it was written. */
export interface Audience {
  audienceType: AudienceType;
  segmentId?: string | null | undefined;
  audienceFilter: Filter | null;
}

/**
 * The contacts of an audience, as a condition on `contacts c`, whether they are subscribed or not.
 * @throws Refusal VALIDATION_ERROR naming the field when its segment is none of the project's.
 */
export async function audienceOf(
  database: Database,
  projectId: string,
  { audienceType, segmentId, audienceFilter }: Audience,
): Promise<RawBuilder<SqlBool>> {
  if (audienceType === "ALL") return everybody();
  if (audienceType === "SEGMENT" && (segmentId ?? null) === null)
    throw invalidField("segmentId", "required", "Its segment was deleted: choose another one.");
  return audienceType === "SEGMENT"
    ? segmentRestriction(database, projectId, "segmentId", segmentId ?? "")
    : segmentRestriction(database, projectId, "audienceFilter", audienceFilter);
}

export function audienceOfRow(row: CampaignRow): Audience {
  return {
    audienceType: row.audienceType as AudienceType,
    segmentId: row.segmentId,
    audienceFilter: row.audienceFilter as Filter | null,
  };
}

/** Who of an audience gets a mail of this kind, as the project stands now. */
export async function eligible(
  database: Database,
  projectId: string,
  kind: CampaignKind,
  audience: RawBuilder<SqlBool>,
): Promise<RawBuilder<SqlBool>> {
  const wanted = reached(kind, audience);
  return (await usesSuppressionList(database, projectId)) ? unsuppressedOf(wanted) : wanted;
}

/** Those whom a campaign of this kind may reach, on the suppression list or not. */
function reached(kind: CampaignKind, audience: RawBuilder<SqlBool>): RawBuilder<SqlBool> {
  return needsSubscription(kind) ? subscribedOf(audience) : audience;
}

/** Contacts may change between two counts. */
const leftOut = (of: number, those: number) => Math.max(0, of - those);

/** How many of an audience are left out why, of whom `count` are eligible. */
export async function countExcluded(
  database: Database,
  projectId: string,
  kind: CampaignKind,
  audience: RawBuilder<SqlBool>,
  count: number,
) {
  const suppressionList = await usesSuppressionList(database, projectId);
  const reachable = suppressionList
    ? await countMatching(database, projectId, reached(kind, audience))
    : count;
  const total = needsSubscription(kind) ? await countMatching(database, projectId, audience) : reachable;
  return {
    total,
    excluded: { unsubscribed: leftOut(total, reachable), suppressed: leftOut(reachable, count) },
  };
}

/** How many would get the campaign now, and how many are left out why. */
export async function countAudience(database: Database, projectId: string, row: CampaignRow) {
  const audience = await audienceOf(database, projectId, audienceOfRow(row));
  const kind = row.kind as CampaignKind;
  const matches = await eligible(database, projectId, kind, audience);
  const count = await countMatching(database, projectId, matches);
  const { total, excluded } = await countExcluded(database, projectId, kind, audience, count);
  return { total, eligible: count, excluded };
}

/** Who of the audience has unsubscribed, whatever the kind. */
export async function countUnsubscribedOf(
  database: Database,
  projectId: string,
  row: CampaignRow,
): Promise<number> {
  const audience = await audienceOf(database, projectId, audienceOfRow(row));
  const total = await countMatching(database, projectId, audience);
  return total - (await countMatching(database, projectId, subscribedOf(audience)));
}
