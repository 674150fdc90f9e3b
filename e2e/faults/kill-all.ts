// Kills every process including the database repeatedly during one campaign. No one is missed or mailed twice.
import { waitUntil } from "../wait-until.ts";
import type { FaultCase, FaultRow } from "./fault-case.ts";
import { checkCampaign, startSampler, waitForEnd } from "./oracle.ts";
import { startEnvironment } from "./environment.ts";

const KILLS = 20;
const RECIPIENTS = { small: 2_000, large: 50_000 };
/** Claimed emails of dead processes wait for their lease to expire and for the next poll. */
const PROGRESS_TIMEOUT_MS = 60_000;
/** Covers expired leases, the next poll and the remaining emails. */
const END_TIMEOUT_MS = 600_000;

export const killAll: FaultCase = {
  name: "kill-all",
  shows: `${KILLS} kills of all processes during a campaign; each recipient is mailed once or is in doubt`,
  run: async ({ size, random }) => [
    await playKillAll({ recipients: RECIPIENTS[size], kills: KILLS, random }),
  ],
};

/** Runs one campaign with `kills` kills in its first half, at moments chosen by `random`. */
export async function playKillAll(scene: {
  recipients: number;
  kills: number;
  random: () => number;
}): Promise<FaultRow> {
  const environment = await startEnvironment({ database: "own" });
  try {
    await environment.start();
    const recipients = await environment.importContacts(scene.recipients);
    const campaignId = await environment.startCampaign();
    const sampler = startSampler(environment, [campaignId]);
    for (let kill = 1; kill <= scene.kills; kill++) {
      // After a number of emails, then at any point of a claim, a submission or a commit.
      const more = 1 + Math.floor((scene.random() * scene.recipients) / (scene.kills * 2));
      const mails = environment.sink.journal.length + more;
      await waitUntil(
        `emails before kill ${kill}`,
        PROGRESS_TIMEOUT_MS,
        () => environment.sink.journal.length >= mails,
      );
      await environment.killAll();
      await environment.start();
    }
    await waitForEnd(environment, campaignId, END_TIMEOUT_MS);
    const name = `kill-all × ${scene.kills}`;
    const mayBeInDoubt = scene.kills * environment.connections;
    return await checkCampaign(
      environment,
      campaignId,
      { name, recipients, mayBeInDoubt },
      await sampler.stop(),
    );
  } finally {
    await environment.close();
  }
}
