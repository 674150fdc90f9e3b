// Converts a design to HTML with tables and inline styles, as email programs need it (docs/decisions/0062-blocks.md). The server that
// stores it and the editor that shows it share this code. HTML cannot be converted back to blocks.
import { SERVICE_NAMES } from "./social-links.ts";
import type {
  Align,
  Block,
  Columns,
  Design,
  Inline,
  Leaf,
  Look,
  Paragraph,
  RichText,
  TextList,
} from "./design.ts";
import {
  alignedStyle,
  bodyStyle,
  buttonStyle,
  columnStyle,
  columnWidth,
  DIVIDER_STYLE,
  headingStyle,
  imageStyle,
  innerStyle,
  linkStyle,
  LIST_ITEM_STYLE,
  LIST_STYLE,
  NARROW_COLUMN,
  NARROW_INNER,
  NARROW_PX,
  PAGE_PADDING,
  paragraphStyle,
  SMALL,
  spaceStyle,
  surfaceStyle,
} from "./design-styles.ts";
import { framedFooter } from "./footer-frame.ts";

const TABLE = `role="presentation" cellpadding="0" cellspacing="0" border="0"`;
/** Wins against the inline styles of the elements. */
const important = (style: string) =>
  style
    .split(";")
    .map((one) => `${one}!important`)
    .join(";");
const NARROW = `@media (max-width:${NARROW_PX}px){.column{${important(NARROW_COLUMN)}}.inner{${important(NARROW_INNER)}}}`;

/** Fills the line of an inbox after the preview text, so that the beginning of the body doesn't follow there. */
const PREVIEW_PADDING = "&zwnj;&nbsp;".repeat(150);

/** Returns the hidden element that inboxes show after the subject. Its variables are unchanged. */
export function previewTextElement(text: string): string {
  return `<div style="display:none;max-height:0;overflow:hidden">${escapeAround(text)}${PREVIEW_PADDING}</div>`;
}

/** Returns the HTML that earlier versions generated, without padding after the preview text. */
export function withoutPreviewPadding(html: string): string {
  return html.replace(PREVIEW_PADDING, "");
}

/** Returns the complete body of an email with its variables unchanged. */
export function designHtml({ look, language, preheader, blocks }: Design): string {
  const content = blocks.map((block) => blockHtml(block, look)).join("\n");
  return `<!doctype html>
<html lang="${escapeAround(language)}">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width,initial-scale=1">
<meta name="color-scheme" content="light dark">
<style>${NARROW}</style>
</head>
<body style="${bodyStyle(look)}">
${preheader === "" ? "" : `${previewTextElement(preheader)}\n`}<table ${TABLE} width="100%" style="background:${look.background}"><tr><td align="center" style="${PAGE_PADDING}">
<table ${TABLE} width="${look.width}" style="${surfaceStyle(look)}"><tr><td class="inner" style="${innerStyle(look)}">
${content}
</td></tr></table>
</td></tr></table>
</body>
</html>
`;
}

function blockHtml(block: Block, look: Look): string {
  return block.kind === "columns" ? columnsHtml(block, look) : leafHtml(block, look);
}

function columnsHtml({ columns }: Columns, look: Look): string {
  const width = columnWidth(columns.length);
  const cells = columns.map((leaves, at) => {
    const inside = leaves.map((leaf) => leafHtml(leaf, look)).join("\n");
    return `<td class="column" width="${width}" valign="top" style="${columnStyle(at, columns.length)}">\n${inside}\n</td>`;
  });
  return `<table ${TABLE} width="100%"><tr>\n${cells.join("\n")}\n</tr></table>`;
}

function leafHtml(leaf: Leaf, look: Look): string {
  switch (leaf.kind) {
    case "heading":
      return `<h${leaf.level} style="${headingStyle(leaf)}">${escapeAround(leaf.text)}</h${leaf.level}>`;
    case "text":
      return richTextHtml(leaf.text, leaf.align, look);
    case "button":
      return aligned(
        leaf.align,
        `<a href="${escapeAround(leaf.url)}" style="${buttonStyle(look)}">${escapeAround(leaf.label)}</a>`,
      );
    case "image":
      return imageHtml(leaf);
    case "divider":
      return `<hr style="${DIVIDER_STYLE}">`;
    case "space":
      return `<div style="${spaceStyle(leaf.height)}">&nbsp;</div>`;
    case "html":
      return leaf.html;
    case "logo":
      return imageHtml(leaf);
    case "social":
      return socialHtml(leaf, look);
    case "footer":
      return framedFooter({ ink: look.ink, align: leaf.align }, look.surface);
    case "unsubscribe":
      return unsubscribeHtml(leaf, look);
  }
}

function aligned(align: Align, content: string, size?: string): string {
  return `<div style="${alignedStyle(align, size)}">${content}</div>`;
}

