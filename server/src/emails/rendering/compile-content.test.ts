// The three parts of one mail: the text that follows from HTML with mustaches in it, and a subject that stays one line.
// Exercises compile-content.ts without threads.

import * as fc from "fast-check";
import { expect, test } from "vitest";
import { compileContent, ContentError, type RenderedParts } from "./compile-content.ts";

function render(
  html: string,
  variables: Record<string, unknown> = {},
  subject = "s",
  text: string | null = null,
): RenderedParts {
  return compileContent({ subject, html, text }, () => {}).render(variables);
}

const SHOP = {
  name: "Ada & Bob",
  url: "https://a.example/?a=1&b=2",
  items: ["pen", "ink"],
  body: "<p>one &amp; two</p><ul><li>three</ul>",
  lines: "first\n\n\nsecond",
};

test.each([
  ['<p>Hello {{firstName ?? "there"}},</p><p>{{name}} &amp; co</p>', "Hello there,\n\nAda & Bob & co"],
  ["<p>a</p>{{#if no}}<p>b</p>{{/if}}<p>c</p>", "a\n\nc"],
  ["<p>a</p>{{#if no}}<p>b</p>{{else}}<p>x</p>{{/if}}<p>c</p>", "a\n\nx\n\nc"],
  ["Items:<ul>{{#each items}}<li>{{this}}</li>{{/each}}</ul>Bye", "Items:\n\n- pen\n- ink\n\nBye"],
  ["{{#each items}}\n  {{this}}<br>\n{{/each}}", "pen\nink"],
  ["<table>{{#each items}}<tr><td>{{@index}}</td><td>{{this}}</td></tr>{{/each}}</table>", "0 pen\n1 ink"],
  ['<a href="{{url}}">{{url}}</a>', "https://a.example/?a=1&b=2"],
  ['<a href="{{url}}">Go, {{name}}</a>', "Go, Ada & Bob (https://a.example/?a=1&b=2)"],
  [
    "<a href={{url}}>Go</a> <a href='{{missing ?? \"https://b.example\"}}'>B</a>",
    "Go (https://a.example/?a=1&b=2) B (https://b.example)",
  ],
  ['<a href="https://x/{{#if no}}a{{else}}b{{/if}}">Go</a>', "Go (https://x/b)"],
  ['<img alt="{{name}}"><p {{#if no}}class="x"{{/if}} id="{{name}}">t</p>', "Ada & Bob\n\nt"],
  ["<style>{{#if no}}p{}{{/if}} {{name}}</style><!-- {{name}} -->t", "t"],
  ['<div style="display:none">{{name}}</div><div style="{{#if no}}display:none{{/if}}">t</div>', "t"],
  ["{{body}}", SHOP.body],
  ["<div>{{{body}}}</div>end", "one & two\n\n- three\nend"],
  ["<p>{{lines}}</p>", "first\n\n\nsecond"],
  ["{{!-- <p> --}}t{{! x }}", "t"],
  // Text that would be a mustache once the markup around it is gone.
  ["{<b>{{name}}</b>} {{{name}}}<b>}</b> {<i>{name}}</i>", "{Ada & Bob} Ada & Bob} {{name}}"],
  ["\\<b>{{name}}</b> \\{{name}} &#123;&#123;name}}", "\\Ada & Bob {{name}} {{name}}"],
  // Blocks that do not survive the conversion in one piece are left out.
  ["<style>{{#if no}}</style>a{{/if}} {{name}}", "a Ada & Bob"],
  ['<div style="display:none">{{#each items}}</div>{{this}}x{{/each}}', "[object Object]x"],
])("the text of %j", (html, text) => {
  expect(render(html, SHOP).text).toBe(text);
});

test("parts without mustaches are not carried around, the text of static HTML is", () => {
  expect(render("<p>a</p>")).toEqual({ subject: null, html: null, text: "a" });
  expect(render("<p>{{name}}</p>", SHOP, "s", "t")).toEqual({
    subject: null,
    html: "<p>Ada &amp; Bob</p>",
    text: null,
  });
});

test("a text part of one's own is rendered as text", () => {
  expect(render("x", SHOP, "s", "{{name}}\n{{#if no}}\nx\n{{/if}}\n{{{name}}}").text).toBe(
    "Ada & Bob\nAda & Bob",
  );
});

test.each(["\r\n", "\n", "\r", "\u2028", "\u2029", "\u0085", "\v\f\r\n\n"])(
  "a line break %j from a variable is one space in the subject",
  (lineBreak) => {
    const name = `x${lineBreak}Bcc: e@example.com`;
    expect(render("", { name }, "Hi {{name}} & {{{name}}}").subject).toBe(
      "Hi x Bcc: e@example.com & x Bcc: e@example.com",
    );
  },
);

test("a content that cannot be compiled says which part and where", () => {
  expect(() => render("a\n {{#if}}x{{/if}}")).toThrow(
    new ContentError("html, line 2, column 5: {{#if}} takes exactly one value."),
  );
  expect(() => render("", {}, "{{a")).toThrow("subject, line 1, column 1");
  expect(() => render("", {}, "s", "{{a")).toThrow("text, line 1, column 1");
});

const markup = fc.constantFrom(
  "<p>",
  "</p>",
  "<br>",
  "<ul>",
  "<li>",
  "</ul>",
  '<a href="',
  '{{url}}">',
  "</a>",
  "<div hidden>",
  "</div>",
  "<style>",
  "</style>",
  "<!--",
  "-->",
  " ",
  "{",
  "}",
  "\\",
  "&#123;",
  "&#xFDD0;0&#xFDD1;",
);
const mustaches = fc.constantFrom(
  "{{a}}",
  "{{{b}}}",
  '{{a ?? "x"}}',
  "{{#if a}}",
  "{{else}}",
  "{{/if}}",
  "{{#each b}}",
  "{{/each}}",
  "{{this}}",
  "{{!-- x --}}",
  "\\{{",
);

test("HTML that can be rendered always has a text part, whatever the markup does to the mustaches", () => {
  fc.assert(
    fc.property(
      fc.array(fc.oneof(markup, mustaches), { maxLength: 20 }),
      fc.jsonValue(),
      fc.jsonValue(),
      (parts, a, b) => {
        const html = parts.join("");
        try {
          compileContent({ subject: "s", html, text: "t" }, () => {});
        } catch {
          return fc.pre(false);
        }
        const { text } = render(html, { a, b });
        expect(typeof text).toBe("string");
      },
    ),
    { numRuns: 1_000, maxSkipsPerRun: 1_000 },
  );
});
