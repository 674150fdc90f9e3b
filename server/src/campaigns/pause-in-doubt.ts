// Campaigns whose mails get no answer after their handover pause by themselves: at once when so many in a row got none, and when
// too large a part of the last ones did.
import { transaction, type Database } from "../platform/database/database.ts";
import type { PauseInDoubt } from "../emails/doubt/doubt-brake.ts";
import { listDoubtfulCampaigns } from "./doubt-queries.ts";
import { pauseAutomatically, type PauseParts } from "./pause-automatically.ts";
import { DOUBT_LIMIT } from "./rules.ts";

/** For the sender, when so many handovers of a campaign in a row got no answer. */
export function createPauseInDoubt(database: Database, parts: PauseParts): PauseInDoubt {
  return async ({ projectId, campaignId, probes: inARow, answer }) => {
    const cause = { problem: "in-doubt", inARow, last: DOUBT_LIMIT.last, answer } as const;
    await transaction(database, (tx) => pauseAutomatically(tx, parts, { projectId, campaignId, cause }));
  };
}

/** Pauses campaigns of whose last mails too many got no answer, without so many of them in a row. */
export async function pauseDoubtfulCampaigns({
  database,
  ...parts
}: PauseParts & { database: Database }): Promise<void> {
  for (const campaign of await listDoubtfulCampaigns(database, DOUBT_LIMIT)) {
    const { projectId, id: campaignId, sendingSince, answer } = campaign;
    const cause = { problem: "in-doubt", inARow: null, last: DOUBT_LIMIT.last, answer } as const;
    const pause = { projectId, campaignId, sendingSince, cause };
    await transaction(database, (tx) => pauseAutomatically(tx, parts, pause));
  }
}
