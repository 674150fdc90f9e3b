// Finds the links of an HTML template and the position of its open pixel as offsets, without changing the source. Pure.

import { decodeHTMLAttribute } from "entities";
import { QuoteType, Tokenizer, type TokenizerCallbacks } from "htmlparser2";
import { readUrlValues, replaceHarmfulUrls, withoutHarmfulUrls, type UrlValue } from "./harmful-urls.ts";
import { scanTemplate } from "./scan-template.ts";
import type { TemplatePiece } from "./template-scan.ts";

/** The value of an `href` attribute, without quotes. */
export interface FoundLink {
  start: number;
  end: number;
  /** Whether the URL is the same for every recipient. */
  isFixed: boolean;
}

export interface FoundPlaces {
  /** In source order. */
  links: FoundLink[];
  /** Position before `</body>`, or at the end. */
  pixelAt: number;
}

type Mustache = Exclude<TemplatePiece, { kind: "content" }>;

interface Href {
  start: number;
  end: number;
  quote: QuoteType;
}

interface Finder {
  /** The source with every mustache masked, at the same length. */
  masked: string;
  hrefs: Href[];
  bodyEnd: number;
}

const LINK_TAGS = new Set(["a", "area"]);
/** VML elements that Outlook draws in place of HTML: `<v:roundrect href>` is a button. */
const OUTLOOK_TAG = /^v:/;
const CONDITIONAL_COMMENT = /^\s*\[if\s[^\]]*\]>/i;
/** Attributes that opt a link out of tracking; the second name was introduced by Amazon SES. */
const OPT_OUTS = new Set(["data-no-track", "ses:no-track"]);

/**
 * Masks printing mustaches with this character and all others with spaces, so that tags and attributes parse as they will after rendering.
 */
const WORD = "\uFDD0";

/**
 * Returns the links to track and the position of the pixel. `pieces` come from the scanner; pass an empty list if the source has no
 * mustaches.
 */
export function findLinks(source: string, pieces: readonly TemplatePiece[]): FoundPlaces {
  const mustaches = pieces.filter(({ kind }) => kind !== "content");
  const finder: Finder = { masked: masked(source, mustaches), hrefs: [], bodyEnd: -1 };
  readTags(finder, 0, source.length, false);

  const links: FoundLink[] = [];
  let next = 0;
  for (const href of finder.hrefs) {
    while ((mustaches[next]?.end ?? Infinity) < href.start) next += 1;
    const near: Mustache[] = [];
    for (let at = next; (mustaches[at]?.start ?? Infinity) <= href.end; at += 1)
      near.push(mustaches[at] as Mustache);
    const inside = near.filter(({ start, end }) => start < href.end && end > href.start);
    if (!isWhole(source, inside) || (href.quote === QuoteType.Unquoted && near.some(isInvisible))) continue;
    links.push({ start: href.start, end: href.end, isFixed: inside.length === 0 });
  }
  return { links, pixelAt: pixelPlace(source, finder.bodyEnd, mustaches) };
}

/** All URLs of a message template. */
export interface ReadUrls {
  /** The source without harmful URLs written by the author. */
  source: string;
  /** The pieces of the source; null if the template is invalid. */
  pieces: readonly TemplatePiece[] | null;
  /** URLs that start with a variable part. */
  open: readonly UrlValue[];
  /** Whether variables or blocks may insert a URL that is not visible in the source. */
  isHidden: boolean;
}

/** @param step called before each parse because every parse has a separate time limit */
export function readUrls(html: string, step: () => void): ReadUrls {
  step();
  if (!html.includes("{{"))
    return { source: withoutHarmfulUrls(html), pieces: [], open: [], isHidden: false };
  const { pieces, problems } = scanTemplate(html);
  if (problems.length > 0) return { source: html, pieces: null, open: [], isHidden: false };
  const { fixed, ...found } = findUrls(html, pieces);
  const source = replaceHarmfulUrls(html, fixed);
  // Replacements shift the rest of the source. They are rare, so the whole source is parsed again.
  return source === html ? { source, pieces, ...found } : readUrls(source, step);
}

