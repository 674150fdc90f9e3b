// The design of an email in the block editor: its blocks and styles (docs/decisions/0062-blocks.md).
import { z } from "zod";
import { EMAIL_FONT_NAMES } from "./email-fonts.ts";
import { LIMITS } from "./limits/limits.ts";
import { SOCIAL_SERVICES } from "./social-links.ts";
import { withValues, type ErrorMessage } from "./translation.ts";

/** Distinguishes our designs from those of other editors in the same field. */
export const DESIGN_FORMAT = "postloft-blocks";

const blockId = z.string().min(1).max(64);
const words = z.string().max(LIMITS.designTextLength.value);
const colour = z.string().regex(/^#[0-9a-fA-F]{6}$/, "Must be a color like #1a2b3c.");
const align = z.enum(["left", "center", "right"]);
/** An address, a variable, or empty until the author enters one. */
const url = words;

const mark = z.discriminatedUnion("type", [
  z.object({ type: z.enum(["bold", "italic", "underline", "strike", "code"]) }),
  z.object({ type: z.literal("link"), attrs: z.object({ href: url }) }),
]);
const inline = z.discriminatedUnion("type", [
  z.object({ type: z.literal("text"), text: words, marks: z.array(mark).optional() }),
  z.object({ type: z.literal("hardBreak") }),
]);
const paragraph = z.object({
  type: z.literal("paragraph"),
  content: z.array(inline).optional(),
});
export type Inline = z.infer<typeof inline>;
export type Paragraph = z.infer<typeof paragraph>;
export interface TextList {
  type: "bulletList" | "orderedList";
  content: Array<{ type: "listItem"; content: Array<Paragraph | TextList> }>;
}

/** Maximum depth of nested lists, so that the schema is finite. */
const LIST_DEPTH = 4;
function listOf(depth: number): z.ZodType<TextList> {
  const inside: z.ZodType<Paragraph | TextList> =
    depth === 1 ? paragraph : z.union([paragraph, listOf(depth - 1)]);
  const item = z.object({
    type: z.literal("listItem"),
    content: z.array(inside),
  });
  return z.object({
    type: z.enum(["bulletList", "orderedList"]),
    content: z.array(item),
  });
}
/** Formatted text in the format of the editor (ProseMirror's JSON). */
const richText = z.object({
  type: z.literal("doc"),
  content: z.array(z.union([paragraph, listOf(LIST_DEPTH)])),
});
export type RichText = z.infer<typeof richText>;

const leaves = [
  z.object({
    id: blockId,
    kind: z.literal("heading"),
    level: z.union([z.literal(1), z.literal(2), z.literal(3)]),
    text: words,
    align,
  }),
  z.object({ id: blockId, kind: z.literal("text"), text: richText, align }),
  z.object({ id: blockId, kind: z.literal("button"), label: words, url, align }),
  z.object({
    id: blockId,
    kind: z.literal("image"),
    url,
    alt: words,
    link: url,
    width: z.int().min(16).max(1200).nullable().describe("In pixels; null for the full width of the email."),
    align,
  }),
  z.object({ id: blockId, kind: z.literal("divider") }),
  z.object({ id: blockId, kind: z.literal("space"), height: z.int().min(4).max(200) }),
  z.object({ id: blockId, kind: z.literal("html"), html: words }),
  z.object({
    id: blockId,
    kind: z.literal("logo"),
    url,
    alt: words,
    link: url,
    width: z.int().min(16).max(600).describe("In pixels."),
    align,
  }),
  z.object({
    id: blockId,
    kind: z.literal("social"),
    links: z
      .array(z.object({ service: z.enum(SOCIAL_SERVICES), url }))
      .max(SOCIAL_SERVICES.length)
      .describe("Links without an address are left out."),
    align,
  }),
  z
    .object({ id: blockId, kind: z.literal("footer"), align })
    .describe("The footer of MARKETING emails, placed by its author."),
  z
    .object({
      id: blockId,
      kind: z.literal("unsubscribe"),
      label: words,
      manageLabel: words.describe(
        "Label of the link to the page that manages the subscription; empty for none.",
      ),
      align,
    })
    .describe("Links to unsubscribe. An email with this block gets no other footer."),
] as const;
const leaf = z.discriminatedUnion("kind", leaves);
const columns = z.object({
  id: blockId,
  kind: z.literal("columns"),
  columns: z.array(z.array(leaf)).min(2).max(3),
});

const schema = z.object({
  format: z.literal(DESIGN_FORMAT),
  version: z.literal(1),
  look: z.object({
    background: colour,
    surface: colour,
    ink: colour,
    accent: colour,
    font: z.enum(EMAIL_FONT_NAMES),
    width: z.int().min(320).max(800),
  }),
  language: z.string().regex(/^[A-Za-z]{2,3}(-[A-Za-z0-9]{2,8})*$/, "Must be a language tag like en."),
  preheader: words.describe("Preview text that inboxes show after the subject."),
  blocks: z.array(z.discriminatedUnion("kind", [...leaves, columns])),
});

export type Design = z.infer<typeof schema>;
export type Block = Design["blocks"][number];
export type Leaf = z.infer<typeof leaf>;
export type Columns = z.infer<typeof columns>;
export type Align = z.infer<typeof align>;
export type Look = Design["look"];

/** Returns the faults of a design in our format with their paths. An empty list means that it is a {@link Design}. */
export function problemsOfDesign(input: unknown): Array<ErrorMessage & { path: PropertyKey[] }> {
  if (partsOf(input) > LIMITS.designParts.value)
    return [
      { path: [], ...withValues("Must have at most {most} parts.", { most: LIMITS.designParts.value }) },
    ];
  return schema.safeParse(input).error?.issues ?? [];
}

/** Returns the number of values in a design. Counting stops at the limit, so that a hostile design costs no more than a normal one. */
function partsOf(input: unknown): number {
  const pending = [input];
  let parts = 0;
  while (pending.length > 0 && parts <= LIMITS.designParts.value) {
    const value = pending.pop();
    parts += 1;
    if (typeof value !== "object" || value === null) continue;
    const inside: unknown[] = Object.values(value);
    if (inside.length > LIMITS.designParts.value) return inside.length;
    pending.push(...inside);
  }
  return parts;
}
