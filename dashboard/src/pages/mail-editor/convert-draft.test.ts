// Tests the conversion of merge tags in a whole email: its subject, and its HTML or the texts of its blocks.
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test, vi } from "vitest";
import { designHtml } from "@postloft/contract/design-html.ts";
import type { Block } from "@postloft/contract/design.ts";
import { PLACEHOLDER_TEXTS } from "@postloft/contract/placeholder-texts.ts";
import { designOf, newBlock, textOf } from "../templates/blocks/block-tree.ts";
import { convertedDraft, tagsOfDraft } from "./convert-draft.ts";

/** New blocks read the browser's language for their placeholder texts. */
vi.hoisted(() => vi.stubGlobal("localStorage", { getItem: () => null }));

const CONTEXT = {
  fields: new Set(["First Name"]),
  projectName: "Acme",
  postalAddress: "A & B\nLondon",
  year: 2026,
};

const BRAND = {
  background: "#f5f5f4",
  surface: "#ffffff",
  ink: "#1c1917",
  accent: "#2f3437",
  font: "sans",
  footerAlign: "center",
  footerLogo: true,
} as const;

test("converts merge tags in the subject and the HTML together", () => {
  const draft = {
    subject: "Hi *|FNAME|*",
    previewText: "For *|FNAME|*",
    body: "<p>*|LIST:ADDRESS|* *|FIRST_NAME|*</p>",
    design: null,
  };
  expect(tagsOfDraft(draft, CONTEXT)).toHaveLength(4);
  expect(convertedDraft(draft, CONTEXT)).toEqual({
    subject: "Hi {{[First Name]}}",
    previewText: "For {{[First Name]}}",
    body: "<p>A &amp; B<br>London {{[First Name]}}</p>",
    design: null,
  });
});

test("converts every text of every block, including conditions across blocks, and nothing else", () => {
  const columns = {
    ...newBlock("columns"),
    columns: [
      [{ ...newBlock("html"), html: "<b>*|LIST:ADDRESS|*</b>" }],
      [{ ...newBlock("image"), url: "https://a.test/*|EMAIL|*", alt: "*|FNAME|*", link: "*|UNSUB|*" }],
    ],
  } as Block;
  const blocks = [
    { ...newBlock("heading"), text: "*|IFNOT:VIP|*Hello *|LNAME|*" } as Block,
    { ...newBlock("text"), text: textOf("{% if a %}b{% endif %}*|END:IF|*") } as Block,
    { ...newBlock("button"), label: "*|LIST:ADDRESS|*", url: "*|UPDATE_PROFILE|*" } as Block,
    columns,
    { ...newBlock("unsubscribe"), label: "Bye *|FNAME|*", manageLabel: "Choose, *|FNAME|*" } as Block,
    newBlock("divider"),
  ];
  const design = { ...designOf(blocks, { language: "en", brand: BRAND }), preheader: "For *|FNAME|*" };
  const draft = { subject: "S", previewText: "", body: designHtml(design), design };
  const converted = convertedDraft(draft, CONTEXT);
  const texts = JSON.stringify(converted.design);
  for (const text of [
    "{{#unless vip}}Hello {{lastName}}",
    "{{#if a}}b{{/if}}{{/unless}}",
    '"A & B, London"',
    "{{manageUrl}}",
    "<b>A &amp; B<br>London</b>",
    "https://a.test/{{email}}",
    '"{{unsubscribeUrl}}"',
    "For {{[First Name]}}",
    "Bye {{[First Name]}}",
    "Choose, {{[First Name]}}",
  ])
    expect(texts).toContain(text);
  expect(converted.body).toBe(designHtml(converted.design ?? design));
  expect(tagsOfDraft(converted, CONTEXT)).toEqual([]);
  expect(convertedDraft(converted, CONTEXT)).toEqual(converted);
});

test("placeholder texts match the dashboard's translations in every language", () => {
  for (const [english, texts] of Object.entries(PLACEHOLDER_TEXTS)) {
    const others = ["de", "es", "fr"].map((language) => {
      const path = join(import.meta.dirname, `../../text/${language}.json`);
      return (JSON.parse(readFileSync(path, "utf8")) as Record<string, string>)[english];
    });
    expect(texts).toEqual([english, ...others]);
  }
});
