// Five kills of every process amid a campaign to two thousand: nobody is left out, nobody is mailed twice, and whoever is in doubt is named.
// The judge is the journal of the mail server, which outlives them all. More kills and other faults: `npm run faults`.
import { expect, test } from "vitest";
import { playKillAll } from "./faults/kill-all.ts";
import { createRandom } from "./faults/random.ts";

const RECIPIENTS = 2_000;
const KILLS = 5;
/** The same kills in every run; another seed is another run. */
const SEED = 20_261_121;

test(`after ${KILLS} kills of all processes each of ${RECIPIENTS} recipients was mailed once, or is named as in doubt`, async () => {
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
