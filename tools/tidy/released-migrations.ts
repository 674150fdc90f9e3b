// Checks that released migrations never change, because databases that applied them would keep the old tables.
import { createHash } from "node:crypto";
import type { Finding, Rule } from "./tree.ts";

/** The SHA-256 of each released migration. A release adds the lines of its new migrations (CONTRIBUTING.md). */
const RELEASED: Readonly<Record<string, string>> = {
  // 0.1.0
  "0001_initial.sql": "8f914853520be214da15b241440d1176eeb0dd880886ff84567203a5aa5b13f4",
};

const FOLDER = "server/migrations/";

export const releasedMigrations = releasedMigrationsBut(RELEASED);

/** Returns the rule with another list of released migrations. */
export function releasedMigrationsBut(released: typeof RELEASED): Rule {
  const last = Object.keys(released).toSorted().at(-1) ?? "";
  return {
    name: "a released migration is never edited, renamed or preceded by a new one",
    check: ({ texts }) => [
      ...Object.entries(released).flatMap(([name, hash]): Finding[] => {
        const path = `${FOLDER}${name}`;
        const text = texts.get(path);
        if (text === undefined)
          return [
            { path, message: "was released and is missing. Restore it, because new databases need it." },
          ];
        if (createHash("sha256").update(text).digest("hex") === hash) return [];
        return [{ path, message: "was released and has changed. Restore it and add a new migration." }];
      }),
      ...[...texts.keys()]
        .filter((path) => path.startsWith(FOLDER) && path.endsWith(".sql"))
        .map((path) => path.slice(FOLDER.length))
        .filter((name) => released[name] === undefined && name.slice(0, 4) <= last.slice(0, 4))
        .map((name): Finding => ({
          path: `${FOLDER}${name}`,
          message: `has a number that was released. Number it after ${last}.`,
        })),
    ],
  };
}
