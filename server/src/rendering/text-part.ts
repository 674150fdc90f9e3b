// Converts the HTML of an email to a readable text part, including links.

import { decodeHTML, decodeHTMLAttribute } from "entities";
import { Parser } from "htmlparser2";

/**
 * Markers inside `markedText`, all noncharacters (Unicode 3.4, D14), which never occur in text for people.
 * PLACEHOLDER, digits and PLACEHOLDER_END represent a value inserted later and are treated like a word. With CONTROL in front they
 * represent something that prints nothing.
 */
export const PLACEHOLDER = "\uFDD0";
export const PLACEHOLDER_END = "\uFDD1";
export const CONTROL = "\uFDD2";
const CONTROLS = /\uFDD2(\d+)\uFDD1/g;
const LINE_EDGE = "\uFDD3";
const PARAGRAPH_EDGE = "\uFDD4";
const HARD_BREAK = "\uFDD5";
/** Repeated once per nesting level of the list item. */
const BULLET = "\uFDD6";

/** A run of markers with surrounding spaces. The look-behind keeps long runs of spaces linear. */
const MARKS = /(?<! ) *[\uFDD3-\uFDD6][ \uFDD3-\uFDD6]*/g;
/** Soft hyphens and invisible joiners used to pad previews. Joiners that shape letters (ZWJ, ZWNJ) stay. */
const INVISIBLE = /\u00AD|\u034F|\u200B|\uFEFF/g;
/** Matches text that needs cleanup: white space other than a space, two spaces in a row, or invisible characters. */
const UNTIDY = /[^\S ]|  |[\u00AD\u200B]|\u034F/;
const BLANK_LINES_MAX = 1;
const LIST_DEPTH_MAX = 10;

const PARAGRAPHS = namesOf("p h1 h2 h3 h4 h5 h6 ul ol dl blockquote pre hr figure table");
const LINES = namesOf(
  "address article aside body caption center dd div dt fieldset figcaption footer form header html legend main nav",
  "section tbody tfoot thead tr",
);
const CELLS = namesOf("td th");
const UNSEEN = namesOf("head style script title template select object video audio svg");

/** Converts an HTML document or fragment to readable text. Does not wrap lines. Never throws. */
export function htmlToText(html: string): string {
  return resolveMarks(markedText(withoutMarks(html)));
}

/**
 * Returns HTML without characters or entities that would be taken for a marker or placeholder.
 * They are replaced and not removed because the surrounding text must not form a number reference.
 */
export function withoutMarks(html: string): string {
  return html
    .replace(/[\uFDD0-\uFDEF]/g, "\uFFFD")
    .replace(/&#(?:x([\da-f]+)|(\d+));?/gi, (reference, hexadecimal: string | undefined, decimal: string) => {
      const code = hexadecimal === undefined ? Number(decimal) : Number(`0x${hexadecimal}`);
      return code >= 0xfdd0 && code <= 0xfdef ? "\uFFFD" : reference;
    });
}

/** Called for each control number with the link and hidden element that contain it; equal texts mean the same elements. */
export type OnControl = (number: number, within: string) => void;

/**
 * Returns the text of `html` with markers in place of line breaks, for text that still gets values inserted.
 * Adjacent breaks must become one if nothing is between them, which is known only after rendering.
 */
export function markedText(html: string, onControl: OnControl = () => undefined): string {
  const writer = new TextWriter(onControl);
  const parser = new Parser(
    {
      onopentag: (name, attributes) => writer.open(name, attributes),
      onclosetag: (name) => writer.close(name),
      ontext: (text) => writer.write(text.includes("&") ? decodeHTML(text) : text),
      oncomment: (text) => writer.control(text),
    },
    // Decodes entities only where they are displayed, because the parser is twice as fast without decoding and most attributes need none.
    { decodeEntities: false },
  );
  parser.end(html);
  return writer.finish();
}

/** Replaces the markers of `markedText` with line breaks and list bullets. */
export function resolveMarks(marked: string): string {
  return marked.replace(MARKS, resolveRun).trim();
}

function resolveRun(run: string, offset: number, text: string): string {
  if (offset + run.length === text.length) return "";
  const bullet = run.lastIndexOf(BULLET);
  if (bullet === -1) return lineBreaks(run);
  // If only the last of several items has text, markers between its bullet and text are not breaks.
  let first = bullet;
  while (run[first - 1] === BULLET) first -= 1;
  return `${lineBreaks(run.slice(0, first))}${"  ".repeat(bullet - first)}- `;
}

function lineBreaks(run: string): string {
  let hard = 0;
  let edge = 0;
  let startsHard = false;
  for (const mark of run) {
    if (mark === HARD_BREAK) {
      startsHard ||= edge === 0;
      hard += 1;
    } else if (mark === PARAGRAPH_EDGE) edge = 2;
    else if (mark === LINE_EDGE) edge = Math.max(edge, 1);
  }
  // As in a browser, a <br> that ends a block adds nothing, while one between two blocks is an empty line.
  const breaks = Math.max(edge, hard === 0 || startsHard ? hard : hard + 1);
  return "\n".repeat(Math.min(breaks, BLANK_LINES_MAX + 1));
}

