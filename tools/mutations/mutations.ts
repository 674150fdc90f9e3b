// `npm run mutations`: makes each mistake of patches.json in a scratch checkout and runs the tests that must notice it.
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { applyPatch, folderOf, readPatches, type Patch } from "./patches.ts";
import { createScratch, type Scratch } from "./scratch.ts";

const USAGE = `npm run mutations                        all patches of tools/mutations/patches.json
npm run mutations -- --only <part>       only patches whose file, text or reason contains this

Each patch is a mistake in one line. The program makes it in a scratch checkout of the current commit and runs
the named test files. A test that fails has caught the mistake. Commit your changes first.
`;
const WIDTH_OF_ENDS = 11;

interface Result {
  patch: Patch;
  end: "caught" | "survived" | "equivalent";
}

/** The test files pass without a mistake. @throws Error with the output otherwise */
async function requireGreen(scratch: Scratch, patches: readonly Patch[]): Promise<void> {
  const files = [...new Set(patches.flatMap(({ tests }) => tests))];
  const { passed, output } = await scratch.runTests(files);
  if (!passed) throw new Error(`The tests fail without a mistake:\n${output.slice(-4_000)}`);
}

async function runPatch(scratch: Scratch, patch: Patch): Promise<Result> {
  if (patch.equivalent !== undefined) return { patch, end: "equivalent" };
  const path = join(scratch.path, patch.file);
  const text = readFileSync(path, "utf8");
  writeFileSync(path, applyPatch(text, patch));
  try {
    const { passed } = await scratch.runTests(patch.tests);
    return { patch, end: passed ? "survived" : "caught" };
  } finally {
    writeFileSync(path, text);
  }
}

/** Returns a table of results by folder in Markdown. */
function tableOf(results: readonly Result[]): string {
  const rows = [...Map.groupBy(results, ({ patch }) => folderOf(patch))].toSorted(([a], [b]) =>
    a < b ? -1 : 1,
  );
  const count = (of: readonly Result[], end: Result["end"]) => of.filter((one) => one.end === end).length;
  const lineOf = (name: string, of: readonly Result[]) =>
    `| ${name} | ${count(of, "caught")} | ${count(of, "survived")} | ${count(of, "equivalent")} |`;
  return [
    "| folder | caught | survived | equivalent |",
    "|---|--:|--:|--:|",
    ...rows.map(([folder, of]) => lineOf(folder, of)),
    lineOf("all", results),
  ].join("\n");
}

async function main(): Promise<void> {
  const { values } = parseArgs({ options: { only: { type: "string" }, help: { type: "boolean" } } });
  if (values.help === true) return void process.stdout.write(USAGE);
  const wanted = values.only ?? "";
  const patches = readPatches().filter(({ file, find, reason }) =>
    [file, find, reason].some((text) => text.includes(wanted)),
  );
  if (patches.length === 0) throw new Error(`No patch contains "${wanted}".`);
  const scratch = createScratch();
  try {
    await requireGreen(scratch, patches);
    const results: Result[] = [];
    for (const patch of patches) {
      const result = await runPatch(scratch, patch);
      results.push(result);
      process.stdout.write(`${result.end.padEnd(WIDTH_OF_ENDS)}${patch.file}: ${patch.find.trim()}\n`);
      if (result.end === "survived") process.stdout.write(`${" ".repeat(WIDTH_OF_ENDS)}${patch.reason}\n`);
    }
    process.stdout.write(`\n${tableOf(results)}\n`);
    if (results.some(({ end }) => end === "survived")) process.exitCode = 1;
  } finally {
    scratch.remove();
  }
}

await main();
