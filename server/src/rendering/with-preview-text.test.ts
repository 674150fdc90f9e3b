// Tests the position, the escaping and the padding of a preview text, and what an inbox shows of it.
import { previewTextElement } from "@postloft/contract/design-html.ts";
import { expect, test } from "vitest";
import { compileContent } from "./compile-content.ts";
import { inboxTextOf } from "./inbox-text.ts";
import { withPreviewText } from "./with-preview-text.ts";
import { leastCpuMs } from "../testing/cpu-timer.ts";

const P = previewTextElement("Soon");

test.for([
  ["a fragment", "<p>Hi</p>", `${P}<p>Hi</p>`],
  ["text", "Hi {{name}}", `${P}Hi {{name}}`],
  [
    "a document",
    "<!doctype html><html><head></head><body>Hi",
    `<!doctype html><html><head></head><body>${P}Hi`,
  ],
  ["a tag with attributes", '<BODY class="a>b" {{x}}>Hi', `<BODY class="a>b" {{x}}>${P}Hi`],
  ["a condition in a tag", "<body {{#if a > b}}x{{/if}}>Hi", `<body {{#if a > b}}x{{/if}}>${P}Hi`],
  [
    "a document without a body",
    "<html><head><title>a</title></head>Hi",
    `<html><head><title>a</title></head>${P}Hi`,
  ],
  ["only a doctype", "<!doctype html><p>Hi", `<!doctype html>${P}<p>Hi`],
  ["a body in a comment", "<!-- <body> --><body>Hi", `<!-- <body> --><body>${P}Hi`],
  ["a body twice", "<body>a<body>b", `<body>${P}a<body>b`],
  [
    "a body in a block",
    "{{#if a}}<body>x{{else}}<body>y{{/if}}z",
    `{{#if a}}<body>x{{else}}<body>y{{/if}}${P}z`,
  ],
  ["a body before a block", "<body>{{#if a}}x{{/if}}", `<body>${P}{{#if a}}x{{/if}}`],
  ["a body after a block", "{{#if a}}x{{/if}}<body>y", `{{#if a}}x{{/if}}<body>${P}y`],
] as const)("puts the preview text at the start of %s", ([, html, expected]) => {
  expect(withPreviewText(html, "Soon")).toBe(expected);
});

test("leaves HTML unchanged without a preview text", () => {
  const html = '<body><div style="display:none">Mine</div>Hi';
  expect(withPreviewText(html, null)).toBe(html);
  expect(withPreviewText(html, " ")).toBe(html);
});

function render(html: string, previewText: string, variables: Record<string, unknown> = {}) {
  const content = { subject: "s", html: withPreviewText(html, previewText), text: null };
  return compileContent(content, () => undefined).render(variables);
}

test.for(["{{a}} & {{b}}", "{{{a}}} & {{{b}}}", "{{&a}} & {{~&b}}"])(
  "escapes the text and the values of %s",
  (previewText) => {
    const { html } = render("<p>Hi</p>", previewText, { a: "</div><img>", b: "1 < 2" });
    expect(html).toContain("&lt;/div&gt;&lt;img&gt; &amp;");
    expect(html).not.toContain("<img>");
    expect(inboxTextOf(html ?? "")).toMatch(/^<\/div><img> & ?1 < 2$/);
  },
);

test("shows the preview text in the inbox but not in the text part", () => {
  const { html, text } = render("<body><p>Hi {{name}}, welcome.</p></body>", "For {{name}}", { name: "Ada" });
  expect(inboxTextOf(html ?? "")).toBe("For Ada");
  expect(text).toBe("Hi Ada, welcome.");
});

test.for([
  [
    "the first words without a preview text",
    "<h1>Hello&nbsp; you</h1>\n<p>Read&shy; on</p>",
    "Hello you Read on",
  ],
  ["a hidden element of the author", "<div hidden>Mine</div><p>Hi</p>", "Mine Hi"],
  ["padding of other tools", `<div>Mine${"&#847; &zwnj; &nbsp; ".repeat(20)}</div>Hi`, "Mine"],
  ["indented HTML", `${" ".repeat(100)}<p>Hi</p>${" ".repeat(100)}<p>you</p>`, "Hi you"],
  ["words that join with ZWNJ", "<p>می\u200cخواهم</p>", "می\u200cخواهم"],
  ["a head", "<head><title>x</title><style>p{}</style></head><body>Hi", "Hi"],
  ["nothing", "", ""],
] as const)("reads what an inbox shows of %s", ([, html, expected]) => {
  expect(inboxTextOf(html)).toBe(expected);
});

test("reads up to 200 characters of the first words", () => {
  expect(inboxTextOf(`<p>${"ab ".repeat(5_000)}</p>`)).toHaveLength(200);
});

test("reads only the beginning of large HTML, because the rest is shown in no inbox", () => {
  expect(inboxTextOf(`${"<b></b>".repeat(10_000)}Early`)).toBe("Early");
  expect(inboxTextOf(`${"<b></b>".repeat(20_000)}Late`)).toBe("");
});

const readHostile = () => {
  for (const unit of ["<body", "{{#if a}}", "{{{a", "<!--", "\u200c ", "{{ &"]) {
    withPreviewText(unit.repeat(50_000), unit.repeat(100));
    withPreviewText("<p>", unit.repeat(10_000));
    inboxTextOf(unit.repeat(50_000));
  }
};

test("takes linear time for hostile HTML", async () => {
  expect(await leastCpuMs(2_000, readHostile)).toBeLessThan(2_000);
});
