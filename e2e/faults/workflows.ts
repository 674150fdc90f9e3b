// Crashes programs at each failpoint of the workflow engine, and for minutes with thousands of sleeping executions. Each step runs once.
import { setTimeout as delay } from "node:timers/promises";
import { WORKFLOW_FAILPOINT_NAMES, type FailpointName } from "../../server/src/platform/failpoints.ts";
import { waitUntil } from "../wait-until.ts";
import { rowOfFailure, type FaultCase, type FaultRow, type FaultRun } from "./fault-case.ts";
import { faultsOfPrograms } from "./oracle.ts";
import { addressOf, startEnvironment, type Environment } from "./environment.ts";
import {
  addMail,
  addWorkflow,
  countEnded,
  countOf,
  faultsOfMails,
  rowOf,
  start,
  waitForAll,
  type Step,
} from "./workflow-scenes.ts";

const PEOPLE = 300;
const CALLERS = 20;
const CONNECTIONS = 4;
const LATEST_TURN = 8;
const LARGE_TURNS = [1, 2, 3, 5, 8, 13];
const END_TIMEOUT_MS = 120_000;
const RECOVERY_MS = 30_000;
const SLEEPERS = 10_000;
/** The downtime of all programs. The executions wait for a shorter time, so their wait ends during the downtime. */
const AWAY_MS = { small: 30_000, large: 120_000 };
const WAIT_S = { small: 25, large: 90 };

export const workflows: FaultCase = {
  name: "workflows",
  shows:
    "a crash at every step of the engine, and minutes without any program; each step runs once, none early",
  async run(run) {
    const turns = run.size === "large" ? LARGE_TURNS : [1, 2 + Math.floor(run.random() * (LATEST_TURN - 1))];
    const rows: FaultRow[] = [];
    for (const name of WORKFLOW_FAILPOINT_NAMES)
      for (const turn of turns) {
        const scene = `${name} kill ${turn}`;
        rows.push(await playKill(scene, name, turn).catch((error: unknown) => rowOfFailure(scene, error)));
      }
    rows.push(await playAway(run).catch((error: unknown) => rowOfFailure("all away", error)));
    return rows;
  },
};

const waitFor = (timeout: number): Step => ({
  key: "wait",
  type: "WAIT_FOR_EVENT",
  name: "wait",
  config: { eventName: "never", timeout },
});
const mark: Step = {
  key: "mark",
  type: "UPDATE_CONTACT",
  name: "mark",
  config: { updates: { marked: true } },
};

async function playKill(scene: string, name: FailpointName, turn: number): Promise<FaultRow> {
  const environment = await startEnvironment({ connections: CONNECTIONS });
  try {
    const victim = await environment.start({ FAILPOINTS: `${name}:kill:${turn}` });
    const successor = victim.ended.then(() =>
      environment.unaskedEnds.length > 0 ? environment.start() : undefined,
    );
    await environment.importContacts(PEOPLE);
    const mail = await addMail(environment);
    const workflowId = await addWorkflow(environment, {
      trigger: { triggerType: "EVENT", triggerConfig: { eventName: "came" } },
      steps: [start, mail("hello"), waitFor(1), mark, mail("goodbye")],
      links: [
        ["start", "hello"],
        ["hello", "wait"],
        ["wait", "mark", "timeout"],
        ["mark", "goodbye"],
      ],
    });
    await trackAll(environment);
    await waitForAll(environment, workflowId, PEOPLE);
    if (!victim.isRunning()) await successor;
    const faults = [
      ...(victim.isRunning() && turn === 1 ? ["the failpoint was never reached"] : []),
      ...(await faultsOfSteps(environment, workflowId, PEOPLE)),
      ...(await faultsOfMails(environment, { people: PEOPLE, each: 2, mayBeInDoubt: CONNECTIONS })),
      ...faultsOfPrograms(environment),
    ];
    return await rowOf(environment, scene, faults);
  } finally {
    await environment.close();
  }
}

