// Saved contact views, each with a name and a list query, shared by the members of a project.
import type { ViewQuery } from "@postloft/contract/contact-views.ts";
import { LIMITS } from "@postloft/contract/limits/limits.ts";
import { withValues } from "@postloft/contract/translation.ts";
import type { Database, Tx } from "../../platform/database/database.ts";
import { isId, newId } from "../../platform/ids.ts";
import { AppError } from "../../platform/app-error.ts";
import {
  deleteViewRow,
  insertViewRow,
  listViewRows,
  lockViewNames,
  updateViewRow,
  type ViewRow,
} from "./queries.ts";

function present(row: ViewRow) {
  return {
    id: row.id,
    name: row.name,
    query: row.query as ViewQuery,
    createdAt: row.createdAt.toISOString(),
    updatedAt: row.updatedAt.toISOString(),
  };
}

/** Returns all views by name. The project's limit bounds their number. */
export async function listViews(database: Database, projectId: string) {
  return (await listViewRows(database, projectId)).map(present);
}

const taken = (name: string) =>
  new AppError("CONFLICT", withValues('Another view is called "{name}". Choose a different name.', { name }));

/** @throws AppError CONFLICT if the name is taken or the project has the maximum number of views. */
export async function createView(
  tx: Tx,
  projectId: string,
  { name, query }: { name: string; query: object },
) {
  const names = await lockViewNames(tx, projectId);
  if (names.has(name)) throw taken(name);
  if (names.size >= LIMITS.contactViews.value)
    throw new AppError(
      "CONFLICT",
      withValues("A project can have up to {most} views. Delete one first.", {
        most: LIMITS.contactViews.value,
      }),
    );
  const row = { projectId, id: newId(), name, query: JSON.stringify(query) };
  return present(await insertViewRow(tx, row));
}

/** @throws AppError VIEW_NOT_FOUND, also for a view of another project, or CONFLICT if the name is taken. */
export async function updateView(
  tx: Tx,
  projectId: string,
  id: string,
  { name, query }: { name?: string | undefined; query?: object | undefined },
) {
  const names = await lockViewNames(tx, projectId);
  const holder = name === undefined ? undefined : names.get(name);
  if (![...names.values()].includes(id)) throw new AppError("VIEW_NOT_FOUND");
  if (name !== undefined && holder !== undefined && holder !== id) throw taken(name);
  const changes = {
    ...(name === undefined ? {} : { name }),
    ...(query === undefined ? {} : { query: JSON.stringify(query) }),
  };
  return present(await updateViewRow(tx, projectId, id, changes));
}

/** @throws AppError VIEW_NOT_FOUND, also for a view of another project. */
export async function deleteView(tx: Tx, projectId: string, id: string): Promise<void> {
  if (!isId(id) || !(await deleteViewRow(tx, projectId, id))) throw new AppError("VIEW_NOT_FOUND");
}
