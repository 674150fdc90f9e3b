// Tests that the pages generated from the contract and the settings are current and complete.
import { mkdir, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { ENDPOINTS } from "@postloft/contract/endpoints.ts";
import { errorSchema, ERRORS, FIELD_CODES } from "@postloft/contract/errors.ts";
import { LIMITS } from "@postloft/contract/limits/limits.ts";
import { expect, test } from "vitest";
import { readConfig, SETTINGS } from "../../server/src/platform/settings/config.ts";
import { ERROR_EXAMPLE } from "./errors-page.ts";
import { COMMAND, generatedPages, ROOT, staleFiles } from "./generated-files.ts";
import { anchor } from "./markdown.ts";

const files = await generatedPages();

function checkedIn(file: string): Promise<string> {
  return readFile(path.join(ROOT, file), "utf8");
}

function headings(text: string, level: number): string[] {
  return [...text.matchAll(new RegExp(`^#{${level}} (.+)$`, "gm"))].map(([, heading]) => heading ?? "");
}

test(`every generated page is current; if not, run \`${COMMAND}\``, async () => {
  expect(await staleFiles(files, ROOT)).toEqual([]);
});

test("staleFiles names files that were edited or are missing", async () => {
  const folder = await mkdtemp(path.join(tmpdir(), "postloft-generated-"));
  try {
    for (const [file, text] of files) {
      await mkdir(path.dirname(path.join(folder, file)), { recursive: true });
      await writeFile(path.join(folder, file), text);
    }
    expect(await staleFiles(files, folder)).toEqual([]);
    await writeFile(path.join(folder, "docs/errors.md"), `${files.get("docs/errors.md")} `);
    await rm(path.join(folder, "contract/openapi.json"));
    expect(await staleFiles(files, folder)).toEqual(["contract/openapi.json", "docs/errors.md"]);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
});

test("docs/api.md has one section for every endpoint", async () => {
  const sections = headings(await checkedIn("docs/api.md"), 3).filter((heading) => heading.includes("/"));
  expect(sections).toEqual(ENDPOINTS.map(({ method, path: route }) => `${method} ${route}`));
});

test("docs/api.md names every limit, and only error codes of the catalog", async () => {
  const page = await checkedIn("docs/api.md");
  const codes = [...page.matchAll(/\[`([A-Z_]+)`\]\(errors\.md#/g)].map(([, code]) => code ?? "");
  expect(codes.filter((code) => !(code in ERRORS))).toEqual([]);
  expect(ENDPOINTS.flatMap(({ errors }) => errors).filter((code) => !codes.includes(code))).toEqual([]);
  const missing = Object.entries(LIMITS).filter(([, { meaning }]) => !page.includes(`| ${meaning} |`));
  expect(missing.map(([name]) => name)).toEqual([]);
});

test("docs/errors.md has every code under its status with its solution, and no other code", async () => {
  const page = await checkedIn("docs/errors.md");
  expect(headings(page, 3).toSorted()).toEqual(Object.keys(ERRORS).toSorted());
  const plain = page.replaceAll(/\s+/g, " ");
  for (const [code, { status, message, suggestion }] of Object.entries(ERRORS)) {
    expect(plain).toContain(`### ${code} ${message} → ${suggestion}`);
    const before = page.slice(0, page.indexOf(`### ${code}\n`));
    expect(headings(before, 2).at(-1)).toMatch(new RegExp(`^${status} `));
  }
  const fieldCodes = [...page.matchAll(/^\| `([a-z_]+)`/gm)].map(([, code]) => code);
  expect(fieldCodes).toEqual(Object.keys(FIELD_CODES));
});

test("the example in docs/errors.md is a valid error response", () => {
  expect(errorSchema.strict().parse(ERROR_EXAMPLE)).toEqual(ERROR_EXAMPLE);
});

test("every link in the pages leads to exactly one heading", async () => {
  const names = ["docs/api.md", "docs/errors.md", "docs/settings.md"];
  const pages = await Promise.all(
    names.map(async (name) => ({ name: path.basename(name), text: await checkedIn(name) })),
  );
  const anchors = new Map(
    pages.map(({ name, text }) => [name, [1, 2, 3].flatMap((level) => headings(text, level)).map(anchor)]),
  );
  for (const [name, found] of anchors)
    expect({ name, count: new Set(found).size }).toEqual({ name, count: found.length });
  for (const { name, text } of pages) {
    const links = [...text.matchAll(/\]\(([^)#]*)#([^)]+)\)/g)];
    const dead = links.filter(
      ([, page, target]) => anchors.get(page === "" ? name : (page ?? ""))?.includes(target ?? "") !== true,
    );
    expect({ name, dead: dead.map(([link]) => link) }).toEqual({ name, dead: [] });
  }
});

test("docs/settings.md and .env.example list every setting and no other", async () => {
  const rows = [...(await checkedIn("docs/settings.md")).matchAll(/^\| `([A-Z\d_]+)`/gm)].map(
    ([, name]) => name,
  );
  expect(rows).toEqual(Object.keys(SETTINGS));
  const lines = (await checkedIn(".env.example")).split("\n");
  expect(lines.filter((line) => line !== "" && !line.startsWith("#"))).toEqual([]);
  expect(lines.flatMap((line) => /^#([A-Z\d_]+)=/.exec(line)?.[1] ?? [])).toEqual(Object.keys(SETTINGS));
});

test(".env.example shows the defaults, so uncommenting every line changes nothing", async () => {
  const lines = (await checkedIn(".env.example")).split("\n");
  const values = lines.flatMap((line) => {
    const [, name, value] = /^#([A-Z\d_]+)=(.*)$/.exec(line) ?? [];
    return name === undefined ? [] : [[name, value]];
  });
  expect(readConfig(Object.fromEntries(values))).toEqual(readConfig({}));
});

test("no table in the pages is empty, and no row spans several lines", async () => {
  for (const [file, text] of files) {
    if (!file.endsWith(".md")) continue;
    const blocks = text.split("\n\n").filter((block) => block.startsWith("|"));
    const short = blocks.filter((block) => block.split("\n").length < 3);
    const broken = text.split("\n").filter((line) => line.includes("|---") && !line.startsWith("|"));
    expect({ file, short, broken }).toEqual({ file, short: [], broken: [] });
  }
});
