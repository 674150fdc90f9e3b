// Last check of `npm test`: compares the columns that statements returned in the tests with the row types declared in the source. Reports
// renamed columns, other types, and statements that no test ran, with their place.
import { readdir, readFile } from "node:fs/promises";
import path from "node:path";
import { compareRows } from "./compare-rows.ts";
import { readDeclaredRows } from "./declared-rows.ts";
import { RECORD_FOLDER, type RunStatement } from "./statement-record.ts";

/** Only a cluster runs these statements, and Citus is in no package registry. `npm run sharded` runs the tests on one. */
const ON_A_CLUSTER = "server/src/instance/cluster-queries.ts:";

async function readRecord(): Promise<RunStatement[]> {
  const files = await readdir(RECORD_FOLDER);
  const texts = await Promise.all(files.map((file) => readFile(path.join(RECORD_FOLDER, file), "utf8")));
  return texts
    .flatMap((text) => text.split("\n"))
    .filter((line) => line !== "")
    .map((line) => JSON.parse(line) as RunStatement);
}

const isWholeRun = process.argv.includes("--all");
const { faults, placesRun, placesNotRun } = compareRows(readDeclaredRows(), await readRecord());
process.stdout.write(`${placesRun} places ran statements in the tests; their rows are compared.\n`);
const all = [
  ...faults,
  ...(isWholeRun
    ? placesNotRun
        .filter((at) => !at.startsWith(ON_A_CLUSTER))
        .map((at) => `${at}: no test runs this statement in its own process`)
    : []),
];
if (all.length > 0) {
  process.stderr.write(`${all.join("\n")}\n`);
  process.exitCode = 1;
}
