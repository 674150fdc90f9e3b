// Which variables of a content nobody has a value for: told when it is saved, because a slip in a name shows nothing in the mail.
// Before it: routes.ts of templates and campaigns, with what was given. After it: `warnings` of the answer.
import type { Database } from "../platform/database.ts";
import { pairUp } from "../platform/pair-up.ts";
import { BUILT_IN_VARIABLES } from "../rendering/template-variables.ts";
import { unknownVariables, type Warning } from "./lint-content.ts";
import { listFieldNames } from "./queries.ts";

/** Each unknown name once, where it stands first; nothing is asked of the database where there is no variable. */
export async function warnOfUnknownVariables(
  database: Database,
  projectId: string,
  { subject = "", body = "" }: { subject?: string | undefined; body?: string | undefined },
): Promise<Warning[]> {
  const [warnings = []] = await unknownVariablesOf(database, projectId, [{ subject, body }]);
  return warnings;
}

/** The same of many contents, in their order; `alsoKnown` names what else these mails can say. */
export async function unknownVariablesOf(
  database: Database,
  projectId: string,
  contents: ReadonlyArray<{ subject: string; body: string }>,
  alsoKnown: readonly string[] = [],
): Promise<Warning[][]> {
  const known = new Set([...BUILT_IN_VARIABLES, ...alsoKnown]);
  const unknown = (content: { subject: string; body: string }) =>
    unknownVariables(
      [
        ["subject", content.subject],
        ["body", content.body],
      ],
      known,
    );
  const first = contents.map(unknown);
  if (first.every((warnings) => warnings.length === 0)) return first;
  for (const name of await listContactVariables(database, projectId)) known.add(name);
  return pairUp(contents, first).map(([content, warnings]) =>
    warnings.length === 0 ? [] : unknown(content),
  );
}

/** The variables that at least one contact of the project has had a value for. */
export async function listContactVariables(database: Database, projectId: string): Promise<Set<string>> {
  return new Set(await listFieldNames(database, projectId));
}
