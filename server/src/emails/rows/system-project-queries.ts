// SQL fragments that treat platform email differently. Its text is erased by every update that ends it, and it is not counted.
import { sql, type RawBuilder } from "kysely";
import { SYSTEM_PROJECT_ID } from "./system-project.ts";

const SYSTEM = sql`${sql.lit(SYSTEM_PROJECT_ID)}::uuid`;

/** The variables of email `e` after an update. Those of platform email are removed if `isEnd`, because they may contain secrets. */
export const variablesAfter = (isEnd: RawBuilder<unknown>): RawBuilder<unknown> =>
  sql`case when e.project_id = ${SYSTEM} and ${isEnd} then null else e.variables end`;

/** The subject that email `e` was sent with. Not stored if the contact was deleted in the meantime. */
export const subjectAfter = (reported: RawBuilder<unknown>): RawBuilder<unknown> =>
  sql`case when e.contact_id is not null or e.project_id = ${SYSTEM} then coalesce(${reported}, e.subject) end`;

/** Whether the emails of a project are counted. */
export const isOfCountedProject: RawBuilder<unknown> = sql`project_id <> ${SYSTEM}`;
