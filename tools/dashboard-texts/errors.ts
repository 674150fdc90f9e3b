// Reads the error messages for single cases from the server's source.
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { parseAst } from "rolldown/parseAst";
import { walk, type Node } from "./texts.ts";

const SERVER = join(import.meta.dirname, "../../server/src");

export interface CaseSentence {
  /** The server file that contains the sentence. */
  file: string;
  /** With `{1}`, `{2}` for inserted values. */
  sentence: string;
}

/** Returns the literal messages of every `new AppError` that has one. */
export function readCaseSentences(): CaseSentence[] {
  const files = readdirSync(SERVER, { recursive: true, encoding: "utf8" }).toSorted();
  return files
    .filter((name) => name.endsWith(".ts") && !name.includes(".test."))
    .flatMap((file) => {
      const found: CaseSentence[] = [];
      const program = parseAst(readFileSync(join(SERVER, file), "utf8"), { lang: "ts" }) as unknown as Node;
      walk(program, (node) => {
        for (const sentence of sentencesOf(node)) found.push({ file, sentence });
      });
      return found;
    });
}

function sentencesOf(node: Node): string[] {
  const { name } = (node["callee"] ?? {}) as { name?: string };
  if (node.type !== "NewExpression" || name !== "AppError") return [];
  const [, more] = node["arguments"] as Node[];
  const properties = (more?.["properties"] ?? []) as Array<{ key?: { name?: string }; value: Node }>;
  const message = properties.find(({ key }) => key?.name === "message");
  return message === undefined ? [] : textsOf(message.value);
}

/** Returns the texts an expression may produce, as far as they are literals. */
function textsOf(node: Node): string[] {
  if (node.type === "Literal") return [String(node["value"])];
  if (node.type === "ConditionalExpression")
    return [...textsOf(node["consequent"] as Node), ...textsOf(node["alternate"] as Node)];
  if (node.type !== "TemplateLiteral") return [];
  const parts = (node["quasis"] as Array<{ value: { cooked: string } }>).map(({ value }) => value.cooked);
  return [parts.reduce((said, part, at) => `${said}{${at}}${part}`)];
}
