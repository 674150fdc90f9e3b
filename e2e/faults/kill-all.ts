// kill -9 of every process, the database with them, again and again amid one campaign: nobody is left out, nobody is mailed twice.
import { waitUntil } from "../wait-until.ts";
import type { FaultCase, FaultRow } from "./fault-case.ts";
import { judgeCampaign, startSampler, waitForEnd } from "./oracle.ts";
import { startWorld } from "./world.ts";

const KILLS = 20;
const RECIPIENTS = { small: 2_000, large: 50_000 };
/** With mails in the hands of the dead it takes their lease and a second look until one more leaves. */
const PROGRESS_TIMEOUT_MS = 60_000;
/** After the last start: the lease of the dead, a second look, the rest of the mails. */
const END_TIMEOUT_MS = 600_000;

export const killAll: FaultCase = {
  name: "kill-all",
  shows: `${KILLS} kills of all processes amid a campaign: each recipient once, or named as in doubt`,
  run: async ({ size, random }) => [
    await playKillAll({ recipients: RECIPIENTS[size], kills: KILLS, random }),
  ],
};

/** One campaign with so many kills in its first half; the moments are decided by `random`. */
export async function playKillAll(scene: {
  recipients: number;
  kills: number;
  random: () => number;
}): Promise<FaultRow> {
  const world = await startWorld({ database: "own" });
  try {
    await world.start();
    const recipients = await world.importContacts(scene.recipients);
    const campaignId = await world.startCampaign();
    const sampler = startSampler(world, [campaignId]);
    for (let kill = 1; kill <= scene.kills; kill++) {
      // After so many mails, and then at any moment of a claim, a handover or a commit.
      const more = 1 + Math.floor((scene.random() * scene.recipients) / (scene.kills * 2));
      const mails = world.sink.journal.length + more;
      await waitUntil(
        `mails before kill ${kill}`,
        PROGRESS_TIMEOUT_MS,
        () => world.sink.journal.length >= mails,
      );
      await world.killAll();
      await world.start();
    }
    await waitForEnd(world, campaignId, END_TIMEOUT_MS);
    const name = `kill-all × ${scene.kills}`;
    const mayBeInDoubt = scene.kills * world.connections;
    return await judgeCampaign(world, campaignId, { name, recipients, mayBeInDoubt }, await sampler.stop());
  } finally {
    await world.close();
  }
}
