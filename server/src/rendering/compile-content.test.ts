// Tests how text is derived from HTML with mustaches and how subjects stay on one line. Exercises compile-content.ts without threads.

import * as fc from "fast-check";
import { expect, test } from "vitest";
import { SharedText, wholeText, type PartText } from "../message/part-text.ts";
import { compileContent, type RenderedParts } from "./compile-content.ts";
import { ContentError } from "./compile-part.ts";

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
  // A letter, if an ampersand starts its entity without a trailing semicolon.
  entities: "https://a.example/?id=1&param=2&region=eu&copy=3",
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
  ['<a href="{{{entities}}}">Go</a>', "Go (https://a.example/?id=1&param=2&region=eu&copy=3)"],
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
  // Text that would become a mustache after the surrounding markup is removed.
  ["{<b>{{name}}</b>} {{{name}}}<b>}</b> {<i>{name}}</i>", "{Ada & Bob} Ada & Bob} {{name}}"],
  ["\\<b>{{name}}</b> \\{{name}} &#123;&#123;name}}", "\\Ada & Bob {{name}} {{name}}"],
  // Blocks that choose between two starts, so the text comes from each email's own HTML.
  ['{{#if no}}<a href="https://a.example">{{else}}<a href="{{url}}">{{/if}}Shop</a>', `Shop (${SHOP.url})`],
  ['{{#if no}}<a href="https://a.example">{{/if}}Shop{{#if no}}</a>{{/if}}, {{name}}', "Shop, Ada & Bob"],
  ["{{#if no}}<div hidden>{{else}}<div>{{/if}}a</div>b", "a\nb"],
  ["{{#if name}}<div hidden>{{else}}<div>{{/if}}a</div>b", "b"],
  ['<a href="{{url}}">{{#if no}}a{{else}}b{{/if}}</a>{{#if name}}<i hidden>x</i>{{/if}}', `b (${SHOP.url})`],
  // Blocks that do not survive the conversion intact are omitted.
  ['<p title="{{#if no}}">a{{/if}} {{name}}</p>', "a Ada & Bob"],
])("converts %j to text", (html, text) => {
  expect(render(html, SHOP).text).toBe(text);
});

test("omits parts without mustaches from the result, even the text of static HTML", () => {
  expect(render("<p>a</p>")).toEqual({ subject: null, html: null, text: "a" });
  expect(render("<p>{{name}}</p>", SHOP, "s", "t")).toEqual({
    subject: null,
    html: "<p>Ada &amp; Bob</p>",
    text: null,
  });
});

test.each([
  ['<img src="a.png">', "Sale, Ada & Bob"],
  ["<p>{{missing}}</p>", "Sale, Ada & Bob"],
  ['<img src="a.png" alt="Half price">', "Half price"],
  ['<a href="https://a.example/x"><img src="a.png"></a>', "https://a.example/x"],
  ["", ""],
])("uses the subject as text where %j leaves no text", (html, text) => {
  const compiled = compileContent({ subject: "Sale, {{name}}", html, text: null }, () => {});
  expect(compiled.render(SHOP).text).toBe(text);
  expect(wholeText(compiled.renderPieces(SHOP).text)).toBe(text);
});

test.each([
  ["<!-- {{#if no}} --><p>code</p><!-- {{/if}} --><p>end</p>", "end"],
  ["<!-- {{#if name}} --><p>code</p><!-- {{else}} --><p>none</p><!-- {{/if}} -->", "code"],
  ["<!-- {{#each list}} --><p>{{name}}.</p><!-- {{/each}} -->", "One.\n\nTwo."],
  ["<style>{{#if no}}</style><p>code</p><style>{{/if}}</style><p>end</p>", "end"],
  ['<div style="display:none">{{#if no}}x</div><p>code</p><div hidden>{{/if}}</div><p>end</p>', "end"],
  ["<a href='https://a.example'><!-- {{#if no}} -->all<!-- {{/if}} -->ours</a>", "ours (https://a.example)"],
])("omits from the text of %j content that a block hides in comments or hidden elements", (html, text) => {
  expect(render(html, { ...SHOP, list: [{ name: "One" }, { name: "Two" }] }).text).toBe(text);
});

