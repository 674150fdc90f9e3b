// Reads the texts of errors from the source of the server and the contract.
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { parseAst } from "rolldown/parseAst";
import { walk, type Node } from "./texts.ts";

const ROOT = join(import.meta.dirname, "../..");

export interface ErrorText {
  /** The file that contains the text, such as `server/campaigns/campaigns.ts`. */
  file: string;
  /** With `{names}` for its values. */
  text: string;
}

/** Functions that take the text of an error, with the position of that argument. */
const TAKES_TEXT: Readonly<Record<string, number>> = {
  withValues: 0,
  asMessage: 0,
  issue: 0,
  rule: 0,
  refuse: 0,
  conflict: 0,
  across: 1,
  regex: 1,
  refine: 1,
  fault: 1,
  faultOfWhole: 1,
  invalidField: 2,
  fail: 2,
  notify: 2,
};

/** Codes and names of fields are no texts. */
const SENTENCE = / |\.$/;

/** Returns all texts of errors, except those of Zod and of the catalog of codes. */
export function readErrorTexts(): ErrorText[] {
  return ["server", "contract"].flatMap((part) => {
    const folder = join(ROOT, part, "src");
    const files = readdirSync(folder, { recursive: true, encoding: "utf8" }).toSorted();
    return files
      .filter((name) => name.endsWith(".ts") && !name.includes(".test.") && !name.startsWith("testing"))
      .flatMap((name) => {
        const found = new Set<string>();
        const source = readFileSync(join(folder, name), "utf8");
        walk(parseAst(source, { lang: "ts" }) as unknown as Node, (node) => {
          for (const text of textsOf(node, source)) found.add(text);
        });
        return [...found].map((text) => ({ file: `${part}/${name}`, text }));
      });
  });
}

function textsOf(node: Node, source: string): string[] {
  if (node.type === "NewExpression") return textsOfAppError(node);
  if (node.type === "CallExpression") {
    const { name, property } = node["callee"] as { name?: string; property?: { name?: string } };
    const at = TAKES_TEXT[name ?? property?.name ?? ""];
    const input = node["arguments"] as Node[];
    return at === undefined ? [] : literalsIn(input[at]);
  }
  if (node.type === "ObjectExpression") return textsOfFault(node);
  const returnType = node["returnType"] as { start: number; end: number } | null | undefined;
  if (returnType == null || !source.slice(returnType.start, returnType.end).includes("Wording")) return [];
  const found: string[] = [];
  walk(node["body"] as Node, (inner) => {
    if (inner.type === "ReturnStatement") found.push(...literalsIn(inner["argument"] as Node));
  });
  return found;
}

function textsOfAppError(node: Node): string[] {
  if ((node["callee"] as { name?: string }).name !== "AppError") return [];
  return literalsIn(propertiesOf((node["arguments"] as Node[])[1]).get("message"));
}

/** Returns the message of an object that also has the code of a field, and the message of a check by Zod. */
function textsOfFault(node: Node): string[] {
  const properties = propertiesOf(node);
  if (properties.has("code") || properties.has("params")) return literalsIn(properties.get("message"));
  const error = properties.get("error");
  return properties.size === 1 || error?.type === "ArrowFunctionExpression" ? literalsIn(error) : [];
}

function propertiesOf(node: Node | undefined): Map<string | undefined, Node> {
  const properties = (node?.["properties"] ?? []) as Array<{ key?: { name?: string }; value: Node }>;
  return new Map(properties.map(({ key, value }) => [key?.name, value]));
}

/** Returns the texts an expression may produce, as far as they are literals. */
function literalsIn(node: Node | null | undefined): string[] {
  if (node?.type === "Literal") return SENTENCE.test(String(node["value"])) ? [String(node["value"])] : [];
  if (node?.type === "ArrowFunctionExpression") return literalsIn(node["body"] as Node);
  if (node?.type !== "ConditionalExpression") return [];
  return [...literalsIn(node["consequent"] as Node), ...literalsIn(node["alternate"] as Node)];
}
