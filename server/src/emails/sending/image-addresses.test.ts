// Tests which addresses of a project's images move to its link domain.
import { expect, test } from "vitest";
import { moveImages } from "./image-addresses.ts";

const projectId = "0199e0a1-7b2c-7d3e-8f40-5a6b7c8d9e0f";
const key = (hex: string) => `/images/${hex}${"0".repeat(32)}.png`;
const own = key(projectId.replaceAll("-", ""));
const from = "https://post.example:8443";
const to = "https://go.shop.example:8443";
const move = (html: string) => moveImages(html, projectId, { from, to });

test("moves images of attributes and styles", () => {
  for (const before of [
    '<img src="',
    "<img SRC = '",
    "<img src=",
    '<td background="',
    "url(",
    "url('",
    'style="a:url(&quot;',
  ])
    expect(move(`${before}${from}${own}`)).toBe(`${before}${to}${own}`);
  expect(move(`<img src="${from}${own}"><img src="${from}${own}">`)).toBe(
    `<img src="${to}${own}"><img src="${to}${own}">`,
  );
});

test("keeps links, text, images of other projects and images elsewhere", () => {
  for (const html of [
    `<a href="${from}${own}">`,
    `See ${from}${own}`,
    `<img data-src="x" alt="${from}${own}">`,
    `<img src="${from}${key("f".repeat(32))}">`,
    `<img src="https://post.example${own}">`,
    `<img src="https://cdn.example/?u=${from}${own}">`,
  ])
    expect(move(html)).toBe(html);
});
