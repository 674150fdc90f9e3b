// Reads the dashboard's texts from its source: those passed to `t` and `plural`, and those passed to neither.
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { parseAst } from "rolldown/parseAst";

const DASHBOARD = join(import.meta.dirname, "../../dashboard/src");
/** Component properties with text that is visible or read aloud. */
const SPOKEN =
  /^(label|title|about|description|placeholder|help|action|alt|aria-label|aria-description|aria-roledescription)$/;
/** Numbers, signs and single letters need no translation. */
const WORDS = /\p{L}{2,}/u;
/** Matches the beginning of a sentence or label, but no class, path or constant. */
const SENTENCE = /^\p{Lu}\p{Ll}+(?:[\s.,:;?!…]|$)/u;
const EXAMPLE = /@|^\S+$/;

export interface Node {
  type: string;
  start: number;
  [name: string]: unknown;
}

export interface Texts {
  /** Keys of a catalogue; plurals have their two forms separated by `|`. */
  messages: string[];
  /** Untranslated texts as `file:line text`. */
  bare: string[];
}

/** Returns all distinct texts of the dashboard, ordered by file. */
export function readTexts(folder = DASHBOARD): Texts {
  const messages = new Set<string>();
  const bare: string[] = [];
  const files = readdirSync(folder, { recursive: true, encoding: "utf8" }).toSorted();
  for (const file of files.filter((name) => /\.tsx?$/.test(name) && !name.includes(".test."))) {
    const source = readFileSync(join(folder, file), "utf8");
    const program = parseAst(source, { lang: file.endsWith("x") ? "tsx" : "ts" }) as unknown as Node;
    walk(program, (node, parent) => {
      for (const message of messagesOf(node)) messages.add(message);
      const text = file.endsWith("x") ? bareTextOf(node, parent) : null;
      if (text === null) return;
      bare.push(`${file}:${source.slice(0, node.start).split("\n").length} ${text}`);
    });
  }
  return { messages: [...messages], bare };
}

type Visit = (node: Node, parent: Node | null) => void;

/** Visits a node and its descendants, except those inside a translation. */
export function walk(node: Node, visit: Visit, parent: Node | null = null): void {
  visit(node, parent);
  if (isTranslation(node)) return;
  for (const value of Object.values(node))
    for (const child of Array.isArray(value) ? (value as unknown[]) : [value])
      if (typeof child === "object" && child !== null && "type" in child) walk(child as Node, visit, node);
}

function isTranslation(node: Node): boolean {
  if (node.type !== "CallExpression") return false;
  const { name } = node["callee"] as { name?: string };
  return name === "t" || name === "plural";
}

function literal(node: unknown): string | null {
  const { type, value } = node as { type?: string; value?: unknown };
  return type === "Literal" && typeof value === "string" ? value : null;
}

/** @throws Error if `t` is called without a literal */
function messagesOf(node: Node): string[] {
  if (!isTranslation(node)) return [];
  const { name } = node["callee"] as { name?: string };
  const input = node["arguments"] as unknown[];
  const texts = (name === "t" ? input.slice(0, 1) : input.slice(1, 3)).map(literal);
  if (texts.includes(null)) throw new Error(`${name} is given a text that is not written out`);
  return [texts.join("|")];
}

/** Parents of literals that are no text, such as a key press, a property name or a type. */
const SILENT = /^(BinaryExpression|TSLiteralType|ImportDeclaration|SwitchCase|NewExpression)$/;

function bareTextOf(node: Node, parent: Node | null): string | null {
  if (node.type === "JSXText") return wordsOf(String(node["value"]), parent);
  if (node.type === "JSXAttribute") {
    const name = String((node["name"] as { name: unknown }).name);
    const text = SPOKEN.test(name) ? literal(node["value"] ?? {}) : null;
    return text === null || (name === "placeholder" && EXAMPLE.test(text)) ? null : wordsOf(text, null);
  }
  if (parent === null || SILENT.test(parent.type) || parent.type === "JSXAttribute") return null;
  if (parent.type === "Property" && parent["key"] === node) return null;
  const quasis = node.type === "TemplateLiteral" ? (node["quasis"] as Node[]) : [];
  const text = literal(node) ?? (quasis[0]?.["value"] as { cooked: string } | undefined)?.cooked ?? "";
  return SENTENCE.test(text) ? text : null;
}

function wordsOf(text: string, parent: Node | null): string | null {
  const { name } = (parent?.["openingElement"] as { name?: { name?: string } } | undefined) ?? {};
  return WORDS.test(text) && name?.name !== "code" ? text.trim() : null;
}
