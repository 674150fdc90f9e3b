// Lets contacts enter workflows, either once ever or one execution at a time. Two unique keys of the database enforce this.
import { LIMITS } from "@postloft/contract/limits/limits.ts";
import type { Graph } from "@postloft/contract/workflows/graph.ts";
import type { Tx } from "../../platform/database/database.ts";
import { newId } from "../../platform/ids.ts";
import {
  countEntriesToday,
  findEnterableForShare,
  insertExecutions,
  markVersionsUsed,
} from "./entry-queries.ts";
import { walkable } from "./execution.ts";

export interface Entry {
  workflow: Enterable;
  contactId: string;
  context: Readonly<Record<string, unknown>>;
  /** When the trigger happened. Now by default. */
  at?: Date | undefined;
  /** The date that a trigger DATE is about. A contact enters at most once for each. */
  occursAt?: Date;
  /** Whether a call with a public key caused it. */
  fromPublicKey?: boolean;
}

/** A workflow that accepts contacts. */
export interface Enterable {
  id: string;
  name: string;
  version: number;
  allowReentry: boolean;
  startStepId: string;
  triggerType: string;
  triggerConfig: unknown;
  triggerEvent: string | null;
  /** See the column. */
  datesSince: Date | null;
}

/** Returns the enabled workflows, and locks their graphs until the end of the transaction. */
export async function readEnterable(
  tx: Tx,
  projectId: string,
  by: { ids: readonly string[] } | { events: readonly string[] },
): Promise<Enterable[]> {
  const rows = await findEnterableForShare(tx, projectId, by);
  return rows.map((row) => ({
    id: row.id,
    name: row.name,
    version: row.version,
    allowReentry: row.allowReentry,
    startStepId: walkable(row.graph as Graph).startStepId,
    triggerType: row.triggerType,
    triggerConfig: row.triggerConfig,
    triggerEvent: row.triggerEvent,
    datesSince: row.datesSince,
  }));
}

/**
 * Starts executions. Skips contacts that do not exist or may not enter (again).
 *
 * @param bounded for events and segments, where more than a hundred entries of a contact per day mean a loop
 * @returns the ids of the started executions by entry, null for the others
 */
export async function enterWorkflows(
  tx: Tx,
  projectId: string,
  entries: readonly Entry[],
  { bounded }: { bounded: boolean },
): Promise<Array<string | null>> {
  const most = LIMITS.entriesPerDay.value;
  const reentries = entries.flatMap(({ workflow, contactId }) =>
    workflow.allowReentry ? [{ workflowId: workflow.id, contactId }] : [],
  );
  const counts =
    bounded && reentries.length > 0
      ? await countEntriesToday(tx, projectId, reentries)
      : new Map<string, number>();
  const rows = entries.map(
    ({ workflow, contactId, context, at = null, occursAt, fromPublicKey = false }) => ({
      id: newId(),
      workflowId: workflow.id,
      contactId,
      isOnce: !workflow.allowReentry,
      occursAt: occursAt ?? null,
      version: workflow.version,
      stepId: workflow.startStepId,
      context: Object.keys(context).length === 0 ? null : JSON.stringify(context),
      startedAt: at,
      fromPublicKey: fromPublicKey ? (true as const) : null,
    }),
  );
  const allowed = rows.filter((row) => (counts.get(`${row.workflowId} ${row.contactId}`) ?? 0) < most);
  if (allowed.length === 0) return entries.map(() => null);
  const started = new Set(await insertExecutions(tx, projectId, allowed));
  const versions = allowed.filter(({ id }) => started.has(id));
  if (versions.length > 0) await markVersionsUsed(tx, projectId, versions);
  return rows.map(({ id }) => (started.has(id) ? id : null));
}
