// Pure operations on a design's blocks: insert, change, move, copy and remove. Blocks are at the top level or in a column.
import type { Brand } from "@postloft/contract/brand.ts";
import type { Align, Block, Design, Leaf, Look, RichText } from "@postloft/contract/design.ts";
import type { Project } from "../../../session/queries.ts";
import { t } from "../../../text/t.ts";

export type BlockKind = Block["kind"];

/** Kinds of blocks in display order, with their labels. */
export const BLOCK_NAMES: Readonly<Record<BlockKind, string>> = {
  text: t("Text"),
  heading: t("Heading"),
  button: t("Button"),
  image: t("Image"),
  logo: t("Logo"),
  columns: t("Columns"),
  divider: t("Divider"),
  space: t("Space"),
  social: t("Social links"),
  footer: t("Footer"),
  unsubscribe: t("Unsubscribe links"),
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

/** The parts of a project that new blocks and emails have. */
export type BrandedProject = Pick<Project, "name" | "logoUrl" | "brand" | "language">;

/** The width of the logo in new emails. */
const LOGO_WIDTH = 140;

/** @param project its logo is in new logo blocks */
export function newBlock(kind: BlockKind, project?: BrandedProject): Block {
  return kind === "columns"
    ? { id: newId(), kind, columns: [[newLeaf("text")], [newLeaf("text")]] }
    : newLeaf(kind, project);
}

// oxlint-disable-next-line complexity -- a list of all kinds
function newLeaf(kind: Leaf["kind"], project?: BrandedProject): Leaf {
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
    case "logo":
      return {
        id,
        kind,
        url: project?.logoUrl ?? "",
        alt: project?.name ?? "",
        link: "",
        width: LOGO_WIDTH,
        align: LEFT,
      };
    case "social":
      return { id, kind, links: [{ service: "website", url: "" }], align: "center" };
    case "footer":
      return { id, kind, align: "center" };
    case "unsubscribe":
      return {
        id,
        kind,
        label: t("Unsubscribe"),
        manageLabel: t("Manage your subscription"),
        align: "center",
      };
  }
}

/** Returns the styles of a brand. */
export function lookOf({ background, surface, ink, accent, font }: Brand): Omit<Look, "width"> {
  return { background, surface, ink, accent, font };
}

/** Returns a design that contains only these blocks, in the colors and the font of the project. */
export function designOf(blocks: Block[], { language, brand }: Pick<Project, "language" | "brand">): Design {
  return {
    format: "postloft-blocks",
    version: 1,
    look: { ...lookOf(brand), width: 600 },
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
    return (block.kind === "image" || block.kind === "logo") && block.id === id ? { ...block, url } : block;
  });
}

export function without<One extends Block>(blocks: List<One>, id: string): One[] {
  return blocks.filter((one) => one.id !== id);
}

/** A place for a block: in a column, or at the top level if `columns` is null. */
export interface Place {
  /** Id of the columns block. */
  columns: string | null;
  column: number;
  /** The place is before the block at this position. */
  at: number;
}

/** Returns the blocks with one moved to a place. Nothing changes if the place is gone, or if columns would be in a column. */
export function placed(blocks: List<Block>, id: string, { columns, column, at }: Place): Block[] {
  const block = leavesAndBlocks(blocks).find((one) => one.id === id);
  const target = columns === null ? blocks : columnOf(blocks, columns, column);
  if (block === undefined || target === undefined) return [...blocks];
  if (columns !== null && block.kind === "columns") return [...blocks];
  const before = target.findIndex((one) => one.id === id);
  const position = before !== -1 && before < at ? at - 1 : at;
  const others = blocks
    .filter((one) => one.id !== id)
    .map((one) =>
      one.kind === "columns" ? { ...one, columns: one.columns.map((leaves) => without(leaves, id)) } : one,
    );
  if (columns === null) return inserted(others, position, block);
  return others.map((one) =>
    one.kind === "columns" && one.id === columns
      ? {
          ...one,
          columns: one.columns.map((leaves, place) =>
            place === column ? inserted(leaves, position, block as Leaf) : leaves,
          ),
        }
      : one,
  );
}

function leavesAndBlocks(blocks: List<Block>): Block[] {
  return blocks.flatMap((block) => (block.kind === "columns" ? [block, ...block.columns.flat()] : [block]));
}

function columnOf(blocks: List<Block>, id: string, column: number): Leaf[] | undefined {
  const block = blocks.find((one) => one.id === id);
  return block?.kind === "columns" ? block.columns[column] : undefined;
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
    case "logo":
      return block.alt === "" ? block.url : block.alt;
    case "space":
      return `${block.height} px`;
    case "html":
      return block.html.slice(0, 80);
    case "columns":
      return block.columns.map((leaves) => leaves.map(summaryOf).join(" ")).join(" · ");
    case "social":
      return block.links.map(({ url }) => url).join(" · ");
    case "unsubscribe":
      return block.label;
    case "divider":
    case "footer":
      return "";
  }
}

function wordsOf(node: unknown): string {
  const { text, content = [] } = node as { text?: string; content?: unknown[] };
  return text ?? content.map(wordsOf).join(" ");
}
