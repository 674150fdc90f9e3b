// Runs the fault case for a cluster (`npm run sharded -- <DATABASE_URL> --faults`) and exits with code 1 if a promise was broken.
import { parseArgs } from "node:util";
import { print } from "../../bench/table.ts";
import { createRandom } from "./random.ts";
import { rowOfFailure } from "./fault-case.ts";
import { workerKilled } from "./worker-killed.ts";

const { values } = parseArgs({ options: { size: { type: "string", default: "small" } } });
const size = values.size === "large" ? "large" : "small";
const seed = Date.now() % 2 ** 31;
print(`${workerKilled.name}: ${workerKilled.shows}`);
const rows = await workerKilled
  .run({ seed, size, random: createRandom(seed) })
  .catch((error: unknown) => [rowOfFailure(workerKilled.name, error)]);
for (const { faults, ...row } of rows) {
  print(JSON.stringify(row));
  for (const fault of faults) print(`  ${fault}`);
}
process.exitCode = rows.some(({ faults }) => faults.length > 0) ? 1 : 0;