test("renders an explicit text part as text", () => {
  expect(render("x", SHOP, "s", "{{name}}\n{{#if no}}\nx\n{{/if}}\n{{{name}}}").text).toBe(
    "Ada & Bob\nAda & Bob",
  );
});

test.each(["\r\n", "\n", "\r", "\u2028", "\u2029", "\u0085", "\v\f\r\n\n"])(
  "turns the line break %j from a variable into one space in the subject",
  (lineBreak) => {
    const name = `x${lineBreak}Bcc: e@example.com`;
    expect(render("", { name }, "Hi {{name}} & {{{name}}}").subject).toBe(
      "Hi x Bcc: e@example.com & x Bcc: e@example.com",
    );
  },
);

test("names the part and the position when a message template cannot be compiled", () => {
  expect(() => render("a\n {{#if}}x{{/if}}")).toThrow(
    new ContentError("html, line 2, column 5: {{#if}} takes exactly one value."),
  );
  expect(() => render("", {}, "{{a")).toThrow("subject, line 1, column 1");
  expect(() => render("", {}, "s", "{{a")).toThrow("text, line 1, column 1");
});

const LONG = "What everybody reads, word for word. ".repeat(20);
const TRACKING = { clickUrl: "https://m.example/c/", pixelUrl: "https://m.example/p", linkKey: "k" };

const sharedOf = (text: PartText) =>
  typeof text === "string" ? [] : text.filter((piece) => piece instanceof SharedText);

test.each([
  ["no mustaches", `<p>${LONG}</p>`, 1],
  ["a variable", `<p>{{name}}</p><p>${LONG}</p>{{name}}<p>${LONG}</p>`, 2],
  ["a link with a variable", `<a href="https://x.example/{{name}}?${LONG}">${LONG}</a>`, 1],
  ["a loop", `{{#each items}}<p>${LONG}</p>{{this}}{{/each}}`, 2],
])("shares the same piece of text between all emails: %s", (_, html, places) => {
  for (const tracking of [null, TRACKING]) {
    const compiled = compileContent({ subject: "s", html, text: null }, () => {}, tracking !== null);
    const first = compiled.renderPieces(SHOP, tracking);
    const second = compiled.renderPieces({ ...SHOP, name: "Eve" }, tracking);
    const shared = sharedOf(first.html);
    expect(shared.length).toBeGreaterThanOrEqual(places);
    expect(sharedOf(second.html)).toEqual(shared);
    expect(shared.every((piece, at) => piece === sharedOf(second.html)[at])).toBe(true);
    const own = wholeText(first.html).length - shared.reduce((sum, { text }) => sum + text.length, 0);
    expect(own).toBeLessThan(wholeText(first.html).length / 2 + LONG.length);
    expect(wholeText(first.html)).toBe(compiled.render(SHOP, tracking).html ?? html);
  }
});

const markup = fc.constantFrom(
  LONG,
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

test("HTML that renders always has a text part, even if the markup breaks the mustaches", () => {
  let withVariables = 0;
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
        const compiled = compileContent({ subject: "s", html, text: null }, () => {});
        const { text } = compiled.render({ a, b });
        expect(typeof text).toBe("string");
        if (compiled.render({ a, b }).html !== html) withVariables++;
        const pieces = compiled.renderPieces({ a, b });
        expect(wholeText(pieces.text)).toBe(text);
        expect(wholeText(pieces.html)).toBe(compiled.render({ a, b }).html ?? html);
      },
    ),
    { numRuns: 1_000, maxSkipsPerRun: 1_000 },
  );
  // Without anything to render the assertion would always pass.
  expect(withVariables).toBeGreaterThan(100);
});
