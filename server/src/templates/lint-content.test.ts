// What the advice on a mail says, one row for each piece of it, and what must not be said.
import { expect, test } from "vitest";
import { lintContent, type LintedContent } from "./lint-content.ts";

/** Nothing to say about this one. */
const fine: LintedContent = {
  subject: "Your order {{order}}",
  html: [
    '<html lang="en"><body><div style="display:none">A sentence</div>',
    '<p>Hello {{firstName ?? "you"}}, <a href="https://a.example/x">read on</a>.</p>',
    '<img src="https://a.example/logo.png" alt="Logo"><p>{{unsubscribeUrl}}</p></body></html>',
  ].join("\n"),
  text: null,
  type: "MARKETING",
  knownVariables: new Set(["order", "firstName", "unsubscribeUrl", "manageUrl", "url", "a"]),
  renderedBytes: null,
};

function told(content: Partial<LintedContent>): string[] {
  return lintContent({ ...fine, ...content }).map(({ code, where: { field, line, column } }) =>
    line === null ? `${code} ${field}` : `${code} ${field} ${line}:${column}`,
  );
}

/** A body with nothing else to say about it. */
const around = (inner: string) => `<b hidden>x</b>{{manageUrl}} ${inner}`;
const column = around("").length + 1;

test("a mail that is fine has no warnings", () => {
  expect(lintContent(fine)).toEqual([]);
});

test.for([
  ["a blank subject", { subject: "  " }, ["subject_blank subject"]],
  ["a long subject", { subject: "x".repeat(61) }, ["subject_long subject"]],
  ["a subject that is just short enough", { subject: `${"ü".repeat(60)}{{firstName}}` }, []],
  ["a subject in capitals", { subject: "BUY NOW, {{firstName}}!" }, ["subject_all_capitals subject"]],
  ["a short name in capitals", { subject: "USA 2026" }, []],
  ["a script without capitals", { subject: "您好世界您好世界" }, []],
  [
    "unknown variables, each once and by its top-level name",
    { subject: "{{frist}}", html: around("{{frist}} {{data.paln}}\n{{x.y ?? 1}}") },
    ["unknown_variable subject 1:3", `unknown_variable body 1:${column + 12}`, "unknown_variable body 2:3"],
  ],
  ["names inside a list", { html: around("{{#each a}}{{title}}{{/each}}") }, []],
  ["no link to unsubscribe", { html: "<b hidden>x</b>Hi" }, ["unsubscribe_link_added body"]],
  [
    "none in either part",
    { html: "<b hidden>x</b>Hi", text: "Hi" },
    ["unsubscribe_link_added body", "unsubscribe_link_added text"],
  ],
  [
    "no link where no footer comes",
    { html: "<b hidden>x</b>Hi", type: "HEADLESS" },
    ["no_unsubscribe_link body"],
  ],
  ["a transactional mail without one", { html: "Hi", type: "TRANSACTIONAL" }, []],
  ["a mail of no known kind without one", { html: "<b hidden>x</b>Hi", type: null }, []],
  ["a large body", { html: around("x".repeat(100_000)) }, ["html_large body"]],
  ["a body that grows", { renderedBytes: 100_001 }, ["html_large body"]],
  ["a body that is just small enough", { renderedBytes: 100_000 }, []],
  [
    "images only",
    { html: '<img src="https://a.example/x" alt="x">' },
    ["unsubscribe_link_added body", "no_text body"],
  ],
  ["no preview text", { html: "<p>{{manageUrl}}</p>" }, ["no_preview_text body"]],
  ["a preview text from a variable", { html: '<p style="display: none">{{a}}</p>{{manageUrl}}' }, []],
  [
    "a hidden element without a text",
    { html: "<p hidden>&nbsp;</p>{{manageUrl}}" },
    ["no_preview_text body"],
  ],
  [
    "a title and a style",
    { html: "<title>x</title><style>p{}</style>{{manageUrl}}" },
    ["no_preview_text body"],
  ],
  ["no language", { html: `<html>${around("")}</html>` }, ["html_without_language body 1:1"]],
  ["a script", { html: around("<script>x</script>") }, [`unsupported_element body 1:${column}`]],
  ["a form", { html: around("<form></form>") }, [`unsupported_element body 1:${column}`]],
] as Array<[string, Partial<LintedContent>, string[]]>)("%s", ([, content, warnings]) => {
  expect(told(content)).toEqual(warnings);
});

