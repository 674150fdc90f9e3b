// Limits a statement to one project, or to none when the instance admin acts on all projects.
import { sql, type RawBuilder } from "kysely";

/** Returns an additional SQL condition. Null means all projects. */
export const ofProject = (projectId: string | null): RawBuilder<unknown> =>
  projectId === null ? sql`` : sql`and project_id = ${projectId}`;
