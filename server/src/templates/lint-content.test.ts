// Tests the warnings for an email, one row for each, and cases that must not warn.
import { expect, test } from "vitest";
import { hostFault, LINK_SHORTENERS } from "./link-rules.ts";
import { lintContent, type LintedContent } from "./lint-content.ts";
import { POSTAL_SHAPES, showsPostalAddress } from "./postal-address.ts";
import { leastCpuMs } from "../testing/cpu-timer.ts";

/** A subject without warnings. */
const fine: LintedContent = {
  subject: "Your order {{order}}",
  previewText: null,
  html: [
    '<html lang="en"><body><div style="display:none">A sentence</div>',
    '<p>Hello {{firstName ?? "you"}}, <a href="https://a.example/x">read on</a>.</p>',
    '<img src="https://a.example/logo.png" alt="Logo"><p>{{unsubscribeUrl}}</p><p>Acme Ltd, 1 Long Street, London</p></body></html>',
  ].join("\n"),
  text: null,
  type: "MARKETING",
  knownVariables: new Set(["order", "firstName", "unsubscribeUrl", "manageUrl", "url", "a"]),
  renderedBytes: null,
  footerHasAddress: false,
  project: { projectName: "Acme", postalAddress: null, year: 2026 },
};

function told(content: Partial<LintedContent>): string[] {
  return lintContent({ ...fine, ...content }).map(({ code, where: { field, line, column } }) =>
    line === null ? `${code} ${field}` : `${code} ${field} ${line}:${column}`,
  );
}

/** A body without other warnings. */
const around = (inner: string) => `<b hidden>x</b>{{manageUrl}} PO Box 1 ${inner}`;
const column = around("").length + 1;

test.for([
  ["a body without links, which gets the footer", "<b hidden>x</b> 2026", []],
  ["the footer placed by its author", "<b hidden>x</b>{{{unsubscribeFooterHtml}}} 2026", []],
  [
    "a body with its own link, which gets no footer",
    "<b hidden>x</b>{{manageUrl}} 2026",
    ["no_postal_address body"],
  ],
] as Array<[string, string, string[]]>)(
  "considers the project's postal address in %s",
  ([, html, expected]) => {
    const about = told({
      html,
      footerHasAddress: true,
      knownVariables: new Set(["unsubscribeFooterHtml", "manageUrl"]),
    });
    expect(about.filter((one) => one.startsWith("no_postal"))).toEqual(expected);
  },
);

test("returns no warnings for a good email", () => {
  expect(lintContent(fine)).toEqual([]);
});

