// Reads the enabled transports of a project together with the version of its queue, which names them.
import { sql } from "kysely";
import { among, fromReachableNodes, type ListProjects } from "../../platform/database/cluster.ts";
import type { Database } from "../../platform/database/database.ts";
import type { Row } from "../../platform/database/row.ts";

export interface OwnTransportRow extends Row<
  "project_transports",
  "id" | "sealed" | "kinds" | "domain" | "updatedAt"
> {}

/** Returns null if the project is gone. */
export async function readOwnTransports(
  database: Database,
  projectId: string,
): Promise<{ version: string; transports: OwnTransportRow[] } | null> {
  const { rows } = await sql<
    { version: string } & { [Field in keyof OwnTransportRow]: OwnTransportRow[Field] | null }
  >`
    select q.xmin::text as version, t.id, t.sealed, t.kinds, t.domain, t.updated_at
    from project_queues q
    left join project_transports t on t.project_id = ${projectId} and t.enabled
    where q.project_id = ${projectId}
    order by t.id`.execute(database);
  const [first] = rows;
  if (first === undefined) return null;
  const transports = rows.flatMap(({ id, sealed, updatedAt, kinds, domain }) =>
    id === null || sealed === null || updatedAt === null ? [] : [{ id, sealed, updatedAt, kinds, domain }],
  );
  return { version: first.version, transports };
}

/** Returns whether any project has transports of its own, as far as the nodes of a cluster are reachable. */
export async function haveOwnTransports(database: Database, listProjects?: ListProjects): Promise<boolean> {
  const { rows: found } = await fromReachableNodes(database, listProjects, async (on, projectIds) => {
    const { rows } = await sql<{ any: boolean }>`
      select exists (
        select 1 from project_queues where own_transports ${among(sql`project_id`, projectIds)}) as any`.execute(
      on,
    );
    return rows;
  });
  return found.some(({ any }) => any);
}
