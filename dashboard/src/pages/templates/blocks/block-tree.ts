// Pure operations on a design's blocks: insert, change, move, copy and remove. Blocks are at the top level or in a column.
import type { Align, Block, Design, Leaf, RichText } from "@postloft/contract/design.ts";
import { t } from "../../../text/t.ts";

export type BlockKind = Block["kind"];

/** Kinds of blocks in display order, with their labels. */
export const BLOCK_NAMES: Readonly<Record<BlockKind, string>> = {
  text: t("Text"),
  heading: t("Heading"),
  button: t("Button"),
  image: t("Image"),
  columns: t("Columns"),
  divider: t("Divider"),
  space: t("Space"),
  html: t("HTML"),
};
export const BLOCK_KINDS = Object.keys(BLOCK_NAMES) as BlockKind[];
/** Kinds allowed in a column. */
export const LEAF_KINDS = BLOCK_KINDS.filter((kind) => kind !== "columns");

const LEFT: Align = "left";
const ID_BYTES = 16;

export function textOf(...paragraphs: string[]): RichText {
  return {
    type: "doc",
    content: paragraphs.map((text) => ({
      type: "paragraph",
      ...(text === "" ? {} : { content: [{ type: "text", text }] }),
    })),
  };
}

/** Not crypto.randomUUID, because browsers lack it on plain http. */
function newId(): string {
  const bytes = crypto.getRandomValues(new Uint8Array(ID_BYTES));
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("");
}

export function newBlock(kind: BlockKind): Block {
  return kind === "columns"
    ? { id: newId(), kind, columns: [[newLeaf("text")], [newLeaf("text")]] }
    : newLeaf(kind);
}

function newLeaf(kind: Leaf["kind"]): Leaf {
  const id = newId();
  switch (kind) {
    case "heading":
      return { id, kind, level: 1, text: t("A heading"), align: LEFT };
    case "text":
      return { id, kind, text: textOf(t("Write here.")), align: LEFT };
    case "button":
      return { id, kind, label: t("Read more"), url: "https://example.com", align: LEFT };
    case "image":
      return { id, kind, url: "", alt: "", link: "", width: null, align: "center" };
    case "divider":
      return { id, kind };
    case "space":
      return { id, kind, height: 24 };
    case "html":
      return { id, kind, html: "<p>…</p>" };
  }
}

/** Returns a design that contains only these blocks. */
export function designOf(blocks: Block[], language: string, accent = "#2f3437"): Design {
  return {
    format: "postloft-blocks",
    version: 1,
    look: { background: "#f5f5f4", surface: "#ffffff", ink: "#1c1917", accent, font: "sans", width: 600 },
    language,
    preheader: "",
    blocks,
  };
}

/** Returns whether a design consists of blocks, because other editors store their own designs. */
export function isBlocks(design: Readonly<Record<string, unknown>> | null | undefined): boolean {
  return design?.["format"] === ("postloft-blocks" satisfies Design["format"]);
}

type List<One extends Block> = readonly One[];

export function inserted<One extends Block>(blocks: List<One>, at: number, block: One): One[] {
  return [...blocks.slice(0, at), block, ...blocks.slice(at)];
}

export function replaced<One extends Block>(blocks: List<One>, block: One): One[] {
  return blocks.map((one) => (one.id === block.id ? block : one));
}

/** Returns the blocks with the image URL set on the block with this id, at any level. */
export function withImage<One extends Block>(blocks: List<One>, id: string, url: string): One[] {
  return blocks.map((block): One => {
    if (block.kind === "columns")
      return { ...block, columns: block.columns.map((leaves) => withImage(leaves, id, url)) };
    return block.kind === "image" && block.id === id ? { ...block, url } : block;
  });
}

export function without<One extends Block>(blocks: List<One>, id: string): One[] {
  return blocks.filter((one) => one.id !== id);
}

/** Returns the blocks with one moved up (-1) or down (1), if possible. */
export function moved<One extends Block>(blocks: List<One>, id: string, by: -1 | 1): One[] {
  const at = blocks.findIndex((one) => one.id === id);
  const [one, other]: readonly (One | undefined)[] = [blocks[at], blocks[at + by]];
  if (one === undefined || other === undefined) return [...blocks];
  return blocks.map((block, place) => (place === at ? other : place === at + by ? one : block));
}

/** Returns the blocks with a copy inserted after the original. The copy gets new ids. */
export function duplicated<One extends Block>(blocks: List<One>, id: string): One[] {
  const at = blocks.findIndex((one) => one.id === id);
  const block = blocks[at];
  return block === undefined ? [...blocks] : inserted(blocks, at + 1, copyOf(block));
}

function copyOf<One extends Block>(block: One): One {
  const id = newId();
  return block.kind === "columns"
    ? { ...block, id, columns: block.columns.map((leaves) => leaves.map(copyOf)) }
    : { ...block, id };
}

/** Returns the ids of all blocks in order. The outline does not change while text is edited. */
export function outlineOf(blocks: List<Block>): string {
  return blocks
    .map((block) =>
      block.kind === "columns" ? `${block.id}[${block.columns.map(outlineOf).join("|")}]` : block.id,
    )
    .join(" ");
}

/** Returns a block's first words to identify it. */
export function summaryOf(block: Block): string {
  switch (block.kind) {
    case "heading":
      return block.text;
    case "text":
      return wordsOf(block.text);
    case "button":
      return block.label;
    case "image":
      return block.alt === "" ? block.url : block.alt;
    case "space":
      return `${block.height} px`;
    case "html":
      return block.html.slice(0, 80);
    case "columns":
      return block.columns.map((leaves) => leaves.map(summaryOf).join(" ")).join(" · ");
    case "divider":
      return "";
  }
}

function wordsOf(node: unknown): string {
  const { text, content = [] } = node as { text?: string; content?: unknown[] };
  return text ?? content.map(wordsOf).join(" ");
}
