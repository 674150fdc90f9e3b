// Whose rows a statement means that may be about one project or about all of them: what is held is decided either way.
import { sql, type RawBuilder } from "kysely";

/** As a further condition; null: all projects. */
export const ofProject = (projectId: string | null): RawBuilder<unknown> =>
  projectId === null ? sql`` : sql`and project_id = ${projectId}`;