async function trackAll(environment: Environment): Promise<void> {
  const people = Array.from({ length: PEOPLE }, (_, number) => addressOf(number));
  await Promise.all(
    Array.from({ length: CALLERS }, async () => {
      for (let email = people.pop(); email !== undefined; email = people.pop())
        await environment.insist("/v1/track", { email, event: "came" });
    }),
  );
}

/** Checks that all executions completed, reached each step once, and that the step counts agree. */
async function faultsOfSteps(
  environment: Environment,
  workflowId: string,
  people: number,
): Promise<string[]> {
  const once = await countOf(
    environment,
    `workflow_executions x where workflow_id = $1 and status = 'COMPLETED' and jsonb_array_length(trace) = (
       select count(distinct run -> 'n') from jsonb_array_elements(trace) run)`,
    workflowId,
  );
  const counts = await environment.query<{ entered: number; passed: number }>(
    "select entered::int, passed::int from workflow_step_counts where workflow_id = $1",
    [workflowId],
  );
  const wrong = counts.filter(({ entered, passed }) => entered !== people || passed !== people);
  return [
    ...(once === people ? [] : [`${once} of ${people} executions reached each step once`]),
    ...wrong.map(({ entered, passed }) => `a step counts ${entered} entries and ${passed} exits`),
  ];
}

/** 10,000 executions wait for an event and 10,000 sleep while nothing runs; then two programs start together. */
async function playAway({ size }: FaultRun): Promise<FaultRow> {
  const environment = await startEnvironment();
  try {
    await environment.start();
    await environment.importContacts(SLEEPERS);
    const segment = await environment.insist<{ id: string }>("/segments", {
      name: "All",
      filters: { operator: "AND", conditions: [{ field: "subscribed", operator: "equals", value: true }] },
    });
    const byHand = { triggerType: "MANUAL", triggerConfig: {} };
    const waiting = await addWorkflow(environment, {
      trigger: byHand,
      steps: [start, waitFor(WAIT_S[size]), mark],
      links: [
        ["start", "wait"],
        ["wait", "mark", "timeout"],
      ],
    });
    const sleep = { key: "sleep", type: "DELAY", name: "sleep", config: { amount: 1, unit: "hours" } };
    const sleeping = await addWorkflow(environment, {
      trigger: byHand,
      steps: [start, sleep],
      links: [["start", "sleep"]],
    });
    for (const id of [sleeping, waiting])
      await environment.insist(`/workflows/${id}/executions`, { segmentId: segment.id });
    const isWaiting = "workflow_executions where workflow_id = $1 and status = 'WAITING'";
    for (const id of [sleeping, waiting])
      await waitUntil(
        "all waiting executions",
        END_TIMEOUT_MS,
        async () => (await countOf(environment, isWaiting, id)) === SLEEPERS,
      );
    const early = await countEnded(environment, waiting);
    await environment.killAll();
    await delay(AWAY_MS[size]);
    await Promise.all([environment.start(), environment.start()]);
    const startedMs = performance.now();
    await waitUntil(
      "all resumed executions",
      END_TIMEOUT_MS,
      async () => (await countEnded(environment, waiting)) === SLEEPERS,
    );
    const tookMs = performance.now() - startedMs;
    const tooSoon = await countOf(
      environment,
      "workflow_executions where workflow_id = $1 and extract(epoch from ended_at) * 1000 < (trace -> 1 ->> 'until')::bigint",
      waiting,
    );
    const asleep = await countOf(environment, isWaiting, sleeping);
    const faults = [
      ...(early === 0 ? [] : [`${early} ended before all programs stopped`]),
      ...(tooSoon === 0 ? [] : [`${tooSoon} resumed early`]),
      ...(asleep === SLEEPERS ? [] : [`${SLEEPERS - asleep} are no longer asleep`]),
      ...(tookMs <= RECOVERY_MS ? [] : [`it took ${Math.round(tookMs)} ms until all had resumed`]),
      ...(await faultsOfSteps(environment, waiting, SLEEPERS)),
      ...faultsOfPrograms(environment),
    ];
    return {
      ...(await rowOf(environment, `all away ${AWAY_MS[size] / 1_000} s`, faults)),
      recoveryMs: tookMs,
    };
  } finally {
    await environment.close();
  }
}
