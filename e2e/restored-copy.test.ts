// A backup of mid-campaign put back after the campaign and a schedule have ended: the program says that it holds both, nothing of them
// leaves again, new mail does, and dropped they add up. Larger, and copies of other kinds: `npm run faults -- restored-copy`.
import { expect, test } from "vitest";
import { createRandom } from "./faults/random.ts";
import { playRestored } from "./faults/restored-copy.ts";

const RECIPIENTS = 120;
/** The same moment in every run. */
const SEED = 20_261_122;

test("a database that was put back holds what it calls unsent, until a person drops it", async () => {
  const row = await playRestored(RECIPIENTS, createRandom(SEED));
  expect(row).toMatchObject({ recipients: RECIPIENTS, twice: 0, lost: 0, faults: [] });
}, 120_000);
