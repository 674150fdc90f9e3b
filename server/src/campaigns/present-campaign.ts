// Presents campaigns in their API shape.
import type * as contract from "@postloft/contract/campaigns.ts";
import { inOneText } from "@postloft/contract/advice.ts";
import type { AudienceType, CampaignKind, CampaignStatus } from "@postloft/contract/campaigns.ts";
import type { HeldReason } from "@postloft/contract/held-reasons.ts";
import type { z } from "zod";
import type { ListedCampaignRow } from "./queries.ts";

type Counts = z.output<typeof contract.counters>;

const isoOf = (instant: Date | null) => instant?.toISOString() ?? null;

/** Returns a campaign in its API shape (decisions §8). */
export function presentCampaign(row: ListedCampaignRow, counts: Counts | undefined): ListedCampaign {
  if (counts === undefined) throw new Error(`Counts of campaign ${row.id} are missing.`);
  const heldFor = row.heldReasonParts as HeldReason[] | null;
  return {
    id: row.id,
    name: row.name,
    description: row.description,
    subject: row.subject,
    from: row.fromAddress,
    fromName: row.fromName,
    replyTo: row.replyTo,
    kind: row.kind as CampaignKind,
    type: row.audienceType as AudienceType,
    audienceType: row.audienceType as AudienceType,
    segmentId: row.segmentId,
    status: row.status as CampaignStatus,
    scheduledAt: isoOf(row.scheduledFor),
    scheduledFor: isoOf(row.scheduledFor),
    heldReason: heldFor === null ? null : inOneText(heldFor),
    heldReasonParts: heldFor ?? [],
    startedAt: isoOf(row.startedAt),
    sentAt: row.status === "SENT" ? isoOf(row.finishedAt) : null,
    ...counts,
    createdAt: row.createdAt.toISOString(),
    updatedAt: row.updatedAt.toISOString(),
  };
}

export type ListedCampaign = z.output<typeof contract.listedCampaign>;
export type CampaignView = z.output<typeof contract.campaign>;
