// Tests the position of the footer in marketing emails and when it is omitted.
import { expect, test } from "vitest";
import { compileContent } from "../rendering/compile-content.ts";
import { withFooter } from "./with-footer.ts";
import { leastCpuMs } from "../testing/cpu-timer.ts";

const FOOTER = { html: "[F]", text: "[T]" };

test.for([
  ["a fragment", "<p>Hi</p>", "<p>Hi</p>[F]"],
  ["a document", "<html><body>Hi</body></html>", "<html><body>Hi[F]</body></html>"],
  ["capitals and blanks", "<BODY>Hi</BODY ></html>", "<BODY>Hi[F]</BODY ></html>"],
  ["a body twice", "<body>a</body><body>b</body>", "<body>a</body><body>b[F]</body>"],
  ["a body in a block", "{{#if a}}<b>x</b></body>{{/if}}", "{{#if a}}<b>x</b></body>{{/if}}[F]"],
  ["a body after blocks", "{{#if a}}x{{else}}y{{/if}}</body>", "{{#if a}}x{{else}}y{{/if}}[F]</body>"],
  ["a body in an inverse section", "{{^ a}}</body>{{/a}}", "{{^ a}}</body>{{/a}}[F]"],
  ["a body after an inverse section", "{{^a}}x{{^}}y{{/a}}</body>", "{{^a}}x{{^}}y{{/a}}[F]</body>"],
  ["a body in a comment", "a<!-- </body> -->", "a<!-- </body> -->[F]"],
  ["a body after a comment", "a<!-- x --></body>", "a<!-- x -->[F]</body>"],
  ["an end in a comment", "a<!-- b", "a<!-- b-->[F]"],
  ["an end in a style", "a<STYLE>.x{", "a<STYLE>.x{</style>[F]"],
  ["an end in a comment in a style", "<style><!-- .x{", "<style><!-- .x{</style>[F]"],
  ["an end in a style in a comment", "<!-- <style>", "<!-- <style>-->[F]"],
  ["a comment as the text of a style", "<style><!-- .x{</style>a", "<style><!-- .x{</style>a[F]"],
  ["a style in a comment", "<!-- <style> -->a", "<!-- <style> -->a[F]"],
  [
    "an end in a hidden element",
    '<div style="display:none">a<b>b',
    '<div style="display:none">a<b>b</b></div>[F]',
  ],
  ["a body end in a hidden element", "<p hidden><i>a</body>", "<p hidden><i>a</i></p>[F]</body>"],
  ["an end in a template", "a<template><p>b", "a<template><p>b</p></template>[F]"],
  [
    "a start in a hidden element",
    '<div style="display:none">a</div>b',
    '<div style="display:none">a</div>b[F]',
  ],
  ["an end in a visible element", "<table><tr><td>a", "<table><tr><td>a[F]"],
  ["an end in a title", "<title>a", "<title>a</title>[F]"],
  ["an end in a tag", "a<br", "a<br>[F]"],
  ["an end in an attribute", "a<a href='https://x.example", "a<a href='https://x.example'>[F]"],
  ["an end in another attribute", 'a<a href="https://x.example', 'a<a href="https://x.example">[F]'],
  ["an end that is not a tag", "a < b", "a < b[F]"],
  ["a body in a style", "<style></body>", "<style></style>[F]</body>"],
  ["a body in a template comment", "a{{!-- </body> --}}", "a{{!-- </body> --}}[F]"],
  ["a body in a string", 'a{{b ?? "</body>"}}', 'a{{b ?? "</body>"}}[F]'],
  ["a body in a raw block", "{{{{r}}}}</body>{{{{/r}}}}", "{{{{r}}}}</body>{{{{/r}}}}[F]"],
  ["an own link", "{{unsubscribeUrl}}", "{{unsubscribeUrl}}"],
  [
    "an own link to manage",
    '<a href="{{ manageUrl }}">x</a></body>',
    '<a href="{{ manageUrl }}">x</a></body>',
  ],
  ["an own link unescaped", "{{{unsubscribeUrl}}}", "{{{unsubscribeUrl}}}"],
  ["an own link in a block", "{{#if a}}{{manageUrl}}{{/if}}", "{{#if a}}{{manageUrl}}{{/if}}"],
  ["a footer placed by its author", "{{{unsubscribeFooterHtml}}} Bye", "{{{unsubscribeFooterHtml}}} Bye"],
  ["a link in a comment", "<!-- {{unsubscribeUrl}} -->", "<!-- {{unsubscribeUrl}} -->[F]"],
  ["a link in a template comment", "{{!-- {{manageUrl}} --}}", "{{!-- {{manageUrl}} --}}[F]"],
  ["a condition only", "{{#if manageUrl}}x{{/if}}", "{{#if manageUrl}}x{{/if}}[F]"],
  ["a link to subscribe", "{{subscribeUrl}}", "{{subscribeUrl}}[F]"],
  ["an escaped link", "\\{{unsubscribeUrl}}", "\\{{unsubscribeUrl}}[F]"],
] as const)("places the footer for %s", ([, html, expected]) => {
  expect(withFooter({ html, text: null }, FOOTER)).toEqual({ html: expected, text: null });
});

test("adds the lines to an explicit text part after an empty line, independent of the HTML", () => {
  const html = "{{unsubscribeUrl}}";
  expect(withFooter({ html, text: "Hi" }, FOOTER)).toEqual({ html, text: "Hi\n\n[T]" });
  expect(withFooter({ html: "Hi", text: "To stop: {{manageUrl}}" }, FOOTER)).toEqual({
    html: "Hi[F]",
    text: "To stop: {{manageUrl}}",
  });
});

test("fills its variables with HTML in the HTML part and with lines in any text part", () => {
  const footer = {
    unsubscribeFooterHtml: '<p>Why: <a href="https://a.example/u?a=1&amp;b=2">Stop</a></p>',
    unsubscribeFooterText: "Why\nStop: https://a.example/u?a=1&b=2",
  };
  const parts = (text: string | null) =>
    compileContent({ subject: "", ...withFooter({ html: "<p>Hi \\</p>", text }) }, () => undefined).render(
      footer,
    );
  expect(parts(null)).toEqual({
    subject: null,
    html: `<p>Hi \\</p><div>${footer.unsubscribeFooterHtml}</div>`,
    text: `Hi \\\n\n${footer.unsubscribeFooterText}`,
  });
  expect(parts("Hi \\").text).toBe(`Hi \\\n\n${footer.unsubscribeFooterText}`);
  expect(withFooter(withFooter({ html: "Hi", text: "Hi" }))).toEqual(withFooter({ html: "Hi", text: "Hi" }));
});

const addFooters = () => {
  for (const html of [
    "</body".repeat(150_000),
    "<!--".repeat(250_000),
    "{{manageUrl ?? a}}<!--".repeat(1_400),
  ])
    withFooter({ html, text: html });
};

test("handles a hostile body in next to no time", async () => {
  expect(await leastCpuMs(1_000, addFooters)).toBeLessThan(1_000);
});
