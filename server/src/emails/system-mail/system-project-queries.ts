// Parts of statements that know system mail from other mail: what it says is erased by whatever ends it, and it counts for nobody.
import { sql, type RawBuilder } from "kysely";
import { SYSTEM_PROJECT_ID } from "./system-project.ts";

const SYSTEM = sql`${sql.lit(SYSTEM_PROJECT_ID)}::uuid`;

/** The variables of a mail `e` after an update; of system mail none are left when `isEnd`: there may be secrets in them. */
export const variablesAfter = (isEnd: RawBuilder<unknown>): RawBuilder<unknown> =>
  sql`case when e.project_id = ${SYSTEM} and ${isEnd} then null else e.variables end`;

/** The subject a mail `e` was sent with; nothing is kept of who was deleted in between. */
export const subjectAfter = (told: RawBuilder<unknown>): RawBuilder<unknown> =>
  sql`case when e.contact_id is not null or e.project_id = ${SYSTEM} then coalesce(${told}, e.subject) end`;

/** Whether what happens to mails of a project is counted. */
export const isOfCountedProject: RawBuilder<unknown> = sql`project_id <> ${SYSTEM}`;
