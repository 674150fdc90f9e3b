// Finds the places of a pattern in the code of the server, so that a table of tests can prove that it covers all of them.
import { globSync, readFileSync } from "node:fs";
import { join } from "node:path";

const SERVER = join(import.meta.dirname, "..");
const DEFINITION = /^(?:export )?(?:async )?(?:function|const) (\w+)/;
const COMMENT = /^\s*(?:\/\/|\/?\*)/;

/** Returns the file and the top-level name of each match outside comments, such as `events/count-queries.ts lockPosition`. */
export function placesOf(pattern: RegExp): string[] {
  const files = globSync("**/*.ts", { cwd: SERVER }).map((path) => path.replaceAll("\\", "/"));
  return files
    .filter((path) => !path.endsWith(".test.ts") && !path.startsWith("testing/"))
    .flatMap((path) => {
      let name = "";
      const lines = readFileSync(join(SERVER, path), "utf8").split("\n");
      return lines.flatMap((line) => {
        name = DEFINITION.exec(line)?.[1] ?? name;
        const matches = COMMENT.test(line) ? [] : [...line.matchAll(pattern)];
        return matches.map(() => `${path} ${name}`);
      });
    });
}
