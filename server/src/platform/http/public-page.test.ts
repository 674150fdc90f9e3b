// Tests that all pages share one look: the colors of the dashboard, its font and its icon.
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { pageHeaders, writePublicPage } from "./public-page.ts";

const ROOT = join(import.meta.dirname, "../../../..");
const read = (path: string) => readFileSync(join(ROOT, path), "utf8");

/** The names of a token in the dashboard, in public pages and in the pages of the installation. */
const NAMES = [
  ["page", "paper"],
  ["surface", "card"],
  ["line", "line"],
  ["ink", "ink"],
  ["soft", "soft"],
  ["accent", "link"],
] as const;

/** Returns the values of a CSS variable in the order of a file, the first one for light and the second one for dark. */
const valuesOf = (css: string, name: string) =>
  [...css.matchAll(new RegExp(`[{;\\s]--${name}: ?(#[0-9a-f]{3,6})`, "g"))].map(([, value]) => value);

const page = writePublicPage({ language: "en", direction: "ltr", title: "A & B", lines: ["<h1>A</h1>"] });

test("public pages and the pages of the installation have the colors of the dashboard", () => {
  const tokens = read("dashboard/src/ui/tokens.css");
  for (const [token, name] of NAMES) {
    const [, light, dark] =
      new RegExp(`--color-${token}: light-dark\\((#[0-9a-f]{6}), (#[0-9a-f]{6})\\)`).exec(tokens) ?? [];
    expect([token, light, dark]).toEqual([token, expect.any(String), expect.any(String)]);
    for (const css of [page, read("server/src/instance/assets/page.css")])
      expect([name, valuesOf(css, name)]).toEqual([name, [light, dark]]);
  }
});

test("a public page has a title, the icon and our font, which its policy allows and nothing else", () => {
  expect(page).toContain("<title>A &amp; B</title>");
  expect(page).toContain('<link rel="icon" type="image/svg+xml" href="/assets/favicon.svg">');
  expect(page).toContain('src: url("/assets/inter.woff2")');
  const policy = pageHeaders()["content-security-policy"];
  expect(policy).toMatch(/^default-src 'none'; style-src 'sha256-[^']+'; img-src 'self'; font-src 'self';/);
});
