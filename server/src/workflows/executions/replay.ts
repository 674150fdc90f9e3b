// Replays the last executions under another graph, with the events that really happened. Uses the current state of the contacts, because
// earlier states are not stored.
import { LIMITS } from "@postloft/contract/limits/limits.ts";
import { exitEventNames } from "@postloft/contract/workflows/exit-conditions.ts";
import { waitNamesOf } from "@postloft/contract/workflows/graph.ts";
import { listArrivedEvents } from "../../events/arrived-events.ts";
import { loadFilterContacts } from "../../segments/filters/load-contacts.ts";
import { takenBranch, type StepRun, type WalkableGraph } from "./execution.ts";
import { readGraphs } from "./load-executions.ts";
import { listReplayable } from "./list-queries.ts";
import { createShares, type TakeShare } from "./shares.ts";
import { newExecution, readGround, readVersion, type SimulationDependencies } from "./simulate.ts";
import { simulateExecution, type SimulatedEvent } from "./simulated-environment.ts";
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
  const takeNew = createShares();
  const [did, would] = [new Map<string, Passage>(), new Map<string, Passage>()];
  let executions = 0;
  for (const row of rows) {
    const contact = contacts.get(row.contactId);
    const former = graphs.get(`${workflow.id} ${row.version}`);
    if (contact === undefined || former === undefined) continue;
    const execution = newExecution({
      projectId,
      workflow,
      version,
      graph,
      contactId: row.contactId,
      context: (row.context ?? {}) as Record<string, unknown>,
      startedAt: row.startedAt,
    });
    const trace = unpackTrace(row.trace);
    await simulateExecution({
      ...ground,
      execution,
      contact,
      events: events.get(row.id) ?? [],
      webhooks: {},
      takeShare: recordedShares(trace, former, takeNew),
    });
    count(did, trace, former);
    count(would, execution.trace, graph);
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
      would: would.get(stepId) ?? none(),
    })),
  };
}

/** Returns a function that takes the recorded shares of each split in order, and others where there is no record. */
function recordedShares(trace: readonly StepRun[], { steps }: WalkableGraph, takeNew: TakeShare): TakeShare {
  const recorded = Map.groupBy(trace, ({ n, step }) => (steps[n] ?? step)?.id ?? "");
  return (step) => {
    const branch = takenBranch(recorded.get(step.id)?.shift());
    return step.config.shares.find(({ name }) => name === branch) ?? takeNew(step);
  };
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