test.for([
  // Merge tags
  [
    "a merge tag in each part",
    { subject: "Hi *|FNAME|*", html: around("\n{{ UnsubscribeURL }}"), text: "{{manageUrl}} %FIRSTNAME%" },
    ["merge_tag subject 1:4", "merge_tag body 2:1", "merge_tag text 1:15"],
  ],
  [
    "a name known only to another service",
    { html: around("{{ unsubscribe_url }}{{nobody}}") },
    [`merge_tag body 1:${column}`, `unknown_variable body 1:${column + 23}`],
  ],
  [
    "the same with a value",
    {
      html: around("{{ unsubscribe_url }}"),
      knownVariables: new Set(["order", "manageUrl", "unsubscribe_url"]),
    },
    [],
  ],
  [
    "bare text, a word and any quotes after ??",
    {
      html: around(
        "{{firstName ?? dear friend}}{{url ?? there}}{{url ?? &quot;x&quot;}}{{#if (eq a “b”)}}{{/if}}",
      ),
    },
    [],
  ],
  // Unfinished content
  [
    "a link to example.com",
    { html: around('<a href="https://www.Example.com/a">x</a><a href="https://example.company">y</a>') },
    [`link_to_example body 1:${column}`],
  ],
  [
    "an unsubscribe link without a URL",
    { html: around('<a href="">Unsubscribe</a><a href="#">Hier abmelden</a><a title="Opt-out">x</a>') },
    [
      `unsubscribe_link_nowhere body 1:${column}`,
      `unsubscribe_link_nowhere body 1:${column + 26}`,
      `unsubscribe_link_nowhere body 1:${column + 55}`,
    ],
  ],
  [
    "an unsubscribe link with an unknown variable",
    { html: around("<a class='b' href='{{{ unsub }}}'>Unsubscribe</a>") },
    [`unsubscribe_link_nowhere body 1:${column}`, `unknown_variable body 1:${column + 23}`],
  ],
  [
    "an unsubscribe link of a merge tag",
    { html: around('<a href="{{ unsubscribe_url }}">Unsubscribe</a>') },
    [`merge_tag body 1:${column + 9}`],
  ],
  [
    "unsubscribe links with a target",
    {
      html: around(
        '<a href="{{unsubscribeUrl}}">Unsubscribe</a><a href="{{url}}">Unsubscribe</a><a name="unsubscribe">x</a>',
      ),
    },
    [],
  ],
  [
    "placeholder text",
    { subject: "A subject", html: around("<p> Write here. </p><p>Do not write here.</p>") },
    ["placeholder_text subject", `placeholder_text body 1:${column + 3}`],
  ],
  [
    "placeholder text in another language",
    { html: around("<h1>Eine Überschrift</h1>") },
    [`placeholder_text body 1:${column + 4}`],
  ],
  [
    "an empty body",
    { html: "<html lang='en'><style>p{}</style><p> &nbsp;</p>", type: "TRANSACTIONAL" },
    ["body_empty body"],
  ],
  [
    "a body with only an image",
    { html: "<img src='https://a.example/a.png' alt=''>", type: "TRANSACTIONAL" },
    ["no_text body"],
  ],
  ["a blank subject", { subject: "  " }, ["subject_blank subject"]],
  ["a long subject", { subject: "x".repeat(61) }, ["subject_long subject"]],
  ["the longest subject without a warning", { subject: `${"ü".repeat(60)}{{firstName}}` }, []],
  ["a subject in capitals", { subject: "BUY NOW, {{firstName}}!" }, ["subject_all_capitals subject"]],
  ["a short name in capitals", { subject: "USA 2026" }, []],
  ["a script without capitals", { subject: "您好世界您好世界" }, []],
  [
    "unknown variables, each once and by its top-level name",
    { subject: "{{frist}}", html: around("{{frist}} {{data.paln}}\n{{x.y}}") },
    ["unknown_variable subject 1:3", `unknown_variable body 1:${column + 12}`, "unknown_variable body 2:3"],
  ],
  [
    "a variable with a fallback that is also used without one",
    { subject: '{{frist ?? "you"}}', html: around('{{a ?? b ?? "c"}}{{d ?? e}}\n{{frist}}') },
    ["unknown_variable body 2:3"],
  ],
  ["names inside a list", { html: around("{{#each a}}{{title}}{{/each}}") }, []],
  ["no link to unsubscribe", { html: "<b hidden>x</b>Hi PO Box 1" }, ["unsubscribe_link_added body"]],
  [
    "no link to unsubscribe in either part",
    { html: "<b hidden>x</b>Hi PO Box 1", text: "Hi" },
    ["unsubscribe_link_added body", "unsubscribe_link_added text"],
  ],
  [
    "no link in email without a footer",
    { html: "<b hidden>x</b>Hi PO Box 1", type: "HEADLESS" },
    ["no_unsubscribe_link body"],
  ],
  ["a transactional email without a link", { html: "Hi", type: "TRANSACTIONAL" }, []],
  ["an email of unknown type without a link", { html: "<b hidden>x</b>Hi PO Box 1", type: null }, []],
  ["a large body", { html: around("x".repeat(100_000)) }, ["html_large body", "no_postal_address body"]],
  ["a body that grows by rendering", { renderedBytes: 100_001 }, ["html_large body"]],
  ["the largest body without a warning", { renderedBytes: 100_000 }, []],
  [
    "only images",
    { html: '<img src="https://a.example/x" alt="x">' },
    ["unsubscribe_link_added body", "no_text body"],
  ],
  ["no preview text", { html: "<p>{{manageUrl}} PO Box 1</p>" }, ["no_preview_text previewText"]],
  [
    "a preview text from a variable",
    { html: '<p style="display: none">{{a}}</p>{{manageUrl}} PO Box 1' },
    [],
  ],
  ["a preview text", { previewText: "x", html: "<p>{{manageUrl}} PO Box 1</p>" }, []],
  [
    "an unknown variable in a preview text",
    { previewText: "Hi {{foo}} {{order}}" },
    ["unknown_variable previewText 1:6"],
  ],
  ["placeholder text as a preview text", { previewText: "Write here." }, ["placeholder_text previewText"]],
  [
    "a hidden element without a text",
    { html: "<p hidden>&nbsp;</p>{{manageUrl}} PO Box 1" },
    ["no_preview_text previewText"],
  ],
  [
    "a title and a style",
    { html: "<title>x</title><style>p{}</style>{{manageUrl}} PO Box 1" },
    ["no_preview_text previewText"],
  ],
  ["no postal address", { html: "<b hidden>x</b>{{manageUrl}} 2026" }, ["no_postal_address body"]],
  ["a hidden postal address", { html: "<b hidden>PO Box 1</b>{{manageUrl}}" }, ["no_postal_address body"]],
  [
    "no postal address in email that is not advertising",
    { html: "<b hidden>x</b>{{manageUrl}}", type: "HEADLESS" },
    [],
  ],
  ["no language", { html: `<html>${around("")}</html>` }, ["html_without_language body 1:1"]],
  ["a script", { html: around("<script>x</script>") }, [`unsupported_element body 1:${column}`]],
  ["a form", { html: around("<form></form>") }, [`unsupported_element body 1:${column}`]],
] as Array<[string, Partial<LintedContent>, string[]]>)("lints %s", ([, content, warnings]) => {
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
  ['<a href="https://bit.ly/x">', ["link_shortened"]],
  ['<a href="https://www.tinyurl.com/x">', ["link_shortened"]],
  ['<a href="https://bit.ly.example/x">', []],
  ['<a href="https://192.0.2.7/x">', ["link_to_ip_address"]],
  ['<a href="https://u@[2001:db8::1]:8080/">', ["link_to_ip_address"]],
  ['<a href="https://3221225994/">', ["link_to_ip_address"]],
  ['<a href="https://192.0.2.7.example/">', []],
  ['<a href="https://a.example/x">bank.example</a>', ["link_text_elsewhere"]],
  ['<a href="https://a.example/x"><b>https://bank</b>.example/login</a>', ["link_text_elsewhere"]],
  ['<a href="https://a.example/x">Visit www.bank.example now.</a>', ["link_text_elsewhere"]],
  ['<a href="https://a.example/x">a.example</a>', []],
  ['<a href="https://www.a.example/x">https://shop.a.example/y</a>', []],
  ['<a href="https://shop.a.example/x">A.example</a>', []],
  ['<a href="https://a.example/x">Read on at bank.example</a>', []],
  ['<a href="https://a.example/x">prices.pdf</a>', []],
  ['<a href="https://a.example/x">e.g. this</a>', []],
  ['<a href="https://a.example/x">me@bank.example</a>', []],
  ['<a href="mailto:a@a.example">bank.example</a>', []],
  ['<a href="{{url}}">bank.example</a>', []],
  ['<a href="https://a.example/x">{{a}}.example</a>', []],
  ['<img src="https://a.example/x.png" alt="">', []],
  ['<img src="cid:logo" alt="Logo">', []],
  ['<img src="{{url}}" alt="{{a}}">', []],
  ['<img src="https://a.example/x.png">', ["image_without_alt"]],
  ['<img alt="">', ["image_without_address"]],
  ['<img src="http://a.example/x" alt="">', ["image_not_https"]],
  ['<img src="images/x.png" alt="">', ["image_not_absolute"]],
  ['<img src="https://localhost/x" alt="">', ["image_to_this_machine"]],
  ['<img src="data:image/png;base64,eA==" alt="">', ["image_embedded"]],
] as Array<[string, string[]]>)("lints the element %s: %j", ([element, codes]) => {
  expect(told({ html: around(element) })).toEqual(codes.map((code) => `${code} body 1:${column}`));
});

