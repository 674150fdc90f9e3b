// Kills every process five times during a campaign to 2,000 recipients. No one is missed or mailed twice, and every email in doubt is
// reported. The mail server's journal, which survives the kills, is the reference. `npm run faults` runs more kills and other faults.
import { expect, test } from "vitest";
import { playKillAll } from "./faults/kill-all.ts";
import { createRandom } from "./faults/random.ts";

const RECIPIENTS = 2_000;
const KILLS = 5;
/** Makes every run kill at the same moments. */
const SEED = 20_261_121;

test(`after ${KILLS} kills each of ${RECIPIENTS} recipients was mailed once or is in doubt`, async () => {
  const row = await playKillAll({ recipients: RECIPIENTS, kills: KILLS, random: createRandom(SEED) });
  expect(row).toMatchObject({
    recipients: RECIPIENTS,
    kills: KILLS,
    failed: 0,
    twice: 0,
    lost: 0,
    faults: [],
  });
  expect(row.sent + row.unconfirmed).toBe(RECIPIENTS);
}, 300_000);
