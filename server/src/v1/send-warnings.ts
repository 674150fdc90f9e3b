// Warns about a call's own texts: variables without a value, which render empty, and merge tags of other services. Rejects nothing.
import { LRUCache } from "lru-cache";
import { closestName } from "@postloft/contract/closest-name.ts";
import { sendBody } from "@postloft/contract/v1.ts";
import { sha256 } from "../platform/crypto.ts";
import type { Database } from "../platform/database/database.ts";
import { BUILT_IN_VARIABLES } from "../rendering/template-variables.ts";
import { readDataPatch } from "../contacts/rules.ts";
import { readMergeTagFacts } from "../templates/footers.ts";
import {
  firstUses,
  mayHaveMergeTags,
  variableWarnings,
  type MergeTagFacts,
} from "../templates/lint-variables.ts";
import { listContactVariables } from "../templates/unknown-variables.ts";
import type { LintedParts, Warning } from "../templates/warnings.ts";
import type { Parts } from "./draft-content.ts";

/** Cached texts with their variables, and cached projects with their fields. */
const MAX_TEXTS = 2_000;
const MAX_PROJECTS = 1_000;
/** More than a project may have. A set with as many gets no more names. */
const MAX_FIELDS = 4_000;
/** How long a new field or a changed project may go unnoticed. */
const FACTS_LIVE_MS = 10_000;
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

/** The facts about a project that its warnings depend on. */
interface ProjectFacts {
  /** Fields of contacts. Names that a call stored are added at once. */
  fields: Set<string>;
  mergeTags: MergeTagFacts;
}

/**
 * Queries the database only for merge tags, and for names missing from both the call's `data` and the cached fields of the project, and
 * at most every ten seconds per project, because an optional variable may be unknown in every call.
 */
export function createSendWarner(database: Database): (call: WarnedCall) => Promise<readonly Warning[]> {
  const read = new LRUCache<string, ReadTexts>({ max: MAX_TEXTS });
  const facts = new LRUCache<string, ProjectFacts>({ max: MAX_PROJECTS, ttl: FACTS_LIVE_MS });
  /** By project, text, unknown names and the names in the call. */
  const found = new LRUCache<string, readonly Warning[]>({ max: MAX_TEXTS, ttl: FACTS_LIVE_MS });

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

  async function factsOf(projectId: string): Promise<ProjectFacts> {
    const remembered = facts.get(projectId);
    if (remembered !== undefined) return remembered;
    const [fields, mergeTags] = await Promise.all([
      listContactVariables(database, projectId),
      readMergeTagFacts(database, projectId),
    ]);
    const current = { fields: new Set(fields), mergeTags };
    facts.set(projectId, current);
    return current;
  }

  return async ({ projectId, parts, key, data = {} }) => {
    const cached = facts.get(projectId);
    if (cached !== undefined && cached.fields.size < MAX_FIELDS)
      for (const name of storedNames(data)) cached.fields.add(name);
    const texts: LintedParts = [
      ["subject", parts.subject ?? ""],
      ["previewText", parts.previewText ?? ""],
      ["body", parts.html ?? ""],
      ["text", parts.text ?? ""],
    ];
    const { names, mayHaveTags } = readTexts(key, texts);
    const open = names.filter((name) => !Object.hasOwn(data, name));
    if (open.length === 0 && !mayHaveTags) return [];
    const { fields, mergeTags } = await factsOf(projectId);
    const unknown = open.filter((name) => !fields.has(name));
    if (!mayHaveTags && unknown.length === 0) return [];
    // A hash, because the names may have a megabyte.
    const place = sha256([projectId, key, ...unknown, "", ...Object.keys(data)].join(" ")).toString("hex");
    const remembered = found.get(place);
    if (remembered !== undefined) return remembered;
    const all = new Set([...BUILT_IN_VARIABLES, ...Object.keys(data), ...fields]);
    const warnings = variableWarnings(texts, all, mergeTags).slice(0, MAX_WARNINGS);
    found.set(place, warnings);
    return warnings;
  };
}

/** Returns the names of the data that the call stores on the contact. */
function storedNames(data: Readonly<Record<string, unknown>>): string[] {
  return Object.keys(readDataPatch(data).set);
}
