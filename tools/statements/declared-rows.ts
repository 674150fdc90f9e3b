// Reads the declared row types of statements from the source with the TypeScript compiler, by the place of the call.
import path from "node:path";
import type { Node } from "typescript/unstable/ast";
import { isCallExpression, isPropertyAccessExpression } from "typescript/unstable/ast/is";
import { API, SymbolFlags, TypeFlags, type Checker, type Type } from "typescript/unstable/sync";

const ROOT = path.join(import.meta.dirname, "../..");
const RUNS = new Set(["execute", "executeTakeFirst", "executeTakeFirstOrThrow"]);

/** The JavaScript type of a value; `any` is not checked. */
export type Kind = "string" | "number" | "boolean" | "date" | "buffer" | "object" | "any" | `${string}[]`;

export interface DeclaredField {
  kinds: Kind[];
  mayBeNull: boolean;
  mayBeMissing: boolean;
}

export interface DeclaredRow {
  /** The place of `execute`, such as `server/src/x/queries.ts:12:5`. */
  at: string;
  /** Null if the result is not used. */
  fields: Record<string, DeclaredField> | null;
  /** The declaration for all other fields. */
  others: DeclaredField | null;
}

const ANYTHING: DeclaredField = { kinds: ["any"], mayBeNull: true, mayBeMissing: true };

function kindOf(checker: Checker, type: Type): Kind {
  if (type.flags & (TypeFlags.Any | TypeFlags.Unknown)) return "any";
  if (type.flags & TypeFlags.StringLike) return "string";
  if (type.flags & TypeFlags.NumberLike) return "number";
  if (type.flags & TypeFlags.BooleanLike) return "boolean";
  if (checker.isArrayType(type) || checker.isTupleType(type)) {
    const [item] = checker.getTypeArguments(type as Parameters<Checker["getTypeArguments"]>[0]);
    return `${item === undefined ? "any" : [...new Set(fieldOf(checker, item).kinds)].join("|")}[]`;
  }
  const name = type.getSymbol()?.name;
  if (name === "Date") return "date";
  return name === "Buffer" || name === "Uint8Array" ? "buffer" : "object";
}

function membersOf(type: Type): readonly Type[] {
  return type.flags & TypeFlags.Union
    ? (type as unknown as { getTypes(): readonly Type[] }).getTypes()
    : [type];
}

function fieldOf(checker: Checker, type: Type): DeclaredField {
  const members = membersOf(type);
  if (members.some(({ flags }) => flags & (TypeFlags.Any | TypeFlags.Unknown))) return ANYTHING;
  const values = members.filter(({ flags }) => !(flags & (TypeFlags.Null | TypeFlags.Undefined)));
  return {
    kinds: [...new Set(values.map((value) => kindOf(checker, value)))],
    mayBeNull: members.some(({ flags }) => flags & TypeFlags.Null),
    mayBeMissing: members.some(({ flags }) => flags & TypeFlags.Undefined),
  };
}

/** Returns the row type of `Promise<QueryResult<Row>>`, `Promise<Row[]>` or `Promise<Row | undefined>`. */
function rowOf(checker: Checker, returned: Type): Type | null {
  const argument = (type: Type) =>
    checker.getTypeArguments(type as Parameters<Checker["getTypeArguments"]>[0])[0];
  if (returned.getSymbol()?.name !== "Promise") return null;
  const said = argument(returned);
  const result = said && membersOf(said).find(({ flags }) => !(flags & TypeFlags.Undefined));
  if (result === undefined) return null;
  const name = result.getSymbol()?.name ?? "";
  if (name === "QueryResult" || checker.isArrayType(result)) return argument(result) ?? null;
  return result;
}

const RESULTS = new Set(["InsertResult", "UpdateResult", "DeleteResult"]);

function declaredRow(checker: Checker, at: string, row: Type): DeclaredRow {
  // A type parameter is the result of a transaction's callback.
  if (
    row.flags & (TypeFlags.Any | TypeFlags.Unknown | TypeFlags.TypeParameter) ||
    RESULTS.has(row.getSymbol()?.name ?? "")
  )
    return { at, fields: null, others: null };
  const fields = checker.getPropertiesOfType(row).map((property) => {
    const type = checker.getTypeOfSymbol(property);
    const field = type === undefined ? ANYTHING : fieldOf(checker, type);
    return [property.name, property.flags & SymbolFlags.Optional ? { ...field, mayBeMissing: true } : field];
  });
  const [index] = checker.getIndexInfosOfType(row);
  const others = index === undefined ? null : fieldOf(checker, index.valueType);
  return { at, fields: Object.fromEntries(fields), others };
}

/** Returns every call in server/src that runs a statement, except tests. Takes seconds, because the whole program is compiled. */
export function readDeclaredRows(): DeclaredRow[] {
  const api = new API({ cwd: ROOT });
  try {
    const snapshot = api.updateSnapshot({ openProjects: [path.join(ROOT, "tsconfig.json")] });
    const [project] = snapshot.getProjects();
    if (project === undefined) throw new Error("The compiler found no project.");
    const { program, checker } = project;
    const names = program
      .getSourceFileNames()
      .map((name) => ({ name, file: path.relative(ROOT, name).replaceAll(path.sep, "/") }))
      .filter(({ file }) => file.startsWith("server/src/") && !/\.test\.ts$|\/testing\//.test(file));
    return names.flatMap(({ name, file }) => {
      const source = program.getSourceFile(name);
      return source === undefined || !source.text.includes("execute") ? [] : rowsOf(source, file, checker);
    });
  } finally {
    api.close();
  }
}

function rowsOf(source: Node & { text: string }, file: string, checker: Checker): DeclaredRow[] {
  const rows: DeclaredRow[] = [];
  const walk = (node: Node): void => {
    if (isCallExpression(node) && isPropertyAccessExpression(node.expression)) {
      const { name } = node.expression;
      if (RUNS.has(name.text)) {
        const returned = checker.getTypeAtLocation(node);
        const row = returned === undefined ? null : rowOf(checker, returned);
        const start = source.text.indexOf(name.text, name.pos);
        const before = source.text.slice(0, start).split("\n");
        const at = `${file}:${before.length}:${(before.at(-1)?.length ?? 0) + 1}`;
        if (row !== null) rows.push(declaredRow(checker, at, row));
      }
    }
    node.forEachChild(walk);
  };
  walk(source);
  return rows;
}
