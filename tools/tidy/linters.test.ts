// Tests that .oxlintrc.json rejects what the house rules leave to oxlint: each file below breaks one of its rules.
import { spawnSync } from "node:child_process";
import { copyFileSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { expect, onTestFinished, test } from "vitest";

const ROOT = path.join(import.meta.dirname, "../..");
const MAX_LINES = 300;
const MAX_FUNCTION_LINES = 70;

const linesOf = (count: number) => "// line\n".repeat(count);

/** Returns a function of exactly `count` lines, starting with `head` and ending with `tail`. */
const functionOf = (count: number, head: string, tail: string) =>
  `${head}\n${"  step();\n".repeat(count - 2)}${tail}\n`;

const LONG_FUNCTIONS = [
  ["export function a() {", "}"],
  ["export const a = async () => {", "};"],
  ["export const a = { b() {", "} };"],
  ["export class A { b = () => {", "} }"],
  ["export const a = f(() => {", "});"],
  ["export function a(step: () => void) { const b = () => {", "}; b(); }"],
].map(([head = "", tail = ""]) => [
  functionOf(MAX_FUNCTION_LINES + 1, head, tail),
  "eslint(max-lines-per-function)",
]);

const READS_OF_THE_ENVIRONMENT = [
  ["export const a = process.env.PORT;", "eslint(no-restricted-properties)"],
  ['export const a = process["env"];', "eslint(no-restricted-properties)"],
  ["export const a = globalThis.process.env;", "eslint(no-restricted-properties)"],
  ["export const { env } = process;", "eslint(no-restricted-properties)"],
  ['import { env } from "node:process"; export const a = env;', "eslint(no-restricted-imports)"],
];

const BROKEN: Record<string, string[]> = {
  "tools/long.ts": [`${linesOf(MAX_LINES)}export const a = 1;\n`, "eslint(max-lines)"],
  ...Object.fromEntries(LONG_FUNCTIONS.map((one, at) => [`tools/function-${at}.ts`, one])),
  ...Object.fromEntries(READS_OF_THE_ENVIRONMENT.map((one, at) => [`server/src/a/read-${at}.ts`, one])),
  "contract/src/a.ts": ["export const a = process.env;", "eslint(no-restricted-properties)"],
  "dashboard/src/a.ts": ["export const a = process.env;", "eslint(no-restricted-properties)"],
  "tools/type-a.ts": ['import type { B } from "./type-b.ts"; export type A = B[];', "import(no-cycle)"],
  "tools/type-b.ts": ['import type { A } from "./type-a.ts"; export type B = A[];', "import(no-cycle)"],
  "tools/export-a.ts": ['export { b } from "./export-b.ts";', "import(no-cycle)"],
  "tools/export-b.ts": ['import { b as a } from "./export-a.ts"; export const b = a;', "import(no-cycle)"],
  "tools/type.ts": ['export type A = import("zod").ZodType;', "typescript(consistent-type-imports)"],
  "tools/default.ts": ["const a = 1; export { a as default };", "import(no-default-export)"],
  "tools/star.ts": ['export * from "./sound.ts";', "oxc(no-barrel-file)"],
  "tools/stars.ts": ['export * as sound from "./sound.ts";', "oxc(no-barrel-file)"],
};

const SOUND: Record<string, string> = {
  "tools/sound.ts": `${functionOf(MAX_FUNCTION_LINES, "export function a() {", "}")}export const b = process.env;`,
  "tools/lines.ts": `${linesOf(MAX_LINES - 1)}export const a = 1;\n`,
  "server/src/platform/settings/config.ts": "export const a = process.env;",
  "server/src/a/a.test.ts": `${functionOf(MAX_LINES, "export function a() {", "}")}export const b = process.env;`,
  "server/src/platform/database/rows.ts": `${linesOf(MAX_LINES)}export const a = 1;\n`,
};

test("oxlint finds files and functions that are too long, cycles, barrels, and reads of the environment", () => {
  const folder = mkdtempSync(path.join(tmpdir(), "postloft-lint-"));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  copyFileSync(path.join(ROOT, ".oxlintrc.json"), path.join(folder, ".oxlintrc.json"));
  const texts = Object.entries(BROKEN).map(([name, [text = ""]]) => [name, text] as const);
  for (const [name, text] of [...texts, ...Object.entries(SOUND)]) {
    mkdirSync(path.dirname(path.join(folder, name)), { recursive: true });
    writeFileSync(path.join(folder, name), text);
  }
  const oxlint = path.join(ROOT, "node_modules/oxlint/bin/oxlint");
  const { stdout } = spawnSync(process.execPath, [oxlint, "--format=json"], {
    cwd: folder,
    encoding: "utf8",
  });
  const { diagnostics } = JSON.parse(stdout) as { diagnostics: Array<{ code: string; filename: string }> };
  const found = new Set(diagnostics.map(({ filename, code }) => `${filename} ${code}`));
  expect([...found].toSorted()).toEqual(
    Object.entries(BROKEN)
      .map(([name, [, code = ""]]) => `${name} ${code}`)
      .toSorted(),
  );
});
