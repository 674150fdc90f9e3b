// Compares the table of dependencies in decision 0006 with the package.json files.
import type { Finding, Rule } from "./tree.ts";

export const DEPENDENCY_TABLE = "docs/decisions/0006-dependencies.md";
const OUR_SCOPE = "@postloft/";

interface Manifest {
  dependencies?: object;
  devDependencies?: object;
  optionalDependencies?: object;
}

export const dependencies: Rule = {
  name: "decision 0006 lists every dependency and no others",
  check: ({ texts }) => {
    const listed = listedNames(texts.get(DEPENDENCY_TABLE) ?? "");
    const used = [...texts].filter(([path]) => /(^|\/)package\.json$/.test(path)).flatMap(namesIn);
    const isListed = (name: string) => listed.some(({ pattern }) => matches(pattern, name));
    return [
      ...used
        .filter(({ name }) => !isListed(name))
        .map(({ path, name }) => ({
          path,
          message: `depends on ${name}, which ${DEPENDENCY_TABLE} does not list. Add a row that explains why it is needed.`,
        })),
      ...listed
        .filter(({ pattern }) => !used.some(({ name }) => matches(pattern, name)))
        .map(({ pattern, line }) => ({
          path: DEPENDENCY_TABLE,
          line,
          message: `lists ${pattern}, which no package.json has. Delete it.`,
        })),
    ] satisfies Finding[];
  },
};

function namesIn([path, text]: [string, string]): Array<{ path: string; name: string }> {
  const manifest = JSON.parse(text) as Manifest;
  const all = { ...manifest.dependencies, ...manifest.devDependencies, ...manifest.optionalDependencies };
  return Object.keys(all)
    .filter((name) => !name.startsWith(OUR_SCOPE))
    .map((name) => ({ path, name }));
}

/** Returns the names in the first column. `@scope/*` matches every package of the scope. */
function listedNames(table: string): Array<{ pattern: string; line: number }> {
  return table.split("\n").flatMap((row, at) => {
    const [, names = ""] = /^\| (?!package \|)(?:\w+: )?([^|]+) \|/.exec(row) ?? [];
    return names
      .split(/,\s*/)
      .filter((pattern) => pattern !== "")
      .map((pattern) => ({ pattern, line: at + 1 }));
  });
}

function matches(pattern: string, name: string): boolean {
  return pattern.endsWith("*") ? name.startsWith(pattern.slice(0, -1)) : pattern === name;
}
