// Runs three processes when 100 campaigns are due in the same second. Each starts once and never early, and each recipient is mailed once.
import { setTimeout as delay } from "node:timers/promises";
import type { FaultCase, FaultRow } from "./fault-case.ts";
import { faultsOfLeases } from "./lost-leases.ts";
import { checkCampaign, startSampler, waitForEnd } from "./oracle.ts";
import { startEnvironment, type Actor, type Environment } from "./environment.ts";
import { WRONG_CLOCKS } from "./wrong-clock.ts";

const CAMPAIGNS = 100;
const CONTACTS = { small: 10, large: 100 };
const PROCESSES = 3;
/** Long enough to schedule all campaigns and start the processes. */
const DUE_IN_MS = 15_000;
const STALL_SECONDS = 10;
/** Covers the poll interval of 1 s, up to 5 s more, and the sequential starts. */
const MAX_LATE_MS = 15_000;
const END_TIMEOUT_MS = 180_000;

/** When the processes start, their settings, and whether the database stalls at the due time. */
interface Scene {
  name: string;
  startsLate?: true;
  stalls?: true;
  settings?: ReadonlyArray<Readonly<Record<string, string>>>;
}
const SCENES: readonly Scene[] = [
  { name: "started before they are due" },
  { name: "started when all are overdue", startsLate: true },
  { name: "the database stalls", stalls: true },
  { name: "each clock is wrong in another way", settings: WRONG_CLOCKS },
];

export const manySchedulers: FaultCase = {
  name: "many-schedulers",
  shows: `${CAMPAIGNS} campaigns due at once and ${PROCESSES} processes that start them; each starts once, none early`,
  async run({ size }) {
    const rows: FaultRow[] = [];
    for (const scene of SCENES) rows.push(await playSchedules(scene, CONTACTS[size]));
    return rows;
  },
};

async function playSchedules(scene: Scene, contacts: number): Promise<FaultRow> {
  const environment = await startEnvironment();
  try {
    const setup = await environment.start();
    const recipients = await environment.importContacts(contacts);
    const due = new Date(Date.now() + DUE_IN_MS);
    const ids = await Promise.all(
      Array.from({ length: CAMPAIGNS }, (_, number) => environment.createCampaign(`News ${number}`)),
    );
    await Promise.all(
      ids.map((id) => environment.api().post(`/campaigns/${id}/send`, { scheduledFor: due.toISOString() })),
    );
    await environment.stop(setup);
    const isPrepared = Date.now() < due.getTime();
    if (scene.startsLate) await delay(Math.max(0, due.getTime() - Date.now()) + 1_000);
    const programs = await Promise.all(
      Array.from({ length: PROCESSES }, (_, at) => environment.start(scene.settings?.[at])),
    );
    const sampler = startSampler(environment, ids);
    if (scene.stalls) await standStill(environment, due);
    for (const id of ids) await waitForEnd(environment, id, END_TIMEOUT_MS);
    const seen = [
      ...(isPrepared
        ? []
        : ["the campaigns were due before the setup was complete, so the scene proves nothing"]),
      ...(await sampler.stop()),
      ...(await faultsOfStarts(environment, scene)),
      ...(await faultsOfLeases(programs)),
      ...(scene.settings === undefined ? [] : programs.flatMap(faultOfClock)),
    ];
    const rows: FaultRow[] = [];
    for (const id of ids)
      rows.push(await checkCampaign(environment, id, { name: scene.name, recipients }, seen));
    return sumOf(scene.name, environment.faultsAt.length, rows);
  } finally {
    await environment.close();
  }
}

/** Locks all campaigns before they are due and for a while afterwards. */
async function standStill(environment: Environment, due: Date): Promise<void> {
  await delay(Math.max(0, due.getTime() - Date.now() - 1_000));
  await environment.query(
    `do $$ begin lock table campaigns in access exclusive mode; perform pg_sleep(${STALL_SECONDS}); end $$`,
  );
}

/** A scene with wrong clocks is valid only if the program detects and reports its wrong clock. */
function faultOfClock({ url, output }: Actor): string[] {
  return output().includes("the clock of this machine") ? [] : [`${url} did not notice its wrong clock`];
}

/** Checks by the database clock that each campaign started once, at its time or soon after. */
async function faultsOfStarts(environment: Environment, scene: Scene): Promise<string[]> {
  const rows = await environment.query<{ name: string; lateMs: number; snapshots: number }>(
    `select c.name, extract(epoch from c.started_at - c.scheduled_for)::float * 1000 as late_ms,
       (select count(*)::int from jobs j where j.kind = 'campaigns.snapshot' and j.input ->> 'campaignId' = c.id::text)
         as snapshots
     from campaigns c`,
  );
  const isPunctual = !scene.startsLate && !scene.stalls;
  return rows.flatMap(({ name, lateMs, snapshots }) => [
    ...(snapshots === 1 ? [] : [`${name} was started ${snapshots} times`]),
    ...(lateMs >= 0 ? [] : [`${name} was started ${-lateMs} ms early`]),
    ...(isPunctual && lateMs > MAX_LATE_MS ? [`${name} was started ${lateMs} ms late`] : []),
  ]);
}

function sumOf(name: string, kills: number, rows: readonly FaultRow[]): FaultRow {
  const sum = (of: (row: FaultRow) => number) => rows.reduce((total, row) => total + of(row), 0);
  return {
    name: `${rows.length} due: ${name}`,
    recipients: sum((row) => row.recipients),
    kills,
    sent: sum((row) => row.sent),
    failed: sum((row) => row.failed),
    unconfirmed: sum((row) => row.unconfirmed),
    twice: sum((row) => row.twice),
    lost: sum((row) => row.lost),
    recoveryMs: null,
    faults: [...new Set(rows.flatMap(({ faults }) => faults))],
  };
}
