// Which variables of a call's own texts nobody has a value for: a slip in a name shows nothing in the mail, and so it is told.
// Before it: send.ts has checked the texts. After it: `warnings` of the answer; nothing is refused for them.
import { LRUCache } from "lru-cache";
import { closestName } from "@postloft/contract/closest-name.ts";
import { sendBody } from "@postloft/contract/v1.ts";
import type { Database } from "../platform/database.ts";
import { BUILT_IN_VARIABLES } from "../rendering/template-variables.ts";
import { firstUses, unknownVariable, type Warning } from "../templates/lint-content.ts";
import { listContactVariables } from "../templates/unknown-variables.ts";
import type { Parts } from "./draft-content.ts";

/** Texts whose variables are remembered, and projects whose fields are. */
const MAX_TEXTS = 2_000;
const MAX_PROJECTS = 1_000;
/** So many are told; who has more knows the pattern. */
const MAX_WARNINGS = 20;

/** A warning about a text of the call, or about a field of it. */
export interface SendWarning extends Omit<Warning, "code" | "where"> {
  code: Warning["code"] | "unknown_field";
  where: { field: string; line: number | null; column: number | null };
}

/** Returns the warning of a field that the endpoint doesn't know. */
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
  /** The same for the same texts. */
  key: string;
  data: Readonly<Record<string, unknown>> | undefined;
}

/** Reads the database only for names that neither the call's `data` nor the fields known of the project have. */
export function createSendWarner(database: Database): (call: WarnedCall) => Promise<Warning[]> {
  const used = new LRUCache<string, ReturnType<typeof firstUses>>({ max: MAX_TEXTS });
  const known = new LRUCache<string, ReadonlySet<string>>({ max: MAX_PROJECTS });

  function usesOf({ key, parts }: WarnedCall) {
    const remembered = used.get(key);
    if (remembered !== undefined) return remembered;
    const uses = firstUses([
      ["subject", parts.subject ?? ""],
      ["body", parts.html ?? ""],
      ["text", parts.text ?? ""],
    ]).filter(({ name }) => !BUILT_IN_VARIABLES.includes(name));
    used.set(key, uses);
    return uses;
  }

  async function fieldsOf(projectId: string, names: readonly string[]): Promise<ReadonlySet<string>> {
    const remembered = known.get(projectId);
    if (remembered !== undefined && names.every((name) => remembered.has(name))) return remembered;
    const fields = await listContactVariables(database, projectId);
    known.set(projectId, fields);
    return fields;
  }

  return async (call) => {
    const data = call.data ?? {};
    const open = usesOf(call).filter(({ name }) => !Object.hasOwn(data, name));
    if (open.length === 0) return [];
    const fields = await fieldsOf(
      call.projectId,
      open.map(({ name }) => name),
    );
    return open
      .filter(({ name }) => !fields.has(name))
      .slice(0, MAX_WARNINGS)
      .map(unknownVariable);
  };
}
