// Replays the last executions under another graph up to now. What the graph repeats is taken from the records. The rest is simulated with the
// events that really happened and the current state of the contacts, because earlier states are not stored.
import { LIMITS } from "@postloft/contract/limits/limits.ts";
import { exitEventNames } from "@postloft/contract/workflows/exit-conditions.ts";
import { waitNamesOf } from "@postloft/contract/workflows/graph.ts";
import { readClock } from "../../platform/clock.ts";
import { listArrivedEvents } from "../../events/arrived-events.ts";
import { loadFilterContacts } from "../../segments/filters/load-contacts.ts";
import type { Execution, StepRun, WalkableGraph } from "./execution.ts";
import { readGraphs } from "./load-executions.ts";
import { listReplayable } from "./list-queries.ts";
import {
  assume,
  recordedResponses,
  recordedShares,
  repeatRuns,
  stepsOnContacts,
  type Assumptions,
} from "./recorded-runs.ts";
import { createShares, type TakeShare } from "./shares.ts";
import { newExecution, readGround, readVersion, type SimulationDependencies } from "./simulate.ts";
import { simulateExecution, type SimulatedEvent, type Simulation } from "./simulated-environment.ts";
import { unpackTrace } from "./stored-trace.ts";

interface Passage {
  entered: number;
  passed: number;
  skipped: number;
  failed: number;
}

/** @throws AppError WORKFLOW_NOT_FOUND, VERSION_NOT_FOUND */
export async function replay(
  parts: Pick<SimulationDependencies, "database" | "domains" | "sealer">,
  projectId: string,
  request: { workflowId: string; version?: number | undefined; limit?: number | undefined },
) {
  const { database } = parts;
  const { workflow, version, graph } = await readVersion(database, projectId, request);
  const ground = await readGround(parts, projectId, graph);
  const { limit = LIMITS.replayedExecutions.value } = request;
  const rows = await listReplayable(database, projectId, workflow.id, limit);
  const contactIds = [...new Set(rows.map((row) => row.contactId))];
  const contacts = await loadFilterContacts(database, { projectId, contactIds, ...ground });
  const events = await eventsOf(database, projectId, rows, graph);
  const graphs = await readGraphs(
    database,
    projectId,
    rows.map((row) => ({ workflowId: workflow.id, version: row.version })),
  );
  const repeat: ReplayOne = {
    projectId,
    workflow,
    version,
    graph,
    ground,
    now: await readClock(database),
    takeNew: createShares(),
    onContacts: stepsOnContacts(graph),
    assumptions: new Map(),
  };
  const [did, would] = [new Map<string, Passage>(), new Map<string, Passage>()];
  let executions = 0;
  for (const row of rows) {
    const contact = contacts.get(row.contactId);
    const former = graphs.get(`${workflow.id} ${row.version}`);
    if (contact === undefined || former === undefined) continue;
    const trace = unpackTrace(row.trace);
    count(did, trace, former);
    count(
      would,
      await replayOne(repeat, { row, trace, former, contact, events: events.get(row.id) ?? [] }),
      graph,
    );
    executions++;
  }
  const names = new Map(
    [...graphs.values(), graph].flatMap(({ steps }) => steps.map(({ id, name }) => [id, name] as const)),
  );
  const stepIds = [...new Set([...graph.steps.map(({ id }) => id), ...did.keys()])];
  return {
    executions,
    steps: stepIds.map((stepId) => ({
      stepId,
      name: names.get(stepId) ?? "",
      did: did.get(stepId) ?? none(),
      would: { ...(would.get(stepId) ?? none()), assumed: repeat.assumptions.get(stepId) ?? 0 },
    })),
  };
}

interface ReplayOne extends Pick<Execution, "projectId" | "version" | "graph"> {
  workflow: Parameters<typeof newExecution>[0]["workflow"];
  ground: Awaited<ReturnType<typeof readGround>>;
  now: Date;
  takeNew: TakeShare;
  onContacts: ReadonlySet<string>;
  assumptions: Assumptions;
}

interface RecordedExecution extends Pick<Simulation, "contact" | "events"> {
  row: Awaited<ReturnType<typeof listReplayable>>[number];
  trace: readonly StepRun[];
  former: WalkableGraph;
}

/** Returns what an execution would have done up to now, and counts what had to be assumed. */
async function replayOne(
  { ground, now, takeNew, onContacts, assumptions, ...to }: ReplayOne,
  { row, trace, former, contact, events }: RecordedExecution,
): Promise<StepRun[]> {
  const { graph } = to;
  const { startedAt } = row;
  const { runs, differsAt } = repeatRuns(trace, former, graph, startedAt);
  if (differsAt?.stepId == null) return runs;
  const context = (row.context ?? {}) as Record<string, unknown>;
  const results = (row.results ?? {}) as Record<string, unknown>;
  const execution = {
    ...newExecution({ ...to, contactId: row.contactId, context, startedAt }),
    stepId: differsAt.stepId,
    trace: [...runs],
    results: resultsOf(runs, graph, results),
  };
  const recorded = { trace, former, results, repeated: runs.length, assumptions };
  await simulateExecution({
    ...ground,
    execution,
    contact,
    events,
    respond: recordedResponses(recorded),
    takeShare: recordedShares(recorded, takeNew),
    from: new Date(differsAt.at),
    until: now,
  });
  for (const { n, is } of execution.trace.slice(runs.length)) {
    const { id = "" } = graph.steps[n] ?? {};
    if (is === undefined && onContacts.has(id)) assume(assumptions, id);
  }
  return execution.trace;
}

/** Returns the results of steps that later steps can refer to. */
function resultsOf(
  runs: readonly StepRun[],
  { steps }: WalkableGraph,
  all: Readonly<Record<string, unknown>>,
) {
  const names = new Set(runs.map(({ n }) => steps[n]?.name ?? ""));
  return Object.fromEntries(Object.entries(all).filter(([name]) => names.has(name)));
}

const none = (): Passage => ({ entered: 0, passed: 0, skipped: 0, failed: 0 });

function count(passages: Map<string, Passage>, trace: readonly StepRun[], { steps }: WalkableGraph): void {
  for (const { n, end, is, step } of trace) {
    const { id = "" } = steps[n] ?? step ?? {};
    const passage = passages.get(id) ?? none();
    passages.set(id, passage);
    passage.entered++;
    if (end === undefined) continue;
    if (is === undefined) passage.passed++;
    else if (is === "SKIPPED") passage.skipped++;
    else if (is === "FAILED") passage.failed++;
  }
}

/** Returns the events since each execution began, limited to those that the graph waits for. */
async function eventsOf(
  database: SimulationDependencies["database"],
  projectId: string,
  rows: Awaited<ReturnType<typeof listReplayable>>,
  graph: WalkableGraph,
): Promise<Map<string, SimulatedEvent[]>> {
  const events = new Map<string, SimulatedEvent[]>();
  const names = new Set([
    ...waitNamesOf({ steps: [...graph.steps], transitions: [] }),
    ...exitEventNames(graph.exitConditions),
  ]);
  for (const eventName of names) {
    const waits = rows.map((row) => ({
      waitId: row.id,
      contactId: row.contactId,
      eventName,
      since: row.startedAt,
    }));
    for (const { waitId, at, data } of waits.length === 0
      ? []
      : await listArrivedEvents(database, projectId, waits))
      events.set(waitId, [...(events.get(waitId) ?? []), { name: eventName, at, data }]);
  }
  return events;
}