test("stops after twenty warnings of one kind and locates each in the source", () => {
  const warnings = lintContent({ ...fine, html: `${around("")}\n${"<a>x</a>\n".repeat(50)}<img alt="">` });
  expect(warnings.filter(({ code }) => code === "link_without_address")).toHaveLength(20);
  expect(warnings.at(-1)).toMatchObject({
    code: "image_without_address",
    message: "This image has no address.",
    where: { field: "body", line: 52, column: 1 },
  });
});

test("handles any input and the largest body in a moment", async () => {
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
  const html = "<a href=x>{{frist}}</a>".repeat(1_400) + "<p style=x>".repeat(90_000);
  expect(await leastCpuMs(2_000, () => lintContent({ ...fine, html }))).toBeLessThan(2_000);
});

test.each(LINK_SHORTENERS)("warns about a link shortened with %s", (host) => {
  expect(hostFault(host)?.code).toBe("link_shortened");
  expect(hostFault(`www.${host.toUpperCase()}`)?.code).toBe("link_shortened");
  expect(hostFault(`not-${host}`)).toBeNull();
});

/** Matched by its own row, and whether another row may match first. */
const ADDRESSES: Readonly<Record<string, readonly string[]>> = {
  "United States": ["Springfield, OH 45501"],
  "United Kingdom": ["London SW1A 1AA"],
  Canada: ["Ottawa ON K1A 0B1"],
  Netherlands: ["1012 AB Amsterdam"],
  Brazil: ["01310-100 São Paulo"],
  "Portugal, Poland": ["1100-148 Lisboa", "00-950 Warszawa"],
  Japan: ["〒100-0001", "東京都千代田区"],
  "China, Korea": ["北京市中山路12号", "세종대로 209"],
  Australia: ["Sydney NSW 2000"],
  "Sweden, Czechia": ["111 22 Stockholm", "110 00 Praha"],
  "a postal code before a town": ["10115 Berlin", "75001 Paris", "A-1010 Wien", "28013 Madrid"],
  "a town before a postal code": ["Москва, 101000", "Mumbai, 400001"],
  "a box": ["P.O. Box 12", "Postfach 1234"],
  "a street before its number": ["Hauptstraße 5", "Calle de Alcalá, 42", "Via Roma 1", "ул. Ленина, д. 1"],
  "a number before its street": ["12 Long Street", "1600 Pennsylvania Ave", "10, rue de la Paix"],
};

