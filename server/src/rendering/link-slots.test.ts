// Tests which links of an email are redirected and that the rest stays unchanged. Checks the final email from find-links.ts, link-slots.ts
// and link-target.ts.

import { decodeHTMLAttribute } from "entities";
import * as fc from "fast-check";
import { expect, test } from "vitest";
import { compileContent } from "./compile-content.ts";
import { locationOf, numberOf, signTarget, type MailTracking } from "./link-target.ts";

const CLICK = "https://m.example/c/TOKEN";
const TRACKING: MailTracking = {
  clickUrl: CLICK,
  pixelUrl: "https://m.example/o/TOKEN.gif",
  linkKey: "a key of this mail",
};
const IMAGE = '<img src="https://m.example/o/TOKEN.gif" width="1" height="1" alt="">';
const PIXEL = `<div style="width:1px;height:1px;background:url('https://m.example/o/TOKEN.gif')"></div><!--[if mso]>${IMAGE}<![endif]-->`;
const SELF = "https://m.example";
const PAGE_TOKEN = "t".repeat(64);

const ADA = {
  id: 7,
  url: "https://a.example/?a=1&b=ü",
  mail: "mailto:a@a.example",
  quoted: 'https://a.example/" onclick="x',
  own: `${SELF}/unsubscribe/${PAGE_TOKEN}`,
  unsubscribeUrl: `${SELF}/unsubscribe/${PAGE_TOKEN}`,
  /** Too long for a link once percent-encoded. */
  long: `https://a.example/${"\u4e2d".repeat(1_000)}`,
  yes: true,
  items: [{ slug: "pen" }, { slug: "ink" }],
};

function compile(html: string) {
  return compileContent({ subject: "s", html, text: "t" }, () => {}, true);
}

function render(html: string, variables: Record<string, unknown> = ADA): string {
  return compile(html).render(variables, TRACKING).html ?? html;
}