test.for([
  ['<a href="https://a.example">', []],
  ['<a href="HTTPS://A.example">', []],
  ['<a href="mailto:a@example.com">', []],
  ['<a href="tel:+1">', []],
  ['<a href="#part">', []],
  ['<a name="part">', []],
  ['<a href="{{url}}">', []],
  ['<a href="{{url ?? "http://a.example"}}">', []],
  ['<a href="{{#if a}}https://a.example{{else}}{{url}}{{/if}}">', []],
  ['<a {{#if a}}href="https://a.example"{{else}}href="{{url}}"{{/if}}>', []],
  ['<a href="https://{{a}}.example/">', []],
  ["<a>", ["link_without_address"]],
  ['<a href="">', ["link_without_address"]],
  ['<a href=" # ">', ["link_without_address"]],
  ['<a href="javascript:void(0)">', ["link_without_address"]],
  ['<a href="http://a.example">', ["link_not_https"]],
  ['<a href="http://{{a}}">', ["link_not_https"]],
  ['<a href="www.example.com">', ["link_not_absolute"]],
  ['<a href="/prices">', ["link_not_absolute"]],
  ['<a href="//a.example">', ["link_not_absolute"]],
  ['<a href="http://localhost:3000/x">', ["link_to_this_machine"]],
  ['<a href="https://u@127.0.0.1/">', ["link_to_this_machine"]],
  ['<a href="https://[::1]:80/">', ["link_to_this_machine"]],
  ['<a href="https://localhost.example.com">', []],
  ['<img src="https://a.example/x.png" alt="">', []],
  ['<img src="cid:logo" alt="Logo">', []],
  ['<img src="{{url}}" alt="{{a}}">', []],
  ['<img src="https://a.example/x.png">', ["image_without_alt"]],
  ['<img alt="">', ["image_without_address"]],
  ['<img src="http://a.example/x" alt="">', ["image_not_https"]],
  ['<img src="images/x.png" alt="">', ["image_not_absolute"]],
  ['<img src="https://localhost/x" alt="">', ["image_to_this_machine"]],
  ['<img src="data:image/png;base64,eA==" alt="">', ["image_embedded"]],
] as Array<[string, string[]]>)("%s: %j", ([element, codes]) => {
  expect(told({ html: around(element) })).toEqual(codes.map((code) => `${code} body 1:${column}`));
});

test("warnings of one kind end after twenty, others go on; places are lines and columns of the source", () => {
  const warnings = lintContent({ ...fine, html: `${around("")}\n${"<a>x</a>\n".repeat(50)}<img alt="">` });
  expect(warnings.filter(({ code }) => code === "link_without_address")).toHaveLength(20);
  expect(warnings.at(-1)).toEqual({
    code: "image_without_address",
    message: "This image leads nowhere: it has no address.",
    where: { field: "body", line: 52, column: 1 },
  });
});

test("nothing that can be written breaks it, and the largest body takes a moment", () => {
  const pieces = [
    "<a ",
    "{{",
    "}}",
    "<!--",
    "</body>",
    "<img",
    '"',
    "<p hidden>",
    "{{#if a}}",
    "\u0000",
    "\ufdd0",
  ];
  for (const one of pieces)
    for (const other of pieces)
      expect(() =>
        lintContent({ ...fine, subject: one + other, html: one + other, text: other + one }),
      ).not.toThrow();
  const startedAt = performance.now();
  lintContent({ ...fine, html: "<a href=x>{{frist}}</a>".repeat(1_400) + "<p style=x>".repeat(90_000) });
  expect(performance.now() - startedAt).toBeLessThan(2_000);
});
