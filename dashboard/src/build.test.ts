// Tests the size and contents of the built dashboard.
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { gzipSync } from "node:zlib";
import { beforeAll, expect, test } from "vitest";
// @ts-expect-error plain JavaScript, which has no declaration
import { buildDashboard } from "../../tools/bootstrap/build-dashboard.js";

const DIST = join(import.meta.dirname, "../dist");
const FIRST_LOAD_KB = 200;
const EDITORS_KB = 320;
const FONT_KB = 60;

interface Chunk {
  file: string;
  isEntry?: boolean;
  imports?: string[];
}

beforeAll(() => buildDashboard(process.execPath));

test("the first load is at most 200 kB of JavaScript, gzipped", () => {
  const chunks = JSON.parse(readFileSync(join(DIST, ".vite/manifest.json"), "utf8")) as Record<string, Chunk>;
  const first = new Set<string>();
  const pending = Object.keys(chunks).filter((name) => chunks[name]?.isEntry === true);
  for (let name = pending.pop(); name !== undefined; name = pending.pop()) {
    first.add(chunks[name]?.file ?? "");
    pending.push(...(chunks[name]?.imports ?? []).filter((one) => !first.has(chunks[one]?.file ?? "")));
  }
  expect(first.size).toBeGreaterThan(0);
  const sizes = [...first].map((file) => gzipSync(readFileSync(join(DIST, file))).length);
  expect(sizes.reduce((sum, size) => sum + size, 0) / 1000).toBeLessThanOrEqual(FIRST_LOAD_KB);
});

test("the font is one file of at most 60 kB, which all pages share", () => {
  const fonts = readdirSync(join(DIST, "assets")).filter((name) => /\.(woff2?|ttf|otf)$/.test(name));
  expect(fonts).toEqual([expect.stringMatching(/^inter-[\w.-]+\.woff2$/)]);
  const [font = ""] = fonts;
  expect(readFileSync(join(DIST, "assets", font)).length / 1000).toBeLessThanOrEqual(FONT_KB);
});

test("loads the two editors on demand, at most 320 kB each", () => {
  const editors = readdirSync(join(DIST, "assets")).filter((name) =>
    /^(html-editor|rich-text)-.*\.js$/.test(name),
  );
  expect(editors).toHaveLength(2);
  const sizes = editors.map((name) => gzipSync(readFileSync(join(DIST, "assets", name))).length);
  expect(sizes.reduce((sum, size) => sum + size, 0) / 1000).toBeLessThanOrEqual(EDITORS_KB);
});

test("the page has no inline script or style, because its content security policy forbids them", () => {
  const page = readFileSync(join(DIST, "index.html"), "utf8");
  expect(page.match(/<script(?![^>]*\bsrc=)|<style|\son\w+=/g)).toBeNull();
});

test("the build ships the license of every package in its code", () => {
  const licenses = readFileSync(join(DIST, "third-party-licenses.md"), "utf8");
  for (const name of [
    "react-dom",
    "@tanstack/react-query",
    "@codemirror/view",
    "@tiptap/core",
    "lucide-react",
  ])
    expect(licenses).toMatch(new RegExp(`^## ${name} - [\\d.]+ \\((MIT|ISC)\\)\n+.+License`, "m"));
  expect(licenses).toMatch(
    /^## @fontsource-variable\/inter - [\d.]+ \(OFL-1\.1\)\n+.+\n+.+SIL Open Font License/m,
  );
});
