// Tests that a typed reply arrives as it was typed.
import { expect, test } from "vitest";
import { htmlOfText } from "./html-of-text.ts";

test("makes a paragraph of each block, and keeps line breaks", () => {
  expect(htmlOfText("\nHello Ada,\r\nthank you.\n\n\nBest\n")).toBe(
    "<p>Hello Ada,<br>thank you.</p>\n<p>Best</p>",
  );
});

test("keeps markup and braces as text", () => {
  expect(htmlOfText("a < b & {{name}}")).toBe("<p>a &lt; b &amp; &#123;&#123;name&#125;&#125;</p>");
});
