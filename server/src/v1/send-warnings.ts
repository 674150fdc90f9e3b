// Warns about a call's own texts: variables without a value, which render empty, and merge tags of other services. Rejects nothing.
import { LRUCache } from "lru-cache";
import { closestName } from "@postloft/contract/closest-name.ts";
import { sendBody } from "@postloft/contract/v1.ts";
import type { Database } from "../platform/database/database.ts";
import { BUILT_IN_VARIABLES } from "../rendering/template-variables.ts";
import { readMergeTagFacts } from "../templates/footers.ts";
import { firstUses, mayHaveMergeTags, variableWarnings } from "../templates/lint-variables.ts";
import { listContactVariables } from "../templates/unknown-variables.ts";
import type { LintedParts, Warning } from "../templates/warnings.ts";
import type { Parts } from "./draft-content.ts";

/** Cached texts with their variables, and cached projects with their fields. */
const MAX_TEXTS = 2_000;
const MAX_PROJECTS = 1_000;
/** Maximum of warnings per call. */
const MAX_WARNINGS = 20;

/** A warning about a text or a field of the call. */
export interface SendWarning extends Omit<Warning, "code" | "where"> {
  code: Warning["code"] | "unknown_field";
  where: { field: string; line: number | null; column: number | null };
}

/** Returns the warning about a field that the endpoint doesn't know. */
export function ignoredField(field: string): SendWarning {
  const near = closestName(field, Object.keys(sendBody.shape));
  return {
    code: "unknown_field",
    message: `\`${field}\` is unknown and was ignored.${near === null ? "" : ` Did you mean \`${near}\`?`}`,
    messageParts: [],
    where: { field, line: null, column: null },
  };
}

export interface WarnedCall {
  projectId: string;
  parts: Parts;
  /** The same for identical texts. */
  key: string;
  data: Readonly<Record<string, unknown>> | undefined;
}

interface ReadTexts {
  /** Variables that not every email has. */
  names: readonly string[];
  mayHaveTags: boolean;
}

/** Queries the database only for merge tags, and for names missing from both the call's `data` and the cached fields of the project. */
export function createSendWarner(database: Database): (call: WarnedCall) => Promise<Warning[]> {
  const read = new LRUCache<string, ReadTexts>({ max: MAX_TEXTS });
  const known = new LRUCache<string, ReadonlySet<string>>({ max: MAX_PROJECTS });

  function readTexts(key: string, parts: LintedParts): ReadTexts {
    const remembered = read.get(key);
    if (remembered !== undefined) return remembered;
    const names = firstUses(parts).map(({ name }) => name);
    const texts = {
      names: names.filter((name) => !BUILT_IN_VARIABLES.includes(name)),
      mayHaveTags: mayHaveMergeTags(parts),
    };
    read.set(key, texts);
    return texts;
  }

  async function fieldsOf(projectId: string, names: readonly string[]): Promise<ReadonlySet<string>> {
    const remembered = known.get(projectId);
    if (remembered !== undefined && names.every((name) => remembered.has(name))) return remembered;
    const fields = await listContactVariables(database, projectId);
    known.set(projectId, fields);
    return fields;
  }

  return async ({ projectId, parts, key, data = {} }) => {
    const texts: LintedParts = [
      ["subject", parts.subject ?? ""],
      ["body", parts.html ?? ""],
      ["text", parts.text ?? ""],
    ];
    const { names, mayHaveTags } = readTexts(key, texts);
    const open = names.filter((name) => !Object.hasOwn(data, name));
    if (open.length === 0 && !mayHaveTags) return [];
    const fields = await fieldsOf(projectId, open);
    if (!mayHaveTags && open.every((name) => fields.has(name))) return [];
    const all = new Set([...BUILT_IN_VARIABLES, ...Object.keys(data), ...fields]);
    return variableWarnings(texts, all, await readMergeTagFacts(database, projectId)).slice(0, MAX_WARNINGS);
  };
}
