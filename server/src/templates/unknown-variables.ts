// Which variables of a content nobody has a value for: told when it is saved, because a slip in a name shows nothing in the mail.
// Before it: routes.ts of templates and campaigns, with what was given. After it: `warnings` of the answer.
import type { Database } from "../platform/database.ts";
import { BUILT_IN_VARIABLES } from "../rendering/template-variables.ts";
import { unknownVariables, type Warning } from "./lint-content.ts";
import { listFieldNames } from "./queries.ts";

/** Each unknown name once, where it stands first; nothing is asked of the database where there is no variable. */
export async function warnOfUnknownVariables(
  database: Database,
  projectId: string,
  { subject = "", body = "" }: { subject?: string | undefined; body?: string | undefined },
): Promise<Warning[]> {
  const parts = [["subject", subject] as const, ["body", body] as const];
  const isAsked = unknownVariables(parts, new Set(BUILT_IN_VARIABLES)).length > 0;
  if (!isAsked) return [];
  return unknownVariables(
    parts,
    new Set([...BUILT_IN_VARIABLES, ...(await listFieldNames(database, projectId))]),
  );
}
