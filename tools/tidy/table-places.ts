// Checks that each table has a place in a database that is distributed over several nodes.
import { EVERYWHERE, ON_COORDINATOR, ROOT_TABLE } from "../../server/src/platform/database/table-places.ts";
import { tablesOf, type Table } from "./sql.ts";
import type { Finding, Rule, Tree } from "./tree.ts";

const LIST = "server/src/platform/database/table-places.ts";
/** Created by the code that applies the migrations. */
const WITHOUT_MIGRATION: ReadonlySet<string> = new Set(["schema_migrations"]);

export const tablePlaces = tablePlacesBut([...EVERYWHERE, ...ON_COORDINATOR]);

/** Returns the rule with other tables that are not distributed. */
export function tablePlacesBut(placed: readonly string[]): Rule {
  return {
    name: "every table is distributed by project or has a declared place",
    check: (tree) => {
      const tables = tablesOf(tree);
      const names = new Set(tables.map(({ name }) => name));
      // Small test trees do not check the list.
      const isWhole = names.has(ROOT_TABLE.name);
      const unknown = placed.filter((name) => !names.has(name) && !WITHOUT_MIGRATION.has(name));
      return [
        ...tables
          .filter(({ name }) => name !== ROOT_TABLE.name && !placed.includes(name))
          .filter((table) => !hasProject(tree, table))
          .map(({ name, path, line }): Finding => ({
            path,
            line,
            message: `creates ${name} without a project_id. Add the column, or declare its place in ${LIST}.`,
          })),
        ...(isWhole ? unknown : []).map((name): Finding => ({
          path: LIST,
          message: `has a place for ${name}, which no migration creates. Remove it.`,
        })),
      ];
    },
  };
}

/** Returns whether a table has the column by which tables are distributed. */
export function hasProject(tree: Tree, { path, line }: Table): boolean {
  const text = (tree.texts.get(path) ?? "")
    .split("\n")
    .slice(line - 1)
    .join("\n");
  // A partition has the columns of its table.
  return /\bproject_id\b|\bpartition of\b/.test(text.slice(0, text.indexOf(";")));
}
