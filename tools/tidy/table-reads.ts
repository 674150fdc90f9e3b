// Checks which folder reads which table, because a statement is a dependency like an import and follows the reading order.
import { folderOf, rankOf, READING_ORDER } from "./reading-order.ts";
import { lineAt, memberNameOf, rootNameOf, visit, type SourceFile } from "./source.ts";
import { isHeldToSqlRules, sqlPiecesOf, tablesOf } from "./sql.ts";
import type { Finding, Rule, Tree } from "./tree.ts";

export interface TableRead {
  path: string;
  line: number;
  /** The file's folder. */
  reader: string;
  table: string;
  owner: string;
}

/** Reports may read all tables. */
const READS_ALL = "reports";

/**
 * Accepted reads of a later folder's table, by folder, with a reason. Remove a pair with its last read and never add one; the rule's
 * message suggests alternatives.
 */
export const OPEN_READS: ReadonlyArray<{ reader: string; owner: string; why: string }> = [];

/** Query builder methods that name a table to read. */
const BUILDER_READS = new Set([
  "selectFrom",
  "innerJoin",
  "leftJoin",
  "rightJoin",
  "fullJoin",
  "crossJoin",
  "using",
  "from",
]);

/**
 * Matches names after `from`, `join` and `using`, including lists. A name before a dot is an alias, and one before a bracket a function.
 */
const NAME = String.raw`"?(\w+)"?(?![\w".]|\s*\()`;
const SOURCES = new RegExp(
  String.raw`\b(?:from|join|using)\s+(?:only\s+|lateral\s+)?${NAME}((?:(?:\s+(?:as\s+)?\w+)?\s*,\s*(?:only\s+|lateral\s+)?"?\w+"?(?![\w".]|\s*\())*)`,
  "gi",
);
const WITH_NAMES = /"?(\w+)"?\s*(?:\([^()]*\))?\s+as\s+(?:not\s+)?(?:materialized\s+)?\(/gi;

export const readsInOrder = readsInOrderBut(OPEN_READS);

/** Returns the rule with a list of exceptions, which may only shrink. A pair without a read must be removed. */
export function readsInOrderBut(open: typeof OPEN_READS): Rule {
  return {
    name: `statements read only tables of their own folder and earlier ones; ${READS_ALL}/ may read all`,
    check: (tree) => {
      const reads = tableReadsOf(tree).filter(
        ({ reader, owner }) => reader !== READS_ALL && rankOf(owner) > rankOf(reader),
      );
      const late = reads.filter((read) => !open.some((pair) => isOf(pair, read)));
      // Small test trees without these tables do not check the list.
      const isWhole = open.every(({ owner }) => tablesOf(tree).some((table) => table.owner === owner));
      const over = isWhole ? open.filter((pair) => !reads.some((read) => isOf(pair, read))) : [];
      return [...late.map(findingOf), ...over.map(endedPair)];
    },
  };
}

function isOf(pair: { reader: string; owner: string }, read: TableRead): boolean {
  return pair.reader === read.reader && pair.owner === read.owner;
}

function findingOf({ path, line, reader, table, owner }: TableRead): Finding {
  return {
    path,
    line,
    message: `reads ${table}, which belongs to "${owner}", a folder after "${reader}" in the reading order. Let ${owner}/ have the statement and hand its verb, or the fragment of SQL, in from api.ts, worker.ts or main.ts; or move the file to ${owner}/, or the folder in the order.`,
  };
}

function endedPair({ reader, owner }: { reader: string; owner: string }): Finding {
  return {
    path: "tools/tidy/table-reads.ts",
    message: `lists "${reader}" reading tables of "${owner}", which is no longer needed. Remove the pair from OPEN_READS.`,
  };
}

/** Returns every read of a migrated table by code below server/src. */
function tableReadsOf(tree: Tree): TableRead[] {
  const ownerByTable = new Map(
    tablesOf(tree).flatMap(({ name, owner }) =>
      owner !== undefined && READING_ORDER.some((folder) => folder === owner) ? [[name, owner] as const] : [],
    ),
  );
  return tree.sources
    .filter(({ path }) => isHeldToSqlRules(path))
    .flatMap((file) => readsOf(file, ownerByTable));
}

function readsOf(file: SourceFile, ownerByTable: ReadonlyMap<string, string>): TableRead[] {
  const reader = folderOf(file.path);
  if (reader === undefined) return [];
  return namedTablesOf(file).flatMap(({ table, start }) => {
    const owner = ownerByTable.get(table);
    if (owner === undefined || owner === reader) return [];
    return [{ path: file.path, line: lineAt(file.text, start), reader, table, owner }];
  });
}

/** Returns the tables read by statements, fragments and query builder calls. */
function namedTablesOf(file: SourceFile): { table: string; start: number }[] {
  const named = sqlPiecesOf(file).flatMap(({ text, start }) =>
    sourcesOf(text).map((table) => ({ table, start })),
  );
  visit(file, {
    CallExpression({ callee, arguments: args }) {
      if (callee.type !== "MemberExpression") return;
      const name = memberNameOf(callee) ?? "";
      const isRaw = rootNameOf(callee) === "sql" && (name === "raw" || name === "table");
      if (!isRaw && !BUILDER_READS.has(name)) return;
      const [first] = args;
      const names = first?.type === "ArrayExpression" ? first.elements : [first];
      for (const one of names) {
        if (one?.type !== "Literal" || typeof one.value !== "string") continue;
        const text = name === "raw" ? one.value : `from ${one.value}`;
        for (const table of sourcesOf(text)) named.push({ table, start: one.start });
      }
    },
  });
  // A statement in sql.raw("…") is found both ways, so remove duplicates.
  const byPlace = new Map(named.map((one) => [`${one.start} ${one.table}`, one]));
  return [...byPlace.values()].sort((a, b) => a.start - b.start);
}

function sourcesOf(sql: string): string[] {
  const own = new Set([...sql.matchAll(WITH_NAMES)].map(([, name = ""]) => name.toLowerCase()));
  return [...sql.matchAll(SOURCES)]
    .flatMap(([, first = "", rest = ""]) => [first, ...rest.split(",").slice(1).map(firstWordOf)])
    .map((name) => name.toLowerCase())
    .filter((name) => !own.has(name));
}

function firstWordOf(item: string): string {
  return /(?:only\s+|lateral\s+)?"?(\w+)/i.exec(item)?.[1] ?? "";
}
