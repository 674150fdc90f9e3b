// Tests which address in a rendered email belongs to which link of its template.
import { expect, test } from "vitest";
import { couldBe } from "./mark-clicks.ts";

test.each([
  ["https://a.example/", "https://a.example/", true],
  ["https://a.example/b", "https://a.example/", false],
  ["https://a.example/u/7?x=1", "https://a.example/u/{{id}}?x=1", true],
  ["https://a.example/u/7?x=2", "https://a.example/u/{{id}}?x=1", false],
  ["https://a.example/de/7", "https://a.example/{{lang}}/{{id}}", true],
  // Without a host of its own, it could be any link.
  ["https://shop.example/de/7", "{{{base}}}/{{lang}}/{{id}}", false],
  ["https://post.example/unsubscribe/x", "{{ctaUrl}}", false],
  ["https://post.example/unsubscribe/x", "https://{{host}}/{{path}}", false],
  ["https://a.example/1", "https://a.example/{{one}}-{{two}}", false],
  // The text between two variables may not be part of the end.
  ["https://a.example/x", "https://a.example/{{one}}x{{two}}x", false],
])("%s could be %s: %s", (address, url, is) => {
  expect(couldBe(address, url)).toBe(is);
});