test.each(POSTAL_SHAPES.map((row) => [row.where, row] as const))(
  "recognizes the shape of the address: %s",
  (where, { shape }) => {
    const examples = ADDRESSES[where] ?? [];
    expect(examples.length).toBeGreaterThan(0);
    expect(examples.filter((text) => !shape.test(text))).toEqual([]);
  },
);

test.for([
  "© 2026 Acme Inc. All rights reserved",
  "Save 5000 Points, only until 31 December 2026",
  "Call 0800 123456 today",
  "This way to the shop",
  "Order 123456: 3 items, 59.90 EUR",
  "Hello Ada, our spring sale starts at 10 am",
])("recognizes no address in %s", (text) => {
  expect(showsPostalAddress(text, text)).toBe(false);
});

test.for([
  ["{{companyAddress}}", true],
  ["{{{data.postal_address}}}", true],
  ["{{address.street}}", true],
  ["{{emailAddress}}", false],
  ["{{firstName}}", false],
] as const)("decides whether the variable %s is an address", ([source, isOne]) => {
  expect(showsPostalAddress("", source)).toBe(isOne);
});

test("shows the beginning of a long tag in its sentence", () => {
  const html = around(`{% raw %}${"x".repeat(10_000)}{% endraw %}`);
  const [warning] = lintContent({ ...fine, html }).filter(({ code }) => code === "merge_tag");
  expect(warning?.message.length).toBeLessThan(600);
  expect(warning?.replacement).toBe("x".repeat(10_000));
});

test("checks a megabyte of worst-case text in a moment", async () => {
  for (const piece of ["1 Aa", "A", "strasse ", "1 aa ", "Aaa-", "a.a.", "{{address}} ", "12345 "]) {
    const html = `<p>${piece.repeat(1_000_000 / piece.length)}</p><a href="https://a.example">${piece.repeat(10_000)}</a>`;
    expect(await leastCpuMs(1_500, () => lintContent({ ...fine, html }))).toBeLessThan(1_500);
  }
});
