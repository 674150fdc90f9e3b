// Implements `npm run faults`, the crash suite. Prints a row per scene with its seed and exits with code 1 if a promise was broken. Too
// slow for the test suite; run it after changes to sending, and nightly.
import { parseArgs } from "node:util";
import { oneDecimal, print, printTable, whole } from "../../bench/table.ts";
import { databaseBlackhole } from "./database-away.ts";
import { databaseRestart } from "./database-restart.ts";
import { databaseSlow } from "./database-slow.ts";
import { dateTriggers } from "./date-triggers.ts";
import { eventWebhooks } from "./event-webhooks.ts";
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
import { scheduledEmails } from "./scheduled-emails.ts";
import { sendRaces } from "./send-races.ts";
import { smtpDead } from "./smtp-dead.ts";
import { smtpNoReply } from "./smtp-no-reply.ts";
import { smtpPermanent } from "./smtp-permanent.ts";
import { smtpSubmission } from "./smtp-submission.ts";
import { smtpTemporary } from "./smtp-temporary.ts";
import { workflows } from "./workflows.ts";

const CASES: readonly FaultCase[] = [
  killAll,
  killAtStep,
  rollingRestart,
  manySchedulers,
  scheduledEmails,
  sendRaces,
  databaseRestart,
  databaseBlackhole,
  databaseSlow,
  restoredCopy,
  failover,
  smtpTemporary,
  smtpPermanent,
  smtpDead,
  smtpNoReply,
  smtpSubmission,
  poison,
  workflows,
  dateTriggers,
  eventWebhooks,
  firstStarts,
  frozenApi,
];

const USAGE = [
  "npm run faults [-- <name> …] [--seed <number>] [--size small|large]",
  "",
  "Kills processes, databases and mail servers while email is sent, and compares the results with the mail server's journal.",
  "Without a name it runs every case. --seed repeats a run, --size large takes hours. Exit code 1: a promise was broken.",
  "",
  ...CASES.map(({ name, shows }) => `  ${name.padEnd(20)} ${shows}`),
  "",
].join("\n");

interface Options {
  cases: readonly FaultCase[];
  seed: number;
  size: Size;
}

/** Returns null if the command line is invalid. */
function readOptions(values: { seed?: string; size: string }, names: readonly string[]): Options | null {
  const { size } = values;
  const seed = values.seed === undefined ? Date.now() % 2 ** 31 : Number(values.seed);
  const isKnown = names.every((name) => CASES.some((one) => one.name === name));
  if (!isKnown || (size !== "small" && size !== "large") || !Number.isSafeInteger(seed)) return null;
  return { cases: names.length === 0 ? CASES : CASES.filter(({ name }) => names.includes(name)), seed, size };
}

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    seed: { type: "string" },
    size: { type: "string", default: "small" },
    help: { type: "boolean", default: false },
  },
});
const options = readOptions(values, positionals);
if (values.help) process.stdout.write(USAGE);
else if (options === null) {
  process.stderr.write(USAGE);
  process.exitCode = 2;
} else await playAll(options);

async function playAll({ cases, seed, size }: Options): Promise<void> {
  print(`seed ${seed}, size ${size}`);
  const rows: FaultRow[] = [];
  for (const one of cases) {
    const startedMs = performance.now();
    print(`\n${one.name}: ${one.shows}`);
    const played = await play(one, seed, size);
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
  print(`\nseed ${seed}: ${process.exitCode === 1 ? "a promise was broken" : "every promise was kept"}`);
}

async function play(one: FaultCase, seed: number, size: Size): Promise<readonly FaultRow[]> {
  try {
    return await one.run({ seed, size, random: createRandom(seed) });
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
