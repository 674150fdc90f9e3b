// `npm run faults [-- name …] [--seed N] [--size small|large]`: the table of contents of the crash suite. Plays each case, prints a table,
// and ends with 1 when a promise was broken. Longer than tests may take: a story a person starts, or a machine at night.
import { parseArgs } from "node:util";
import { oneDecimal, print, printTable, whole } from "../../bench/table.ts";
import { databaseBlackhole } from "./database-away.ts";
import { databaseRestart } from "./database-restart.ts";
import { databaseSlow } from "./database-slow.ts";
import { failover } from "./failover.ts";
import { rowOfFailure, type FaultCase, type FaultRow, type Size } from "./fault-case.ts";
import { firstStarts } from "./first-starts.ts";
import { frozenApi } from "./frozen-api.ts";
import { killAll } from "./kill-all.ts";
import { killAtStep } from "./kill-at-step.ts";
import { manySchedulers } from "./many-schedulers.ts";
import { poison } from "./poison.ts";
import { createRandom } from "./random.ts";
import { restoredCopy } from "./restored-copy.ts";
import { rollingRestart } from "./rolling-restart.ts";
import { sendRaces } from "./send-races.ts";
import { smtpDead } from "./smtp-dead.ts";
import { smtpNoAnswer } from "./smtp-no-answer.ts";
import { smtpPermanent } from "./smtp-permanent.ts";
import { smtpTemporary } from "./smtp-temporary.ts";
import { workflows } from "./workflows.ts";

const CASES: readonly FaultCase[] = [
  killAll,
  killAtStep,
  rollingRestart,
  manySchedulers,
  sendRaces,
  databaseRestart,
  databaseBlackhole,
  databaseSlow,
  restoredCopy,
  failover,
  smtpTemporary,
  smtpPermanent,
  smtpDead,
  smtpNoAnswer,
  poison,
  workflows,
  firstStarts,
  frozenApi,
];

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    seed: { type: "string" },
    size: { type: "string", default: "small" },
  },
});
const chosen = positionals.length === 0 ? CASES : CASES.filter(({ name }) => positionals.includes(name));
const unknown = positionals.filter((name) => !CASES.some((one) => one.name === name));
const isSize = values.size === "small" || values.size === "large";
const seed = values.seed === undefined ? Date.now() % 2 ** 31 : Number(values.seed);
if (unknown.length > 0 || !isSize || !Number.isSafeInteger(seed)) {
  process.stderr.write("npm run faults [-- name …] [--seed N] [--size small|large], with these names:\n");
  for (const { name, shows } of CASES) process.stderr.write(`  ${name.padEnd(20)} ${shows}\n`);
  process.exitCode = 2;
} else {
  await playAll(chosen, seed, values.size as Size);
}

async function playAll(cases: readonly FaultCase[], withSeed: number, size: Size): Promise<void> {
  print(`seed ${withSeed}, size ${size}`);
  const rows: FaultRow[] = [];
  for (const one of cases) {
    const startedMs = performance.now();
    print(`\n${one.name}: ${one.shows}`);
    const played = await play(one, withSeed, size);
    rows.push(...played);
    for (const { name, faults } of played) for (const fault of faults) print(`  ${name}: ${fault}`);
    print(`  ${played.length} scenes in ${oneDecimal((performance.now() - startedMs) / 1000)} s`);
  }
  print("");
  printTable(
    [
      "case",
      "recipients",
      "kills",
      "sent",
      "failed",
      "unconfirmed",
      "twice",
      "lost",
      "recovery s",
      "verdict",
    ],
    rows.map(cellsOf),
  );
  if (rows.some(({ faults }) => faults.length > 0)) process.exitCode = 1;
  print(`\nseed ${withSeed}: ${process.exitCode === 1 ? "a promise was broken" : "every promise was kept"}`);
}

async function play(one: FaultCase, withSeed: number, size: Size): Promise<readonly FaultRow[]> {
  try {
    return await one.run({ seed: withSeed, size, random: createRandom(withSeed) });
  } catch (error) {
    return [rowOfFailure(one.name, error)];
  }
}

function cellsOf(row: FaultRow): string[] {
  const { name, recipients, kills, sent, failed, unconfirmed, twice, lost, recoveryMs, faults } = row;
  return [
    name,
    ...[recipients, kills, sent, failed, unconfirmed, twice, lost].map(whole),
    recoveryMs === null ? "–" : oneDecimal(recoveryMs / 1000),
    faults.length === 0 ? "passed" : "FAILED",
  ];
}
