// Finds statements that PostgreSQL would reject if tables were sharded by project. Avoiding them from the start costs nothing.
import { ROOT_TABLE } from "../../server/src/platform/database/table-places.ts";
import { OPEN_SHAPES } from "./open-shapes.ts";
import { lineAt, type SourceFile } from "./source.ts";
import { isHeldToSqlRules, sqlPiecesOf, tablesOf } from "./sql.ts";
import { hasProject } from "./table-places.ts";
import type { Finding, Rule, Tree } from "./tree.ts";

interface Shape {
  name: string;
  instead: string;
  isIn(sql: string): boolean;
}

/** `$1` matches every value, including a project id. */
const NAMES_ONE_PROJECT = /\b(?:project_id|p\.id|from projects where id)\s*=\s*\$1|\bid\s*=\s*\$1/i;

const AS_COLUMN =
  "Compute the value as a column of a subquery in FROM, behind OFFSET 0, or choose it in code.";

const SHAPES: readonly Shape[] = [
  {
    name: "merge",
    instead: "Insert with ON CONFLICT, or update and then insert missing rows.",
    isIn: (sql) => /\bmerge\s+into\b/i.test(sql),
  },
  {
    name: "ctid",
    instead: "Identify rows by key: DELETE … USING the chosen rows.",
    isIn: (sql) => /\bctid\b/i.test(sql),
  },
  {
    name: "clock in a condition",
    instead: "Compare with now(), or check the lease in a separate statement.",
    isIn: (sql) => /[<>=]\s*clock_timestamp\(\)/i.test(sql),
  },
  {
    name: "clock or query in DO UPDATE",
    instead:
      "Take the instant from EXCLUDED (its default is now()), and what must be looked up as a value of the row.",
    isIn: (sql) =>
      partsAfter(sql, /\bon\s+conflict\b[^;]*?\bdo\s+update\s+set\b/gi).some((part) =>
        /\b(?:now|clock_timestamp)\(\)|\bselect\b/i.test(part.replace(/\breturning\b[^]*$/i, "")),
      ),
  },
  {
    name: "clock or JSON in CASE or COALESCE of an update",
    instead: AS_COLUMN,
    isIn: (sql) =>
      settingsOf(sql).some((part) =>
        /\b(?:coalesce\((?:[^()]|\([^()]*\))*|case\b(?:(?!\bend\b)[^])*)\b(?:now\(\)|jsonb?_build_)/i.test(
          part,
        ),
      ),
  },
  {
    name: "interval of a column in an update",
    instead: AS_COLUMN,
    isIn: (sql) =>
      settingsOf(sql).some((part) => /\bnow\(\)\s*[-+]\s*make_interval\(\s*\w+\s*=>\s*[a-z(]/i.test(part)),
  },
  {
    name: "parameter in ON CONFLICT WHERE",
    instead: "Write the values of the partial index as literals.",
    isIn: (sql) => /\bon\s+conflict\s*\([^()]*\)\s*where\b(?:(?!\bdo\b)[^])*\$1/i.test(sql),
  },
  {
    name: "parameter in DO UPDATE of INSERT … SELECT",
    instead: "Take the value from EXCLUDED, or write it as a literal with sql.lit().",
    // The cluster may run the SELECT first. It then can't infer the types of parameters that only the SELECT uses.
    isIn: (sql) =>
      partsAfter(sql, /\binsert\s+into\s+\w+(?:\s+as\s+\w+)?\s*\([^()]*\)\s*select\b/gi).some((part) =>
        /\bdo\s+update\s+set\b(?:(?!\breturning\b)[^])*\$1/i.test(part),
      ),
  },
  {
    name: "recursive query over projects",
    instead:
      "Query each project, or use another statement on a cluster: GROUP BY reads the rows of each node there.",
    isIn: (sql) => /\bwith\s+recursive\b/i.test(sql) && !NAMES_ONE_PROJECT.test(sql),
  },
  {
    name: "project of a subquery from a column, under OR or in the select list",
    instead: "Write the project as a value, with projectOf().",
    // A statement that names no project and has no list of them is accepted, because each node runs it for its own projects.
    isIn: (sql) =>
      (NAMES_ONE_PROJECT.test(sql) || /\bunnest\s*\(/i.test(sql)) &&
      partsAfter(sql, /(?:\bor|\bselect|,)\s+(?:not\s+)?exists\s*\(/gi).some(
        (part) => /\.project_id\s*=\s*\w+\.project_id\b/i.test(part) && !/\bproject_id\s*=\s*\$1/i.test(part),
      ),
  },
  {
    name: "correlated query over a CTE",
    instead: "Join the CTE, or group it and LEFT JOIN the result.",
    isIn: (sql) => !NAMES_ONE_PROJECT.test(sql) && hasCorrelatedCte(sql),
  },
  {
    name: "EXISTS over or beside unnest",
    instead: "Join, or LEFT JOIN … IS NULL; for a list of values use = any or <> all.",
    isIn: (sql) =>
      /\bexists\s*\(\s*select\b(?:(?!\bfrom\b)[^()])*\bfrom\s+unnest\s*\(/i.test(sql) ||
      partsAfter(sql, /\bfrom\s+unnest\b/gi).some((part) =>
        /\bwhere\s+(?:not\s+)?exists\s*\(/i.test(flat(part)),
      ),
  },
  {
    name: "LATERAL with LIMIT over projects",
    instead: "Query each project, or use EXISTS.",
    isIn: (sql) =>
      !NAMES_ONE_PROJECT.test(sql) &&
      partsAfter(sql, /\blateral\s*(?=\()/gi).some((part) =>
        /^\((?:[^()]|\((?:[^()]|\([^()]*\))*\))*\blimit\b/i.test(part),
      ),
  },
  {
    name: "row locks over projects",
    instead: "First find the projects with work, then lock rows per project: project_id = one.",
    isIn: (sql) =>
      /\bfrom\b[^]*\bfor\s+(?:no\s+key\s+)?(?:update|share)\b/i.test(sql) && !NAMES_ONE_PROJECT.test(sql),
  },
];

/** Migrations up to this one are exempt. */
const LAST_WITHOUT_RULE = 1;

export const sharding = shardingBut(OPEN_SHAPES);

/** Returns the rule with a list of accepted statements. */
export function shardingBut(open: typeof OPEN_SHAPES): Rule {
  return {
    name: "no statement would be rejected if tables were sharded by project",
    check: (tree) => {
      const apart = unshardedTables(tree);
      const found = tree.sources
        .filter(({ path }) => isHeldToSqlRules(path))
        .flatMap((file) =>
          shapesOf(file, apart).map((one) => ({ ...one, key: `${nameOf(file.path)} ${one.name}` })),
        );
      // Small test trees do not check the list.
      const files = new Set([...tree.texts.keys()].map(nameOf));
      const isWhole = Object.keys(open).every((key) => files.has(key.split(" ")[0] ?? ""));
      const over = (isWhole ? Object.keys(open) : [])
        .filter((key) => !found.some((one) => one.key === key))
        .map((key): Finding => ({
          path: "tools/tidy/open-shapes.ts",
          message: `lists "${key}", which is no longer needed. Remove it from OPEN_SHAPES.`,
        }));
      return [
        ...found.filter(({ key }) => open[key] === undefined).map(({ finding }) => finding),
        ...over,
        ...setNullsOf(tree),
      ];
    },
  };
}

/** Returns a file's name, preceded by its folder for names that every folder has. */
function nameOf(path: string): string {
  return path
    .split("/")
    .slice(path.endsWith("/queries.ts") ? -2 : -1)
    .join("/");
}

/** Returns for each table whether it belongs to no project, because such tables are not sharded. */
function unshardedTables(tree: Tree): Map<string, boolean> {
  return new Map(
    tablesOf(tree).map((table) => [table.name, table.name !== ROOT_TABLE.name && !hasProject(tree, table)]),
  );
}

function shapesOf(
  file: SourceFile,
  apart: ReadonlyMap<string, boolean>,
): { name: string; finding: Finding }[] {
  return sqlPiecesOf(file).flatMap(({ text, start }) => {
    const sql = text.replaceAll(/--[^\n]*/g, "");
    const tables = [...sql.matchAll(/\b(?:from|join|into|update|using)\s+(\w+)/gi)].map(([, name = ""]) =>
      apart.get(name),
    );
    const known = tables.filter((isApart) => isApart !== undefined);
    if (known.length > 0 && known.every(Boolean)) return [];
    return SHAPES.filter((shape) => shape.isIn(sql)).map(({ name, instead }) => ({
      name,
      finding: {
        path: file.path,
        line: lineAt(file.text, start),
        message: `has a statement that a sharded database rejects: ${name}. ${instead}`,
      },
    }));
  });
}

function setNullsOf({ texts }: Tree): Finding[] {
  return [...texts].flatMap(([path, text]) => {
    const [, number = "0"] = /^server\/migrations\/(\d+)_[^/]+\.sql$/.exec(path) ?? [];
    if (Number(number) <= LAST_WITHOUT_RULE) return [];
    return text.split("\n").flatMap((content, index) =>
      /^(?!\s*--).*\bon\s+delete\s+set\s+null\b/i.test(content)
        ? [
            {
              path,
              line: index + 1,
              message:
                "empties a key that holds the project, which a sharded database rejects: ON DELETE SET NULL. Omit the action and clear the column in the function that deletes.",
            },
          ]
        : [],
    );
  });
}

/** Returns the SET clauses of updates without the text of their subqueries. */
function settingsOf(sql: string): string[] {
  return partsAfter(sql, /\bupdate\s+(?:only\s+)?\w+(?:\s+(?:as\s+)?\w+)?\s+set\b/gi).map((whole) => {
    const part = partsAfter(whole, /\(\s*(?=select\b)/gi).reduce(
      (rest, query) => rest.replace(query, ""),
      whole,
    );
    let depth = 0;
    for (const { 0: token, index } of part.matchAll(/[()]|(?<!\bdistinct\s)\b(?:from|where|returning)\b/gi)) {
      if (token === "(") depth += 1;
      else if (token === ")") depth -= 1;
      else if (depth === 0) return part.slice(0, index);
    }
    return part;
  });
}

/** Returns whether a subquery reads a CTE and also refers to a table outside itself. */
function hasCorrelatedCte(sql: string): boolean {
  const ctes = new Set(
    [
      ...sql.matchAll(
        /\b(\w+)(?:\s*\([^()]*\))?\s+as\s+(?:not\s+)?(?:materialized\s+)?\(\s*(?=select|with|insert|update|delete|\$1)/gi,
      ),
    ].map(([, name = ""]) => name),
  );
  return partsAfter(sql, /\(\s*(?=select\b)/gi).some((part) => {
    const text = flat(part);
    const sources = [
      ...text.matchAll(
        /(?:\bfrom|\bjoin|,)\s+(\w+)(?:\s+(?:as\s+)?(\w+))?|\)\s*(?:as\s+)?(?!from\b|join\b)(\w+)/gi,
      ),
    ];
    const known = new Set(sources.flatMap((source) => source.slice(1)));
    const readsCte = sources.some(([, name]) => name !== undefined && ctes.has(name));
    return readsCte && [...text.matchAll(/\b(\w+)\.\w/g)].some(([, name]) => !known.has(name ?? ""));
  });
}

/** Returns the text after each match up to the enclosing closing bracket. */
function partsAfter(sql: string, beginning: RegExp): string[] {
  return [...sql.matchAll(beginning)].map((match) => {
    const rest = sql.slice(match.index + match[0].length);
    let depth = 0;
    for (const [at, letter] of [...rest].entries()) {
      if (letter === "(") depth += 1;
      if (letter === ")") depth -= 1;
      if (depth < 0) return rest.slice(0, at);
    }
    return rest;
  });
}

/** Empties all brackets, as in `where exists ()`. */
function flat(sql: string): string {
  let text = sql;
  for (let inner = ""; inner !== text;) {
    inner = text;
    text = text.replaceAll(/\([^()]+\)/g, "()");
  }
  return text;
}
