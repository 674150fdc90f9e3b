// `npm run mutations`: makes each mistake of patches.json in a scratch checkout and runs the tests that must notice it.
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { applyPatch, folderOf, readPatches, type Patch } from "./patches.ts";
import { runPure } from "./pure.ts";
import { createScratch, type Scratch } from "./scratch.ts";

const USAGE = `npm run mutations                        all patches of tools/mutations/patches.json
npm run mutations -- --only <part>       only patches whose file, text or reason contains this
npm run mutations -- --from <number>     starts with the patch of this number, for example after an interruption
npm run mutations -- --pure              Stryker on the modules of tools/mutations/pure-modules.ts

Each patch is a mistake in one line. The program makes it in a scratch checkout of the current commit and runs
the named test files. A test that fails has caught the mistake. Commit your changes first.
`;
const WIDTH_OF_ENDS = 11;

interface Result {
  patch: Patch;
  end: "caught" | "survived" | "equivalent";
  /** The test that failed, or "" if there is none. */
  test: string;
}

/** The line of the test reporter about the first test that failed. */
const FAILED_TEST = /FAIL\s+(?:\|\w+\|\s+)?(.*)/;

/** The test files pass without a mistake. @throws Error with the output otherwise */
async function requireGreen(scratch: Scratch, patches: readonly Patch[]): Promise<void> {
  const files = [...new Set(patches.flatMap(({ tests }) => tests))];
  const { passed, output } = await scratch.runTests(files);
  if (!passed) throw new Error(`The tests fail without a mistake:\n${output.slice(-4_000)}`);
}

async function runPatch(scratch: Scratch, patch: Patch): Promise<Result> {
  if (patch.equivalent !== undefined) return { patch, end: "equivalent", test: "" };
  const path = join(scratch.path, patch.file);
  const text = readFileSync(path, "utf8");
  writeFileSync(path, applyPatch(text, patch));
  try {
    const { passed, output } = await scratch.runTests(patch.tests);
    if (passed) return { patch, end: "survived", test: "" };
    return { patch, end: "caught", test: FAILED_TEST.exec(output)?.[1] ?? "no test ended" };
  } finally {
    writeFileSync(path, text);
  }
}

/** Returns a table of results in Markdown, with a row for each name and the sum. */
function tableOf(title: string, results: readonly Result[], nameOf: (patch: Patch) => string): string {
  const rows = [...Map.groupBy(results, ({ patch }) => nameOf(patch))].toSorted(([a], [b]) =>
    a < b ? -1 : 1,
  );
  const count = (of: readonly Result[], end: Result["end"]) => of.filter((one) => one.end === end).length;
  const lineOf = (name: string, of: readonly Result[]) =>
    `| ${name} | ${of.length} | ${count(of, "caught")} | ${count(of, "survived")} | ${count(of, "equivalent")} |`;
  return [
    `| ${title} | patches | caught | survived | equivalent |`,
    "|---|--:|--:|--:|--:|",
    ...rows.map(([name, of]) => lineOf(name, of)),
    lineOf("all", results),
  ].join("\n");
}

async function main(): Promise<void> {
  const { values } = parseArgs({
    options: {
      only: { type: "string" },
      from: { type: "string" },
      pure: { type: "boolean" },
      help: { type: "boolean" },
    },
  });
  if (values.help === true) return void process.stdout.write(USAGE);
  if (values.pure === true) return void (process.exitCode = await runPure());
  const { only = "", from = "1" } = values;
  const all = readPatches();
  const patches = all.filter(
    ({ file, find, reason }, at) =>
      at + 1 >= Number(from) && [file, find, reason].some((text) => text.includes(only)),
  );
  if (patches.length === 0)
    throw new Error(`No patch contains "${only}" and has a number from ${from} to ${all.length}.`);
  const scratch = createScratch();
  try {
    await requireGreen(scratch, patches);
    const results: Result[] = [];
    for (const patch of patches) {
      const result = await runPatch(scratch, patch);
      results.push(result);
      const place = `${all.indexOf(patch) + 1} ${patch.file}: ${patch.find.trim()}`;
      process.stdout.write(`${result.end.padEnd(WIDTH_OF_ENDS)}${place}\n`);
      const note = result.end === "survived" ? patch.reason : result.test;
      if (note !== "") process.stdout.write(`${" ".repeat(WIDTH_OF_ENDS)}${note}\n`);
    }
    process.stdout.write(`\n${tableOf("folder", results, folderOf)}\n`);
    process.stdout.write(`\n${tableOf("group", results, ({ group }) => group)}\n`);
    if (results.some(({ end }) => end === "survived")) process.exitCode = 1;
  } finally {
    scratch.remove();
  }
}

await main();
