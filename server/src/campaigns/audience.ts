// Finds the contacts of a campaign's audience and which of them are eligible for its kind.
import type { RawBuilder, SqlBool } from "kysely";
import type { AudienceType, CampaignKind } from "@postloft/contract/campaigns.ts";
import type { Filter } from "@postloft/contract/filters.ts";
import type { Database } from "../platform/database/database.ts";
import { invalidField } from "../platform/app-error.ts";
import { usesSuppressionList } from "../emails/outbox/queues.ts";
import { countMatching } from "../contacts/matching-contacts.ts";
import { segmentRestriction } from "../segments/segment-restriction.ts";
import { everybody, subscribedOf, unsuppressedOf, type CampaignRow } from "./queries.ts";
import { needsSubscription } from "./rules.ts";

/** An audience as stored in a campaign or sent by a caller. */
export interface Audience {
  audienceType: AudienceType;
  segmentId?: string | null | undefined;
  audienceFilter: Filter | null;
}

/**
 * Returns the audience as a SQL condition on `contacts c`, whether subscribed or not.
 * @throws AppError VALIDATION_ERROR naming the field if the segment does not belong to the project
 */
export async function audienceOf(
  database: Database,
  projectId: string,
  { audienceType, segmentId, audienceFilter }: Audience,
): Promise<RawBuilder<SqlBool>> {
  if (audienceType === "ALL") return everybody();
  if (audienceType === "SEGMENT" && (segmentId ?? null) === null)
    throw invalidField("segmentId", "required", "The campaign's segment was deleted. Choose another one.");
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

/** Returns the contacts of an audience that would get an email of this kind with the project's current settings. */
export async function eligible(
  database: Database,
  projectId: string,
  kind: CampaignKind,
  audience: RawBuilder<SqlBool>,
): Promise<RawBuilder<SqlBool>> {
  const wanted = reached(kind, audience);
  return (await usesSuppressionList(database, projectId)) ? unsuppressedOf(wanted) : wanted;
}

/** Returns the contacts that this kind may reach, ignoring the suppression list. */
function reached(kind: CampaignKind, audience: RawBuilder<SqlBool>): RawBuilder<SqlBool> {
  return needsSubscription(kind) ? subscribedOf(audience) : audience;
}

/** Contacts may change between two counts. */
const leftOut = (of: number, those: number) => Math.max(0, of - those);

/** Counts the contacts excluded from an audience by reason. `count` is the number of eligible contacts. */
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

/** Returns how many contacts would get the campaign now, and how many are excluded for which reason. */
export async function countAudience(database: Database, projectId: string, row: CampaignRow) {
  const audience = await audienceOf(database, projectId, audienceOfRow(row));
  const kind = row.kind as CampaignKind;
  const matches = await eligible(database, projectId, kind, audience);
  const count = await countMatching(database, projectId, matches);
  const { total, excluded } = await countExcluded(database, projectId, kind, audience, count);
  return { total, eligible: count, excluded };
}

/** Counts the unsubscribed contacts in the audience, regardless of the campaign's kind. */
export async function countUnsubscribedOf(
  database: Database,
  projectId: string,
  row: CampaignRow,
): Promise<number> {
  const audience = await audienceOf(database, projectId, audienceOfRow(row));
  const total = await countMatching(database, projectId, audience);
  return total - (await countMatching(database, projectId, subscribedOf(audience)));
}
