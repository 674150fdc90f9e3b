// Warnings when a message template is saved: variables without a value, because they print nothing, and merge tags of other services.
import type { Database } from "../platform/database/database.ts";
import { pairUp } from "../platform/pair-up.ts";
import { BUILT_IN_VARIABLES } from "../rendering/template-variables.ts";
import { readMergeTagFacts } from "./footers.ts";
import { mayHaveMergeTags, unknownVariables, variableWarnings } from "./lint-variables.ts";
import { listFieldNames } from "./queries.ts";
import type { LintedParts, Warning } from "./warnings.ts";

/** Maximum number of warnings returned when a message template is saved. */
const WARNINGS_MAX = 100;

interface SavedTexts {
  subject: string | undefined;
  previewText: string | null | undefined;
  body: string | undefined;
}

/** Returns the warnings for a message template that is being saved. Reads the database only if there may be any. */
export async function warnOnSaving(
  database: Database,
  projectId: string,
  { subject = "", previewText = null, body = "" }: Partial<SavedTexts>,
): Promise<Warning[]> {
  const parts: LintedParts = [
    ["subject", subject],
    ["previewText", previewText ?? ""],
    ["body", body],
  ];
  const known = new Set(BUILT_IN_VARIABLES);
  if (unknownVariables(parts, known).length === 0 && !mayHaveMergeTags(parts)) return [];
  for (const name of await listContactVariables(database, projectId)) known.add(name);
  const facts = await readMergeTagFacts(database, projectId);
  return variableWarnings(parts, known, facts).slice(0, WARNINGS_MAX);
}

interface KnownContent {
  subject: string;
  previewText: string | null;
  body: string;
}

/**
 * Returns the unknown variables of several message templates, each once and in order. `alsoKnown` lists additional names these emails have.
 */
export async function unknownVariablesOf(
  database: Database,
  projectId: string,
  contents: readonly KnownContent[],
  alsoKnown: readonly string[] = [],
): Promise<Warning[][]> {
  const known = new Set([...BUILT_IN_VARIABLES, ...alsoKnown]);
  const unknown = (content: KnownContent) =>
    unknownVariables(
      [
        ["subject", content.subject],
        ["previewText", content.previewText ?? ""],
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

/** Returns the variables for which at least one contact of the project ever had a value. */
export async function listContactVariables(database: Database, projectId: string): Promise<Set<string>> {
  return new Set(await listFieldNames(database, projectId));
}
