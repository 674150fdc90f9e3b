// Tests that the footer gets the width and the colors of its email.
import { expect, test } from "vitest";
import { contrastOf } from "@postloft/contract/color.ts";
import type { Design } from "@postloft/contract/design.ts";
import { designHtml } from "@postloft/contract/design-html.ts";
import { footerLookOf } from "@postloft/contract/footer-frame.ts";
import { footerFor } from "./footer-frame.ts";
import { withFooter } from "./with-footer.ts";

const design = (look: Partial<Design["look"]>, kind?: "footer" | "unsubscribe"): Design => ({
  format: "postloft-blocks",
  version: 1,
  look: {
    background: "#f5f5f4",
    surface: "#ffffff",
    ink: "#1c1917",
    accent: "#2f3437",
    font: "verdana",
    width: 560,
    ...look,
  },
  language: "en",
  preheader: "A line that inboxes show",
  blocks: [
    { id: "1", kind: "heading", level: 1, text: "Hi", align: "left" },
    ...(kind === "footer" ? [{ id: "2", kind, align: "left" } as const] : []),
    ...(kind === "unsubscribe"
      ? [{ id: "2", kind, label: "Stop", manageLabel: "", align: "left" } as const]
      : []),
  ],
});

test.for([
  ["light", "#f5f5f4"],
  ["dark", "#111827"],
  ["of a middle gray", "#777777"],
] as const)("is as wide as the blocks and readable on a page that is %s", ([, background]) => {
  const { html } = withFooter({ html: designHtml(design({ background })), text: null });
  const footer = html.slice(html.indexOf("</table>\n<table") + 1);
  expect(footer).toContain(`style="background:${background}"`);
  expect(footer).toContain('width="560" style="width:100%;max-width:560px"');
  expect(footer).toContain("font-family:Verdana,Geneva,sans-serif");
  const look = footerLookOf(html);
  expect(look?.align).toBe(null);
  expect(contrastOf(look?.ink ?? "", background)).toBeGreaterThanOrEqual(4.5);
});

test("a footer block has the colors of the blocks, and no second footer is added", () => {
  const body = designHtml(design({ surface: "#111827", ink: "#f9fafb" }, "footer"));
  expect(withFooter({ html: body, text: null }).html).toBe(body);
  const look = footerLookOf(body);
  expect(look?.align).toBe("left");
  expect(contrastOf(look?.ink ?? "", "#111827")).toBeGreaterThanOrEqual(4.5);
});

test("a block with links to unsubscribe replaces the footer", () => {
  const body = designHtml(design({}, "unsubscribe"));
  expect(withFooter({ html: body, text: null }).html).toBe(body);
  expect(body).toContain('<a href="{{unsubscribeUrl}}"');
});

test.for([
  ["a color and a width", '<body bgcolor="#000"><table width="600">', "#000000", 600],
  [
    "colors of a table around the text",
    '<table width="100%" style="background-color: #112233"><tr><td><div style="max-width: 640px">',
    "#112233",
    640,
  ],
  [
    "the page around a colored note",
    '<body bgcolor="#fff"><div>Hi</div><div style="background:#fde68a">Note</div></body>',
    "#ffffff",
    600,
  ],
  [
    "a hidden preview text",
    '<body style="background:white"><div style="display:none;width:1px">x</div><p>',
    "#ffffff",
    600,
  ],
] as const)("reads %s", ([, html, background, width]) => {
  const footer = footerFor(html);
  expect(footer).toContain(`background:${background}`);
  expect(footer).toContain(`max-width:${width}px`);
});

test.for([
  ["nothing", "<p>Hi</p>", "<div>{{{unsubscribeFooterHtml}}}</div>"],
  [
    "a button between paragraphs",
    '<p>Hi</p><table><tr><td style="background:#1f5fbf"><a>Buy</a></td></tr></table><p>Bye</p>',
    "<div>{{{unsubscribeFooterHtml}}}</div>",
  ],
  [
    "a colored header",
    '<div style="background:#1e40af;color:#fff">Acme</div><p>Text</p>',
    "<div>{{{unsubscribeFooterHtml}}}</div>",
  ],
  [
    "a header before a table with a width",
    '<table><tr><td bgcolor="#ff0000">Header</td></tr></table><table width="600"><tr><td>Text</td></tr></table>',
    "<div>{{{unsubscribeFooterHtml}}}</div>",
  ],
  [
    "a narrow table in wide text",
    '<p>Hi</p><table width="400"><tr><td>Narrow</td></tr></table><p>Wide</p>',
    "<div>{{{unsubscribeFooterHtml}}}</div>",
  ],
  [
    "a picture behind the text",
    '<body style="background:url(https://a.example/b.png)"><table width="500">',
    '<div style="max-width:500px;margin:0 auto">{{{unsubscribeFooterHtml}}}</div>',
  ],
  [
    "colors that are not a hexadecimal number",
    '<body style="background:#12">',
    "<div>{{{unsubscribeFooterHtml}}}</div>",
  ],
] as const)("leaves the footer its own colors for %s", ([, html, footer]) => {
  expect(footerFor(html)).toBe(footer);
  expect(footerLookOf(footer)).toBe(null);
});
