// Restores a backup taken mid-campaign after the campaign and a schedule have ended. The program reports that it holds both and sends only
// new emails, and dropping them balances the counts. `npm run faults -- restored-copy` covers more cases.
import { expect, test } from "vitest";
import { createRandom } from "./faults/random.ts";
import { playRestored } from "./faults/restored-copy.ts";

const RECIPIENTS = 120;
/** Makes every run stop at the same moment. */
const SEED = 20_261_122;

test("a restored database holds its unsent emails until a person drops them", async () => {
  const row = await playRestored(RECIPIENTS, createRandom(SEED));
  expect(row).toMatchObject({ recipients: RECIPIENTS, twice: 0, lost: 0, faults: [] });
}, 120_000);
