// Prints how many distinct statements of the last test run on a cluster ran, and which ones it refused.
import { readdir, readFile } from "node:fs/promises";
import path from "node:path";
import { RESULTS_FOLDER, type StatementResult } from "./statement-results.ts";

const LONGEST_SHOWN = 400;

const files = await readdir(RESULTS_FOLDER);
const texts = await Promise.all(files.map((file) => readFile(path.join(RESULTS_FOLDER, file), "utf8")));
const results = texts
  .flatMap((text) => text.split("\n"))
  .filter((line) => line !== "")
  .map((line) => JSON.parse(line) as StatementResult);
const all = new Set(results.map(({ text }) => text));
const refused = new Map(
  results.flatMap(({ text, reason }): [string, string][] => (reason === null ? [] : [[text, reason]])),
);
const lines = [...refused].map(([text, reason]) => `${reason}\n    ${text.slice(0, LONGEST_SHOWN)}`);
process.stdout.write(
  `\n${lines.toSorted().join("\n\n")}\n\n${all.size} different statements, ${refused.size} refused.\n`,
);
