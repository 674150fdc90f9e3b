// Checks which files may contain SQL, and which folder may write to which table.
import { posix } from "node:path";
import { folderOf, READING_ORDER } from "./reading-order.ts";
import { lineAt, memberNameOf, stringsOf, visit, type SourceFile } from "./source.ts";
import { isTest, type Finding, type Rule, type Tree } from "./tree.ts";

export interface Table {
  name: string;
  owner: string | undefined;
  path: string;
  line: number;
}

/** SQL in code: a literal, or a query builder call converted to its statement. */
export interface SqlPiece {
  text: string;
  start: number;
}

/** Certainly SQL, in any case. */
const SURE_STATEMENTS = [
  /^select\s+(distinct\s+)?(\w+\.)?\*/i,
  /^insert\s+into\s+\S+\s*(\(|values\b|select\b|default\b)/i,
  /^update\s+(only\s+)?\S+(\s+(as\s+)?\w+)?\s+set\s+\S+\s*=/i,
  /^delete\s+from\s+\S+(\s+(as\s+)?\w+)?\s+(where|using|returning)\b/i,
  /^with\s+(recursive\s+)?\w+(\s*\([^)]*\))?\s+as\s+(not\s+)?(materialized\s+)?\(/i,
  /^merge\s+into\s+\S+(\s+(as\s+)?\w+)?\s+using\b/i,
  /^copy\s+\S+(\s*\([^)]*\))?\s+(from|to)\s+(stdin|stdout)\b/i,
  /^truncate\s+table\s/i,
];
/** SQL unless only the first letter is upper-case, as in a sentence ("Select one from the list"). */
const LIKELY_STATEMENTS = [
  /^select\s+(distinct\s+)?(\w+\(|\d+(\s|$)|\$|case\s|exists\b)/i,
  /^select\s+(distinct\s+)?[\w."$]+(\s+as\s+\w+)?(\s*,\s*[\w."$]+(\s+as\s+\w+)?)*\s+from\s+["\w$]/i,
  /^delete\s+from\s+\S+\s*;?\s*$/i,
  /^(create|alter|drop)\s+(or\s+replace\s+|unlogged\s+|temp(orary)?\s+|unique\s+)*(table|index|view|type|sequence|schema|function|trigger|database|extension)\s+\S/i,
];
const FIRST_WORD_OF_A_SENTENCE = /^[A-Z][a-z]/;

const TABLE_NAME = String.raw`(?:"?\w+"?\.)?"?(\w+)"?`;
const WRITES = [
  `insert\\s+into\\s+${TABLE_NAME}`,
  `update\\s+(?:only\\s+)?${TABLE_NAME}(?:\\s+(?:as\\s+)?\\w+)?\\s+set\\b`,
  `delete\\s+from\\s+(?:only\\s+)?${TABLE_NAME}`,
  `merge\\s+into\\s+(?:only\\s+)?${TABLE_NAME}`,
  `copy\\s+${TABLE_NAME}(?:\\s*\\([^)]*\\))?\\s+from\\b`,
  `truncate\\s+(?:table\\s+)?(?:only\\s+)?((?:${TABLE_NAME}\\s*,\\s*)*${TABLE_NAME})`,
].map((pattern) => new RegExp(`\\b${pattern}`, "gi"));

/** Query builder methods and their statements. */
const BUILDER_VERBS = new Map([
  ["selectFrom", "select"],
  ["insertInto", "insert into"],
  ["replaceInto", "insert into"],
  ["mergeInto", "merge into"],
  ["deleteFrom", "delete from"],
  ["updateTable", "update"],
]);

/** Tests, tools and benchmarks may access the database freely. */
export const sqlInItsPlace: Rule = {
  name: "SQL occurs only in queries.ts, *-queries.ts, platform/ and the migrations",
  check: ({ sources }) =>
    sources
      .filter(
        ({ path }) =>
          isHeldToSqlRules(path) &&
          folderOf(path) !== "platform" &&
          !/^(.+-)?queries\.ts$/.test(posix.basename(path)),
      )
      .flatMap((file) =>
        sqlPiecesOf(file).map(({ start }) => ({
          path: file.path,
          line: lineAt(file.text, start),
          message:
            "holds SQL. Make it a function of the folder's queries.ts (or a *-queries.ts) and call that.",
        })),
      ),
};

export const oneWriterPerTable: Rule = {
  name: "every table names its owner, and only the owner's folder writes to it",
  check: (tree) => {
    const tables = tablesOf(tree);
    const ownerByTable = new Map(tables.map(({ name, owner }) => [name, owner]));
    const files = tree.sources.filter(({ path }) => isHeldToSqlRules(path));
    return [
      ...tables.flatMap(faultsOfTable),
      ...files.flatMap((file) => foreignWritesOf(file, ownerByTable)),
    ];
  },
};

export function isHeldToSqlRules(path: string): boolean {
  return !isTest(path) && !path.startsWith("bench/") && !path.startsWith("tools/");
}

/** Returns the tables created by migrations, each with its owner folder. */
export function tablesOf(tree: Tree): Table[] {
  return [...tree.texts]
    .filter(([path]) => /^server\/migrations\/.+\.sql$/.test(path))
    .flatMap(([path, text]) => {
      const lines = text.split("\n");
      return lines.flatMap((content, index) => {
        const name = new RegExp(
          `^\\s*create\\s+(?:unlogged\\s+)?table\\s+(?:if\\s+not\\s+exists\\s+)?${TABLE_NAME}`,
          "i",
        ).exec(content)?.[1];
        const owner = /^-- owner: (\S+)\s*$/.exec(lines[index - 1] ?? "")?.[1];
        return name === undefined ? [] : [{ name: name.toLowerCase(), owner, path, line: index + 1 }];
      });
    });
}

function faultsOfTable({ name, owner, path, line }: Table): Finding[] {
  if (owner === undefined) {
    return [
      {
        path,
        line,
        message: `creates ${name} without an owner. Write "-- owner: <folder below server/src>" on the line above.`,
      },
    ];
  }
  if (READING_ORDER.some((folder) => folder === owner)) return [];
  return [
    {
      path,
      line,
      message: `gives ${name} to "${owner}", which is not a folder below server/src. Name the folder whose queries write to it.`,
    },
  ];
}

function foreignWritesOf(file: SourceFile, ownerByTable: ReadonlyMap<string, string | undefined>): Finding[] {
  return sqlPiecesOf(file).flatMap(({ text, start }) =>
    tablesWrittenBy(text).flatMap((table) => {
      const owner = ownerByTable.get(table);
      if (owner === undefined || owner === folderOf(file.path)) return [];
      return [
        {
          path: file.path,
          line: lineAt(file.text, start),
          message: `writes to ${table}, which belongs to "${owner}". Call a function of server/src/${owner}, or add one there.`,
        },
      ];
    }),
  );
}

/** Returns the tables that a SQL text inserts into, updates, deletes from or truncates. */
function tablesWrittenBy(sql: string): string[] {
  const names = WRITES.flatMap((write) => [...sql.matchAll(write)].map((match) => match[1] ?? ""));
  return names.flatMap((list) =>
    list.split(",").map((name) => name.trim().replace(/^.*\./, "").replaceAll('"', "").toLowerCase()),
  );
}

export function sqlPiecesOf(file: SourceFile): SqlPiece[] {
  const pieces: SqlPiece[] = stringsOf(file).filter(({ text, tag }) => tag === "sql" || looksLikeSql(text));
  visit(file, {
    CallExpression(node) {
      if (node.callee.type !== "MemberExpression") return;
      const statement = BUILDER_VERBS.get(memberNameOf(node.callee) ?? "");
      const table = node.arguments[0];
      if (statement === undefined || table?.type !== "Literal" || typeof table.value !== "string") return;
      pieces.push({ text: `${statement} ${table.value} set`, start: table.start });
    },
  });
  return pieces;
}

/** Returns whether a text is SQL rather than a sentence that starts with the same word. */
function looksLikeSql(text: string): boolean {
  const statement = text.replace(/^(\s+|--[^\n]*\n|\/\*[^*]*\*\/)+/, "");
  if (SURE_STATEMENTS.some((pattern) => pattern.test(statement))) return true;
  return (
    !FIRST_WORD_OF_A_SENTENCE.test(statement) && LIKELY_STATEMENTS.some((pattern) => pattern.test(statement))
  );
}