/** Matches a URL with a harmless constant start. */
const SETTLED = /^\s*(?:(?:https?|mailto|tel|sms|cid):|[#/?.])/i;

function findUrls(source: string, pieces: readonly TemplatePiece[]) {
  const mustaches = pieces.filter(({ kind }) => kind !== "content");
  const { values, names } = readUrlValues(masked(source, mustaches));
  const found = { fixed: [] as UrlValue[], open: [] as UrlValue[], isHidden: false };
  // Only unescaped output can insert a whole attribute.
  if (/\{\{~?[{&]/.test(source)) found.isHidden = [...names].some((name) => name.includes(WORD));
  let next = 0;
  for (const value of values) {
    while ((mustaches[next]?.end ?? Infinity) < value.start) next += 1;
    const near: Mustache[] = [];
    for (let at = next; (mustaches[at]?.start ?? Infinity) <= value.end; at += 1)
      near.push(mustaches[at] as Mustache);
    const inside = near.filter(({ start, end }) => start < value.end && end > value.start);
    const [first] = inside;
    if (!isWhole(source, inside) || (!value.isQuoted && near.some(isInvisible))) found.isHidden = true;
    else if (first === undefined) found.fixed.push(value);
    else if (!SETTLED.test(decodeHTMLAttribute(source.slice(value.start, first.start))))
      found.open.push(value);
  }
  return found;
}

function masked(source: string, mustaches: readonly Mustache[]): string {
  if (mustaches.length === 0) return source;
  let text = "";
  let copied = 0;
  for (const { kind, start, end } of mustaches) {
    const mask = kind === "value" || kind === "escape" ? WORD : " ";
    text += source.slice(copied, start) + mask.repeat(end - start);
    copied = end;
  }
  return text + source.slice(copied);
}

/**
 * Returns whether a mustache prints nothing. In or next to an unquoted value such a block may end the value, so the end of the link is
 * unknown.
 */
function isInvisible({ kind }: Mustache): boolean {
  return kind !== "value" && kind !== "escape";
}

/** Returns whether every block opened in these mustaches is also closed in them. Literal braces are never part of a URL. */
function isWhole(source: string, mustaches: readonly Mustache[]): boolean {
  let depth = 0;
  for (const mustache of mustaches) {
    if (mustache.kind === "raw" || mustache.kind === "escape") return false;
    const change = depthChange(source, mustache);
    depth += change;
    if (depth < 0 || (depth === 0 && change === 0 && mustache.kind === "control")) return false;
  }
  return depth === 0;
}

/** Returns 1 for a mustache that opens a block, -1 for one that closes a block, else 0. */
function depthChange(source: string, { kind, start }: Mustache): number {
  if (kind !== "control") return 0;
  const sign = /\{\{~?(#|\/|\^(?!\s*~?\}\}))?/y;
  sign.lastIndex = start;
  const [, found] = sign.exec(source) ?? [];
  return found === undefined ? 0 : found === "/" ? -1 : 1;
}

/** Returns the pixel position. Within a block the pixel could be missing or repeated, so it moves to the end. */
function pixelPlace(source: string, bodyEnd: number, mustaches: readonly Mustache[]): number {
  if (bodyEnd === -1) return source.length;
  const before = mustaches.filter(({ start }) => start < bodyEnd);
  const depth = before.reduce((sum, mustache) => sum + depthChange(source, mustache), 0);
  return depth === 0 ? bodyEnd : source.length;
}

const nothing = () => undefined;

/** Tokenizer callbacks that are not needed here. */
const IGNORED = {
  onattribentity: nothing,
  oncdata: nothing,
  ondeclaration: nothing,
  onend: nothing,
  onprocessinginstruction: nothing,
  ontext: nothing,
  ontextentity: nothing,
};

/** Reads the tags from `from` to `to`. Tags in a conditional comment apply to Outlook only. */
function readTags(finder: Finder, from: number, to: number, isOutlook: boolean): void {
  const { masked: source } = finder;
  let isLink = false;
  let isWanted = true;
  let attribute = "";
  let value = { start: 0, end: 0 };
  let found: Href[] = [];
  const endTag = () => {
    if (isLink && isWanted) finder.hrefs.push(...found);
    found = [];
  };
  const callbacks: TokenizerCallbacks = {
    ...IGNORED,
    onopentagname(start, end) {
      const name = source.slice(from + start, from + end).toLowerCase();
      isLink = LINK_TAGS.has(name) || (isOutlook && OUTLOOK_TAG.test(name));
      isWanted = true;
    },
    onattribname(start, end) {
      attribute = isLink ? source.slice(from + start, from + end).toLowerCase() : "";
      value = { start: 0, end: 0 };
      if (OPT_OUTS.has(attribute)) isWanted = false;
    },
    onattribdata(start, end) {
      value = { start: from + start, end: from + end };
    },
    onattribend(quote) {
      if (attribute === "href" && value.end > value.start) found.push({ ...value, quote });
    },
    onopentagend: endTag,
    onselfclosingtag: endTag,
    onclosetag(start, end) {
      const name = source.slice(from + start, from + end);
      if (!isOutlook && name.toLowerCase() === "body") finder.bodyEnd = from + start - "</".length;
    },
    oncomment(start, end, offset) {
      const comment = source.slice(from + start, from + end - offset);
      const opening = isOutlook ? null : CONDITIONAL_COMMENT.exec(comment);
      if (opening !== null) readTags(finder, from + start + opening[0].length, from + end - offset, true);
    },
  };
  const tokenizer = new Tokenizer({ decodeEntities: false }, callbacks);
  tokenizer.write(from === 0 && to === source.length ? source : source.slice(from, to));
  tokenizer.end();
}