/** Walks the document and collects its text. */
class TextWriter {
  private written: string[] = [];
  private endsWithSpace = true;
  private depth = 0;
  /** Depth of the outermost hidden element; 0 outside of hidden elements. */
  private unseenFrom = 0;
  private listDepth = 0;
  private preDepth = 0;
  /** The link being read. Its text is collected separately because the URL follows the text. */
  private link: { depth: number; number: number; address: string; before: string[] } | null = null;
  private links = 0;
  private readonly onControl: OnControl;

  constructor(onControl: OnControl) {
    this.onControl = onControl;
  }

  open(name: string, attributes: Record<string, string>): void {
    this.depth += 1;
    if (this.unseenFrom > 0) return;
    if (isUnseen(name, attributes)) {
      this.unseenFrom = this.depth;
      return;
    }
    if (name === "br") this.mark(HARD_BREAK);
    else if (name === "img") this.write(decodeHTMLAttribute(attributes["alt"] ?? ""));
    else if (name === "a") this.openLink(decodeHTMLAttribute(attributes["href"] ?? ""));
    else if (name === "li")
      this.mark(LINE_EDGE + BULLET.repeat(Math.min(Math.max(this.listDepth, 1), LIST_DEPTH_MAX)));
    else this.edge(name);
    if (name === "hr") this.write("---");
    if (name === "ul" || name === "ol") this.listDepth += 1;
    if (name === "pre") this.preDepth += 1;
  }

  close(name: string): void {
    this.depth -= 1;
    if (this.unseenFrom > 0) {
      if (this.depth < this.unseenFrom) this.unseenFrom = 0;
      return;
    }
    if (this.link !== null && this.depth < this.link.depth) this.closeLink();
    if (name === "ul" || name === "ol") this.listDepth -= 1;
    if (name === "pre") this.preDepth -= 1;
    if (CELLS.has(name)) this.write(" ");
    else if (name === "li") this.mark(LINE_EDGE);
    else this.edge(name);
  }

  /** Adds text with white space collapsed like in a browser. */
  write(text: string): void {
    if (this.unseenFrom > 0) {
      this.control(text);
      return;
    }
    let shown = text;
    if (this.preDepth > 0) shown = text.replace(/\r\n?|\n/g, HARD_BREAK);
    else if (UNTIDY.test(text)) shown = text.replace(INVISIBLE, "").replace(/\s+/g, " ");
    if (this.preDepth === 0 && this.endsWithSpace && shown.startsWith(" ")) shown = shown.slice(1);
    if (shown === "") return;
    if (shown.includes(CONTROL)) this.notify(shown);
    this.written.push(shown);
    this.endsWithSpace = shown.endsWith(" ");
  }

  /** Adds the controls of hidden text, because a block that starts in a comment contains the text after the comment. */
  control(text: string): void {
    const controls = text.match(CONTROLS);
    if (controls === null) return;
    this.notify(text);
    this.written.push(controls.join(""));
  }

  private notify(text: string): void {
    const within = `${this.link?.number ?? 0} ${this.unseenFrom}`;
    for (const [, number] of text.matchAll(CONTROLS)) this.onControl(Number(number), within);
  }

  finish(): string {
    if (this.link !== null) this.closeLink();
    return this.written.join("");
  }

  private mark(marks: string): void {
    this.written.push(marks);
    this.endsWithSpace = true;
  }

  private edge(name: string): void {
    if (PARAGRAPHS.has(name)) this.mark(this.listDepth > 0 ? LINE_EDGE : PARAGRAPH_EDGE);
    else if (LINES.has(name)) this.mark(LINE_EDGE);
  }

  private openLink(address: string): void {
    if (this.link !== null) this.closeLink();
    this.link = {
      depth: this.depth,
      number: ++this.links,
      address: address.replace(/\s+/g, " ").trim(),
      before: this.written,
    };
    this.written = [];
  }

  private closeLink(): void {
    if (this.link === null) return;
    const { address, before } = this.link;
    const inside = this.written.length === 1 ? (this.written[0] ?? "") : this.written.join("");
    const words = inside.replace(MARKS, " ").trim();
    this.link = null;
    this.written = before;
    if (/^$|^#|^(?:javascript|data):/i.test(address) || bareAddress(words) === bareAddress(address)) {
      this.written.push(inside);
      return;
    }
    // The URL belongs right after the words, in front of any trailing breaks.
    let end = inside.length;
    while (/[ \uFDD3-\uFDD6]/.test(inside[end - 1] ?? "")) end -= 1;
    this.written.push(inside.slice(0, end), words === "" ? address : ` (${address})`, inside.slice(end));
    this.endsWithSpace = end < inside.length;
  }
}

/** Returns whether an element is hidden according to its own tag, with name and attributes from htmlparser2. */
export function isUnseen(name: string, attributes: Record<string, string>): boolean {
  return UNSEEN.has(name) || isHidden(attributes);
}

/** Returns whether attributes hide an element. A style that depends on a block does not count. */
function isHidden(attributes: Record<string, string>): boolean {
  if (Object.hasOwn(attributes, "hidden")) return true;
  const style = attributes["style"] ?? "";
  return /(?:^|;)\s*display\s*:\s*none\b/i.test(style) && !style.includes(CONTROL);
}

function bareAddress(address: string): string {
  return address.replace(/^(?:https?:\/\/|mailto:|tel:)/i, "").replace(/\/$/, "");
}

function namesOf(...lists: readonly string[]): ReadonlySet<string> {
  return new Set(lists.flatMap((list) => list.split(" ")));
}
