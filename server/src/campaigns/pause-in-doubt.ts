// Pauses campaigns whose submissions get no reply: immediately after several in a row, or when too many of the last ones did.
import { transaction, type Database } from "../platform/database/database.ts";
import type { PauseInDoubt } from "../emails/doubt/doubt-brake.ts";
import { listDoubtfulCampaigns } from "./doubt-queries.ts";
import { pauseAutomatically, type PauseDependencies } from "./pause-automatically.ts";
import { DOUBT_LIMIT } from "./rules.ts";

/** Returns the callback for the sender after several unanswered submissions in a row. */
export function createPauseInDoubt(database: Database, deps: PauseDependencies): PauseInDoubt {
  return async ({ projectId, campaignId, probes: inARow, answer }) => {
    const cause = { problem: "in-doubt", inARow, last: DOUBT_LIMIT.last, answer } as const;
    await transaction(database, (tx) => pauseAutomatically(tx, deps, { projectId, campaignId, cause }));
  };
}

/** Pauses campaigns with too many unanswered submissions among the last ones. */
export async function pauseDoubtfulCampaigns({
  database,
  ...parts
}: PauseDependencies & { database: Database }): Promise<void> {
  for (const campaign of await listDoubtfulCampaigns(database, DOUBT_LIMIT)) {
    const { projectId, id: campaignId, sendingSince, answer } = campaign;
    const cause = { problem: "in-doubt", inARow: null, last: DOUBT_LIMIT.last, answer } as const;
    const pause = { projectId, campaignId, sendingSince, cause };
    await transaction(database, (tx) => pauseAutomatically(tx, parts, pause));
  }
}
