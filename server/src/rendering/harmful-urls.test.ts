// Tests that no URL in an email can run code, whether written by the author, a variable or HTML in a variable. Checks the final email,
// tracked and untracked, from harmful-urls.ts and find-links.ts.
import { expect, test } from "vitest";
import { compileContent } from "./compile-content.ts";

const TRACKING = { clickUrl: "https://m.example/c/", pixelUrl: "https://m.example/p", linkKey: "k" };

function render(html: string, variables: Record<string, unknown>): string[] {
  return [null, TRACKING].map((tracking) => {
    const compiled = compileContent({ subject: "s", html, text: "t" }, () => {}, tracking !== null);
    const mail = compiled.render(variables, tracking).html ?? html;
    const [before = ""] = mail.split(/<div style="width:1px|<img src="https:\/\/m\.example\/p"/);
    return before;
  });
}

const PROGRAMS = [
  "javascript:alert(1)",
  "JaVaScRiPt:alert(1)",
  "  javascript:alert(1)",
  "\u0001javascript:alert(1)",
  "java\nscript:alert(1)",
  "java\tscript:alert(1)",
  "j a v a s c r i p t:alert(1)",
  "javascript :alert(1)",
  "java\u200Bscript:alert(1)",
  "&#106;avascript:alert(1)",
  "&#x6A;avascript&colon;alert(1)",
  "java&Tab;script&NewLine;:alert(1)",
  "java&#10;script:alert(1)",
  "vbscript:msgbox(1)",
  "data:text/html,<script>alert(1)</script>",
  "data:text/html;base64,PHNjcmlwdD4=",
  "DATA:image/svg+xml,<svg onload=alert(1)>",
];

test.each(PROGRAMS)("neutralizes %j from any source", (program) => {
  const written = program.replaceAll("<", "&lt;").replaceAll(">", "&gt;");
  const harmless = ['<a href="#">go</a>', '<a href="#">go</a>'];
  expect(render(`<a href="${written}">go</a>`, {})).toEqual(harmless);
  expect(render(`<a href='${written}'>go</a>{{x}}`, {})).toEqual(
    harmless.map((html) => html.replaceAll('"', "'")),
  );
  // A value is text, so its entities stay visible. They become part of a URL only where the value is inserted as HTML.
  const value = program.includes("&") ? decode(program) : program;
  expect(render('<a href="{{url}}">go</a>', { url: value })).toEqual(harmless);
  expect(render('<a href="{{{url}}}">go</a>', { url: written })).toEqual(harmless);
  expect(render('<a href="{{#if url}}{{url}}{{/if}}" data-no-track>go</a>', { url: value })[1]).toContain(
    'href="#"',
  );
  expect(render("{{{html}}}", { html: `<a href="${written}">go</a>` })).toEqual(harmless);
});

const decode = (text: string) =>
  text
    .replaceAll("&#106;", "j")
    .replaceAll("&#x6A;", "j")
    .replaceAll("&colon;", ":")
    .replace(/&Tab;|&NewLine;|&#10;/g, "\n");

test.each([
  ['<img src="{{u}}">', '<img src="#">'],
  ["<img src={{u}}>", "<img src=#>"],
  ["<IMG SRCSET='{{u}}'>", "<IMG SRCSET='#'>"],
  ['<form action="{{u}}"><button formaction="{{u}}">', '<form action="#"><button formaction="#">'],
  ['<table background="{{u}}"><video poster="{{u}}">', '<table background="#"><video poster="#">'],
  ['<svg><a xlink:href="{{u}}"></svg>', '<svg><a xlink:href="#"></svg>'],
  ['<object data="{{u}}"><iframe src="{{u}}">', '<object data="#"><iframe src="#">'],
  ['<a href="java{{s}}">', '<a href="#">'],
  ['{{#each list}}<a href="{{this}}">{{/each}}', '<a href="#">'],
  // Places where the URL is not visible in the template.
  ["<a {{{attribute}}}>go</a>", '<a href="#">go</a>'],
  ['{{#if u}}<a href="{{else}}<a title="{{/if}}{{u}}">', '<a href="#">'],
  ["<a href={{#if u}}{{u}}{{/if}}>go</a>", "<a href=#>go</a>"],
])("neutralizes %s", (html, expected) => {
  const u = "javascript:x";
  const variables = { u, s: "script:x", list: [u], attribute: `href="${u}"` };
  expect(render(html, variables)).toEqual([expected, expected]);
});

test.each([
  ['<img src="{{u}}">', "data:image/png;base64,iVBORw0KGgo"],
  ['<img src="{{u}}">', "data:image/svg+xml;utf8,x"],
  ['<img src="data:image/gif;base64,{{u}}">', "R0lGODlh"],
  ['<p title="{{u}}">{{u}}</p>', "javascript:x"],
  ['<a href="mailto:{{u}}">', "a@b.example"],
  ['<a href="{{u}}" data-no-track>', "https://a.example/javascript:x"],
  ['<a href="#{{u}}">', "javascript:x"],
  ["{{{u}}}", '<p title="javascript:x">javascript: &#106; a < b</p><a href="tel:1">'],
  ["<p>javascript: the good parts &#39;</p><img src='a.png'>", ""],
])("keeps %s with %j unchanged", (html, u) => {
  const expected = html.replace(/\{\{\{?u\}\}\}?/g, () => u);
  expect(render(html, { u })).toEqual([expected, expected]);
});
