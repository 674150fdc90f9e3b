// Converts the merge tags of a whole email: its subject, its preview text, and its HTML or the texts of its blocks.
import { designHtml } from "@postloft/contract/design-html.ts";
import type { Design } from "@postloft/contract/design.ts";
import {
  convertMergeTags,
  findMergeTags,
  type MergeTag,
  type MergeTagSource,
} from "@postloft/contract/merge-tags/find-merge-tags.ts";
import type { MergeTagContext } from "@postloft/contract/merge-tags/variables.ts";

export interface WrittenEmail {
  subject: string;
  /** Only of an email written in HTML. */
  previewText: string;
  body: string;
  /** Null for an email written in HTML. */
  design: Design | null;
}

/** Keys of a design with visible texts or links as values. */
const TEXT_KEYS = new Set([
  "alt",
  "href",
  "html",
  "label",
  "link",
  "manageLabel",
  "preheader",
  "text",
  "url",
]);

/** Returns the merge tags of an email in the order of its texts. */
export function tagsOfDraft(draft: WrittenEmail, context: MergeTagContext): MergeTag[] {
  return findMergeTags(sourcesOf(draft), context).flat();
}

/** Returns the email with all merge tags converted that have an equivalent. */
export function convertedDraft(draft: WrittenEmail, context: MergeTagContext): WrittenEmail {
  const [subject = "", previewText = "", ...texts] = convertMergeTags(sourcesOf(draft), context);
  if (draft.design === null) return { subject, previewText, body: texts[0] ?? "", design: null };
  const design = mapTexts(draft.design, () => texts.shift() ?? "") as Design;
  return { subject, previewText, body: designHtml(design), design };
}

function sourcesOf({ subject, previewText, body, design }: WrittenEmail): MergeTagSource[] {
  const sources: MergeTagSource[] = [subject, previewText].map((text) => ({ text, isHtml: false }));
  if (design === null) return [...sources, { text: body, isHtml: true }];
  mapTexts(design, (text, isHtml) => {
    sources.push({ text, isHtml });
    return text;
  });
  return sources;
}

/** Returns a copy of a part of a design with each text replaced. The order of texts is stable. */
function mapTexts(part: unknown, replace: (text: string, isHtml: boolean) => string, key = ""): unknown {
  if (typeof part === "string") return TEXT_KEYS.has(key) ? replace(part, key === "html") : part;
  if (Array.isArray(part)) return part.map((item) => mapTexts(item, replace));
  if (typeof part !== "object" || part === null) return part;
  return Object.fromEntries(
    Object.entries(part).map(([name, value]) => [name, mapTexts(value, replace, name)]),
  );
}