function imageHtml({ url, alt, link, width, align }: Extract<Leaf, { kind: "image" | "logo" }>): string {
  // An image without an address is left out, so that no broken image appears.
  if (url === "") return "";
  const size = width === null ? "" : ` width="${width}"`;
  const image = `<img src="${escapeAround(url)}" alt="${escapeAround(alt)}"${size} style="${imageStyle(width)}">`;
  return aligned(align, link === "" ? image : `<a href="${escapeAround(link)}">${image}</a>`);
}

/** Names instead of icons, because email programs block images and don't show SVG. */
function socialHtml({ links, align }: Extract<Leaf, { kind: "social" }>, look: Look): string {
  const shown = links.filter(({ url }) => url.trim() !== "");
  if (shown.length === 0) return "";
  return aligned(
    align,
    shown.map(({ service, url }) => linkHtml(url, SERVICE_NAMES[service], look)).join(SEPARATOR),
    SMALL,
  );
}

const SEPARATOR = ` <span aria-hidden="true">·</span> `;

function unsubscribeHtml(
  { label, manageLabel, align }: Extract<Leaf, { kind: "unsubscribe" }>,
  look: Look,
): string {
  const links = [linkHtml("{{unsubscribeUrl}}", label, look)];
  if (manageLabel.trim() !== "") links.push(linkHtml("{{manageUrl}}", manageLabel, look));
  return aligned(align, links.join(SEPARATOR), SMALL);
}

function linkHtml(url: string, label: string, look: Look): string {
  return `<a href="${escapeAround(url)}" style="${linkStyle(look)}">${escapeAround(label)}</a>`;
}

function richTextHtml({ content }: RichText, align: Align, look: Look): string {
  const styled = (node: Paragraph | TextList) =>
    node.type === "paragraph"
      ? `<p style="${paragraphStyle(align)}">${inlineHtml(node, look)}</p>`
      : listHtml(node, look);
  return content.map(styled).join("\n");
}

function listHtml({ type, content }: TextList, look: Look): string {
  const tag = type === "bulletList" ? "ul" : "ol";
  const items = content.map((item) => {
    const inside = item.content.map((node) =>
      node.type === "paragraph" ? inlineHtml(node, look) : listHtml(node, look),
    );
    return `<li style="${LIST_ITEM_STYLE}">${inside.join("<br>")}</li>`;
  });
  return `<${tag} style="${LIST_STYLE}">${items.join("")}</${tag}>`;
}

function inlineHtml({ content = [] }: Paragraph, look: Look): string {
  // Keeps an empty line.
  if (content.length === 0) return "&nbsp;";
  return content.map((node) => (node.type === "hardBreak" ? "<br>" : textHtml(node, look))).join("");
}

const TAGS = { bold: "strong", italic: "em", underline: "u", strike: "s", code: "code" } as const;

function textHtml({ text, marks = [] }: Extract<Inline, { type: "text" }>, look: Look): string {
  return marks.reduce(
    (inside, mark) =>
      mark.type === "link"
        ? `<a href="${escapeAround(mark.attrs.href)}" style="${linkStyle(look)}">${inside}</a>`
        : `<${TAGS[mark.type]}>${inside}</${TAGS[mark.type]}>`,
    escapeAround(text),
  );
}

const ENTITIES = [
  ["&", "&amp;"],
  ["<", "&lt;"],
  [">", "&gt;"],
  ['"', "&quot;"],
] as const;
/** How many characters are escaped at a time. Each replacement in a whole megabyte would copy it. */
const PIECE = 8_192;

/** Uses split and join, because regular expressions take three times as long to replace half a million characters. */
function escapeText(text: string): string {
  let escaped = "";
  for (let from = 0; from < text.length; from += PIECE) {
    let piece = text.slice(from, from + PIECE);
    for (const [char, entity] of ENTITIES) if (piece.includes(char)) piece = piece.split(char).join(entity);
    escaped += piece;
  }
  return escaped;
}

/** Escapes text for HTML. Leaves `{{…}}` unchanged, because the renderer reads it and escapes the inserted values. */
export function escapeAround(text: string): string {
  const parts: string[] = [];
  /** Start of the text that is not escaped yet, and start of the expressions before it that are not copied yet. */
  let from = 0;
  let kept = 0;
  for (let open = text.indexOf("{{"); open !== -1; open = text.indexOf("{{", from)) {
    const close = text.indexOf("}}", open);
    if (close === -1) break;
    // Expressions that directly follow each other are copied together.
    if (open > from) {
      parts.push(text.slice(kept, from), escapeText(text.slice(from, open)));
      kept = open;
    }
    from = text[close + 2] === "}" ? close + 3 : close + 2;
  }
  return parts.join("") + text.slice(kept, from) + escapeText(text.slice(from));
}
