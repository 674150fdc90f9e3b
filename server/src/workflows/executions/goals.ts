// Records that executions reached the goal of their workflow, once each, also after they have ended.
import type { Filter } from "@postloft/contract/filters.ts";
import type { Goal } from "@postloft/contract/workflows/goal.ts";
import { AppError } from "../../platform/app-error.ts";
import type { Tx } from "../../platform/database/database.ts";
import { createFiller, FillError, type Filler } from "../../rendering/fill-text.ts";
import { loadFilterContacts } from "../../segments/filters/load-contacts.ts";
import { lockExecutionRowsOf } from "./contact-queries.ts";
import { isSince } from "./exit-conditions.ts";
import type { Execution, NamedEvent } from "./execution.ts";
import { variablesOf } from "./execution-variables.ts";
import { fillFilter } from "./fill-filter.ts";
import {
  listAimingExecutions,
  updateGoalsReached,
  type AimingExecution,
  type VersionWithGoal,
} from "./goal-queries.ts";
import { fits } from "./steps/wait-for-event.ts";

/** Executions checked by one set of statements. */
const PAGE_SIZE = 500;
const DAY_MS = 86_400_000;

interface GoalsToRecord {
  versions: readonly VersionWithGoal[];
  /** By contact. */
  events: ReadonlyMap<string, readonly NamedEvent[]>;
  /** Only these executions. Null for all. */
  ids?: readonly string[] | null;
}

/** Records the goals of claimed executions that events since their start reached. */
export async function recordGoalsOf(
  tx: Tx,
  projectId: string,
  executions: readonly Execution[],
  events: ReadonlyMap<string, readonly NamedEvent[]>,
): Promise<void> {
  const aiming = executions.filter(({ id, graph: { goal } }) =>
    events.get(id)?.some(({ name }) => name === goal?.eventName),
  );
  if (aiming.length === 0) return;
  // A contact may have just entered several workflows.
  const byContact = Map.groupBy(aiming, ({ contactId }) => contactId ?? "");
  await recordGoals(tx, projectId, {
    versions: aiming.flatMap(({ workflow, version, triggerEvent, graph: { goal } }) =>
      goal === undefined ? [] : [{ workflowId: workflow.id, version, triggerEvent, goal }],
    ),
    events: new Map(
      [...byContact].map(([contactId, own]) => [contactId, own.flatMap(({ id }) => events.get(id) ?? [])]),
    ),
    ids: aiming.map(({ id }) => id),
  });
}

/** Records the goals that events of contacts reach. */
export async function recordGoals(
  tx: Tx,
  projectId: string,
  { versions, events, ids = null }: GoalsToRecord,
): Promise<void> {
  if (versions.length === 0) return;
  const goals = new Map(versions.map((one) => [`${one.workflowId} ${one.version}`, one]));
  let after: string | null = null;
  for (;;) {
    const rows: AimingExecution[] = await listAimingExecutions(tx, projectId, {
      versions,
      contactIds: [...events.keys()],
      ids,
      after,
      limit: PAGE_SIZE,
    });
    const last = rows.at(-1);
    if (last === undefined) return;
    const fillers = await readFillers(tx, projectId, rows);
    const reached = rows.flatMap((row) => {
      const found = goals.get(`${row.workflowId} ${row.version}`);
      const filler = fillers.get(row.id);
      if (found === undefined || filler === undefined) return [];
      const { goal, triggerEvent } = found;
      const own = events.get(row.contactId) ?? [];
      const at = goalReachedAt(goal, { ...row, triggerEvent }, own, filler);
      return at === null ? [] : [{ id: row.id, contactId: row.contactId, at }];
    });
    if (reached.length > 0) {
      // The engine has locked those that it names.
      if (ids === null)
        await lockExecutionRowsOf(tx, projectId, [...new Set(reached.map((one) => one.contactId))]);
      await updateGoalsReached(tx, projectId, reached);
    }
    after = last.id;
  }
}

/** Returns when the first of some events reached a goal, or null. A filter that can't be filled in matches no event. */
export function goalReachedAt(
  { eventName, filter, days }: Goal,
  execution: Pick<Execution, "startedAt" | "triggerEvent">,
  events: readonly NamedEvent[],
  filler: Filler,
): Date | null {
  const endMs = execution.startedAt.getTime() + days * DAY_MS;
  const inTime = events.filter(
    (event) => event.name === eventName && isSince(execution, event) && event.at.getTime() < endMs,
  );
  const first = inTime.toSorted((one, other) => one.at.getTime() - other.at.getTime());
  if (first.length === 0) return null;
  const wanted = filter === undefined ? undefined : filled(filter, filler);
  if (wanted === null) return null;
  return first.find((event) => wanted === undefined || matches(wanted, event))?.at ?? null;
}

function filled(filter: Filter, filler: Filler): Filter | null {
  try {
    return fillFilter(filter, filler);
  } catch (error) {
    if (error instanceof FillError) return null;
    throw error;
  }
}

/** A filter on the data of an event uses no segment. */
function matches(filter: Filter, event: NamedEvent): boolean {
  try {
    return fits(filter, event, { segments: new Map() }, event.at);
  } catch (error) {
    if (error instanceof AppError) return false;
    throw error;
  }
}

/** Returns by execution what fills in the variables of its goal. */
async function readFillers(
  tx: Tx,
  projectId: string,
  rows: readonly AimingExecution[],
): Promise<Map<string, Filler>> {
  const contactIds = [...new Set(rows.map(({ contactId }) => contactId))];
  const contacts = await loadFilterContacts(tx, { projectId, contactIds, filters: [], segments: new Map() });
  return new Map(
    rows.flatMap((row): Array<[string, Filler]> => {
      const contact = contacts.get(row.contactId);
      if (contact === undefined) return [];
      const { contactId } = row;
      const context = (row.context ?? {}) as Execution["context"];
      const results = (row.results ?? {}) as Execution["results"];
      return [[row.id, createFiller(() => variablesOf({ contactId, context, results }, contact))]];
    }),
  );
}
