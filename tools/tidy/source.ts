// A source file as a syntax tree, and the queries shared by several rules.
import { parseSync, Visitor, type ESTree, type VisitorObject } from "rolldown/utils";

export interface SourceFile {
  path: string;
  text: string;
  program: ESTree.Program;
}

/** A module specifier in import, export … from, import() or the type import("…"). */
export interface Import {
  specifier: string;
  line: number;
}

/** The text of a string or template literal. Each `${…}` of a template becomes `$1`, and `${sql.lit(…)}` becomes `0`. */
export interface StringLiteral {
  text: string;
  /** Offset in the file; see `lineAt`. */
  start: number;
  /** The tag of a template, such as `sql` in sql`…` and in sql.raw`…`. */
  tag?: string;
}

export function parseSource(path: string, text: string): SourceFile {
  return { path, text, program: parseSync(path, text).program };
}

export function visit(file: SourceFile, visitor: VisitorObject): void {
  new Visitor(visitor).visit(file.program);
}

/** Returns the line, counted from 1, of an offset in UTF-16 units, as used by syntax nodes. */
export function lineAt(text: string, offset: number): number {
  let line = 1;
  for (let at = text.indexOf("\n"); at !== -1 && at < offset; at = text.indexOf("\n", at + 1)) line += 1;
  return line;
}

export function importsOf(file: SourceFile): Import[] {
  const imports: Import[] = [];
  const add = (source: ESTree.Expression | null): void => {
    if (source?.type !== "Literal" || typeof source.value !== "string") return;
    imports.push({ specifier: source.value, line: lineAt(file.text, source.start) });
  };
  visit(file, {
    ImportDeclaration: (node) => add(node.source),
    ExportNamedDeclaration: (node) => add(node.source),
    ExportAllDeclaration: (node) => add(node.source),
    ImportExpression: (node) => add(node.source),
    TSImportType: (node) => add(node.source),
  });
  return imports;
}

export function stringsOf(file: SourceFile): StringLiteral[] {
  const strings: StringLiteral[] = [];
  const tagByTemplate = new Map<ESTree.TemplateLiteral, string>();
  visit(file, {
    Literal(node) {
      if (typeof node.value === "string") strings.push({ text: node.value, start: node.start });
    },
    TaggedTemplateExpression(node) {
      const tag = rootNameOf(node.tag);
      if (tag !== undefined) tagByTemplate.set(node.quasi, tag);
    },
    TemplateLiteral(node) {
      const text = node.quasis
        .map(({ value }, at) => (value.cooked ?? value.raw) + valueOf(node.expressions[at]))
        .join("");
      const tag = tagByTemplate.get(node);
      strings.push({ text, start: node.start, ...(tag === undefined ? {} : { tag }) });
    },
  });
  return strings;
}

/** Returns the placeholder of an expression in a template. No expression follows the last part. */
function valueOf(expression: ESTree.Expression | undefined): string {
  if (expression === undefined) return "";
  const isLiteral =
    expression.type === "CallExpression" &&
    expression.callee.type === "MemberExpression" &&
    rootNameOf(expression.callee) === "sql" &&
    expression.callee.property.type === "Identifier" &&
    expression.callee.property.name === "lit";
  return isLiteral ? "0" : "$1";
}

/** Returns the identifier at the start of a chain, such as `test` in `test.each(rows).only`. */
export function rootNameOf(expression: ESTree.Expression | ESTree.Super): string | undefined {
  if (expression.type === "Identifier") return expression.name;
  if (expression.type === "MemberExpression") return rootNameOf(expression.object);
  if (expression.type === "CallExpression") return rootNameOf(expression.callee);
  return undefined;
}

/** Returns the name of a member, such as `env` in `process.env` and `process["env"]`. */
export function memberNameOf(member: ESTree.MemberExpression): string | undefined {
  const { property } = member;
  if (property.type === "Identifier" && !member.computed) return property.name;
  return property.type === "Literal" && typeof property.value === "string" ? property.value : undefined;
}