const OUR_LINKS = /https:\/\/m\.example\/c\/TOKEN([a-z0-9]+)(?:\.([\w-]{12})\?u=([^"'> ]+))?/g;

/** Returns the email with each redirected link as `<target>` and without the pixel. */
function shown(html: string, variables?: Record<string, unknown>): string {
  const fixed = new Map(compile(html).links.map(({ number, url }) => [number, url]));
  const mail = render(html, variables);
  expect(mail.split(PIXEL)).toHaveLength(2);
  return mail.replace(PIXEL, "").replace(OUR_LINKS, (_, digits, mac, u) => {
    const number = Number.parseInt(digits, 36);
    const target = u === undefined ? fixed.get(number) : decodeURIComponent(u);
    const isSigned = mac === undefined || mac === signTarget(TRACKING.linkKey, number, target ?? "");
    return isSigned ? `<${target}>` : `<${target}, not signed>`;
  });
}

test.each([
  // Quotes, case and spaces.
  ['<a href="https://a.example/x">go</a>', '<a href="<https://a.example/x>">go</a>'],
  ["<a href='https://a.example/x'>go</a>", "<a href='<https://a.example/x>'>go</a>"],
  ["<a href=https://a.example/x>go</a>", "<a href=<https://a.example/x>>go</a>"],
  ["<A\n HREF = 'HTTP://A.example' >go</A>", "<A\n HREF = '<HTTP://A.example>' >go</A>"],
  ['<a class=x href=" https://a.example\n" id=y>', '<a class=x href="<https://a.example>" id=y>'],
  ['<map><area href="https://a.example"/></map>', '<map><area href="<https://a.example>"/></map>'],
  ["<a href=https://a.example/>go</a>", "<a href=<https://a.example/>>go</a>"],
  // Entities decode like in a browser; fragments and non-ASCII letters stay.
  [
    '<a href="https://a.example/?a=1&amp;b=2&copy=3#x&quot;">',
    '<a href="<https://a.example/?a=1&b=2&copy=3#x">">',
  ],
  ['<a href="https://müller.example/ä?ö=ü#ß">', '<a href="<https://müller.example/ä?ö=ü#ß>">'],
  ["<a href='&#104;ttps://a.example'>", "<a href='<https://a.example>'>"],
  // Equal URLs are one link; nested and repeated links are all found.
  [
    '<a href="https://a.example">a<a href="https://b.example">b</a></a><a href="https://a.example">',
    '<a href="<https://a.example>">a<a href="<https://b.example>">b</a></a><a href="<https://a.example>">',
  ],
  // Outlook reads conditional comments.
  [
    '<!--[if mso]><v:roundrect href="https://a.example"><![endif]--><!--[if !mso]><!--><a href="https://b.example"><!--<![endif]-->',
    '<!--[if mso]><v:roundrect href="<https://a.example>"><![endif]--><!--[if !mso]><!--><a href="<https://b.example>"><!--<![endif]-->',
  ],
  // Variables within a value, as a value and around links.
  ['<a href="https://a.example/{{id}}?x=1">', '<a href="<https://a.example/7?x=1>">'],
  ['<a href="{{url}}">', '<a href="<https://a.example/?a=1&b=ü>">'],
  ["<a href={{url}}>", "<a href=<https://a.example/?a=1&b=ü>>"],
  ["<a href='{{{url}}}'>", "<a href='<https://a.example/?a=1&b=ü>'>"],
  ["<a href=\"{{none ?? 'https://d.example'}}\">", '<a href="<https://d.example>">'],
  ['<a href="https://a.example/{{#if yes}}b{{else}}c{{/if}}{{! why }}">', '<a href="<https://a.example/b>">'],
  [
    '{{#each items}}<a href="https://a.example/{{slug}}/{{@index}}/{{../id}}">{{slug}}</a>{{/each}}',
    '<a href="<https://a.example/pen/0/7>">pen</a><a href="<https://a.example/ink/1/7>">ink</a>',
  ],
  [
    '{{#if yes}}<a href="https://a.example">a</a>{{else}}<a href="https://b.example">b</a>{{/if}}',
    '<a href="<https://a.example>">a</a>',
  ],
  [
    '<a {{#if yes}}href="https://a.example"{{else}}href="https://b.example"{{/if}} {{id}}>',
    '<a href="<https://a.example>" 7>',
  ],
  ['<a title="{{#if yes}}>{{/if}}" href="https://a.example">', '<a title=">" href="<https://a.example>">'],
])("redirects the links of %j", (html, expected) => {
  expect(shown(html)).toBe(expected);
});

test.each([
  ["short HTML without an image, which filters would treat as image-only", "<p>Hi</p>", PIXEL],
  ["HTML with its own images", '<p><IMG src="a.png"></p>', IMAGE],
  ["long HTML", `<p>${"Hi. ".repeat(2_000)}</p>`, IMAGE],
])("places the pixel in %s", (_, html, pixel) => {
  expect(render(`<body>${html}</body>`)).toBe(`<body>${html}${pixel}</body>`);
  expect(render(`<body>{{id}}${html}</body>`)).toBe(`<body>7${html}${pixel}</body>`);
});

test.each([
  '<a href="mailto:a@a.example"> <a href="tel:+1"> <a href="#top"> <a href="/path"> <a href="?x"> <a href="">',
  '<a href="//a.example"> <a href="https:\\\\a.example"> <a href="https:/a.example"> <a href="https://">',
  '<a href="data:image/png,x"> <a href="ftp://a.example"> <a href="https://[">',
  "<a> <a href> <a name=https://a.example> <b href=https://a.example>",
  '<link href="https://a.example"> <base href="https://a.example"> <img src="https://a.example">',
  '<a data-no-track href="https://a.example"> <a href=https://a.example DATA-NO-TRACK="">',
  '<a href="https://a.example" ses:no-track> <area ses:no-track href="https://a.example">',
  '<!-- <a href="https://a.example"> --> <style>a[href="https://a.example"]{}</style>',
  '<script>x = \'<a href="https://a.example">\'</script><title><a href="https://a.example"></title>',
  '<textarea><a href="https://a.example"></textarea> text https://a.example <a href="https://a.example',
  `<a href="https://other.example/manage/${PAGE_TOKEN}">`,
  `<a href="https://a.example/${"x".repeat(4_000)}">`,
  "\uFDE0<a href='https://a.example'>",
])("keeps the source unchanged: %j", (html) => {
  expect(compile(html).links).toEqual([]);
  expect(render(html).replace(PIXEL, "").replace(IMAGE, "")).toBe(html);
});

test.each([
  ['<a href="{{mail}}">', '<a href="mailto:a@a.example">'],
  ['<a href="mailto:{{id}}@a.example">', '<a href="mailto:7@a.example">'],
  ['<a href="/x/{{id}}">', '<a href="/x/7">'],
  ['<a href="{{missing}}">', '<a href="">'],
  ['<a href="{{own}}">', `<a href="${ADA.own}">`],
  ['<a href="{{unsubscribeUrl}}&x">', `<a href="${ADA.unsubscribeUrl}&x">`],
  ['<a href="https://x.example/?to={{unsubscribeUrl}}">', `<a href="https://x.example/?to=${ADA.own}">`],
  ['<a href="{{{quoted}}}">', '<a href="https://a.example/" onclick="x">'],
  ['<a href="{{long}}">', `<a href="${ADA.long}">`],
  ["<a data-no-track href={{url}}>", "<a data-no-track href=https://a.example/?a&#x3D;1&amp;b&#x3D;ü>"],
  // The end of the link is known only after rendering.
  ["<a href=https://a.example/{{#if yes}}b{{/if}}>", "<a href=https://a.example/b>"],
  ["<a href={{#if yes}}https://a.example{{/if}}>", "<a href=https://a.example>"],
  ['<a href="{{#if yes}}https://a.example">{{else}}x">{{/if}}', '<a href="https://a.example">'],
  ['<a href="https://a.example/\\{{id}}">', '<a href="https://a.example/{{id}}">'],
  ['{{{{raw}}}}<a href="https://a.example">{{{{/raw}}}}', ""],
])("keeps the rendered output unchanged: %j", (html, expected) => {
  expect(shown(html)).toBe(expected);
});

test("preserves a URL with quotes, spaces, signs and 2,000 characters through the redirect", () => {
  const target = `https://a.example/it's?a=1+2%20x&b=<"'>&c=${"ü".repeat(900)}#f g`;
  const html = `<a href="{{url}}">`;
  expect(shown(html, { url: target })).toBe(`<a href="<${target}>">`);
  expect(render(html, { url: target })).toMatch(/^<a href="[\w:/.?=%@,;!$*()~#-]+"><div/);
  expect(locationOf(target)).toBe(new URL(target).href);
});

test.each([
  ["<p>a</p>", `<p>a</p>${PIXEL}`],
  ["<body><p>a</p></body></html>", `<body><p>a</p>${PIXEL}</body></html>`],
  ["<BODY>a</BODY >", `<BODY>a${PIXEL}</BODY >`],
  ["<body>a</body><!-- </body> -->", `<body>a${PIXEL}</body><!-- </body> -->`],
  ["{{#if yes}}<body>a</body>{{/if}}", `<body>a</body>${PIXEL}`],
  ["{{#if yes}}x{{/if}}<body>{{id}}</body>", `x<body>7${PIXEL}</body>`],
  ["<body>{{#if yes}}{{#each items}}i{{else}}{{/each}}{{^}}{{/if}}</body>", `<body>ii${PIXEL}</body>`],
  ["", PIXEL],
  ["a\n  {{! alone on the last line }}", `a\n${PIXEL}`],
  ["a\n{{#if yes}}\nb\n{{/if}}", `a\nb\n${PIXEL}`],
])("writes the pixel of %j", (html, expected) => {
  expect(render(html)).toBe(expected);
});

test("returns links with their numbers, each URL once and with variables as in the template", () => {
  const html = '<a href="https://a.example"><a href="{{url}}"><a href="https://a.example"><a href="x{{id}}">';
  expect(compile(html).links).toEqual([
    { number: numberOf("https://a.example", true), url: "https://a.example" },
    { number: numberOf("{{url}}", false), url: "{{url}}" },
    { number: numberOf("x{{id}}", false), url: "x{{id}}" },
  ]);
});

test("tracks up to a thousand links of an email and keeps later ones unchanged", () => {
  const html = Array.from({ length: 1_100 }, (_, at) => `<a href="https://a.example/${at}">`).join("");
  expect(compile(html).links).toHaveLength(1_000);
  expect(render(html)).toContain(`<a href="https://a.example/1000"><a href="https://a.example/1001">`);
});

test("keeps the subject and the text part unchanged", () => {
  const content = { subject: "{{url}}", html: '<a href="https://a.example/{{id}}">Go</a>', text: null };
  const tracked = compileContent(content, () => {}, true).render(ADA, TRACKING);
  expect([tracked.subject, tracked.text]).toEqual([ADA.url, "Go (https://a.example/7)"]);
});

const markup = fc.constantFrom(
  '<a href="',
  "<a href='",
  "<a href=",
  "<area data-no-track href='",
  '">',
  "'>",
  ">",
  "</a>",
  "https://a.example/",
  "http://b.example/?x",
  "mailto:x",
  "&amp;",
  " ",
  "\n",
  "<!--",
  "-->",
  "<!--[if mso]>",
  "<![endif]-->",
  "<style>",
  "</style>",
  "<body>",
  "</body>",
  "=",
  "\\",
  "{",
);
const wholeLinks = fc.constantFrom(
  '<a href="https://a.example/">',
  "<a href='{{a}}'>",
  "<a href=http://b.example/{{b}}/x>",
  '<a href="https://a.example/{{#if a}}x{{else}}{{b}}{{/if}}?y&amp;z">',
  '<a\n  href="\n  {{#if b}}\n  https://c.example\n  {{/if}}\n">',
);
const mustaches = fc.constantFrom(
  "{{a}}",
  "{{{b}}}",
  '{{a ?? "https://c.example"}}',
  "{{#if a}}",
  "{{~#each b}}",
  "{{else}}",
  "{{/if}}",
  "{{/each~}}",
  "{{! x }}",
  "\\{{",
);
const values = fc.oneof(fc.webUrl(), fc.jsonValue());
const LINK = /(https:\/\/m\.example\/c\/TOKEN[a-z0-9]+(?:\.[\w-]{12}\?u=[\w\-.~:/?=@,;!$*()%]+)?)/;

test("a tracked email differs from the untracked one only in URLs and the pixel", () => {
  let links = 0;
  fc.assert(
    fc.property(
      fc.array(fc.oneof(markup, mustaches, wholeLinks), { maxLength: 20 }),
      values,
      values,
      (parts, a, b) => {
        const html = parts.join("");
        let plain: string;
        try {
          const content = { subject: "s", html, text: "t" };
          plain = compileContent(content, () => {}).render({ a, b }).html ?? html;
        } catch {
          return fc.pre(false);
        }
        const targets = new Map(compile(html).links.map(({ number, url }) => [number, url]));
        const pieces = render(html, { a, b }).replace(PIXEL, "").split(LINK);
        links += (pieces.length - 1) / 2;
        expect(isSame(pieces, plain, targets)).toBe(true);
      },
    ),
    { numRuns: 500, maxSkipsPerRun: 1_000 },
  );
  expect(links).toBeGreaterThan(200);
});

/** Returns whether `plain` is the same text when each redirected link is replaced with its target. */
function isSame(pieces: readonly string[], plain: string, targets: ReadonlyMap<number, string>): boolean {
  const [text = "", link, ...rest] = pieces;
  if (!plain.startsWith(text)) return false;
  const after = plain.slice(text.length);
  if (link === undefined) return after === "";
  const [digits = "", u] = link.slice(CLICK.length).split("?u=");
  const target = u === undefined ? targets.get(Number.parseInt(digits, 36)) : decodeURIComponent(u);
  return Array.from(after).some(
    (_, at) =>
      decodeHTMLAttribute(after.slice(0, at + 1)).trim() === target?.trim() &&
      isSame(rest, after.slice(at + 1), targets),
  );
}
