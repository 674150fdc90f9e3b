// Finds merge tags of other services in an email and converts them to our variables, in one pass over the text.
import { convertCondition, convertMailchimpCondition } from "./conditions.ts";
import { DIALECTS, type Dialect, type Service } from "./dialects.ts";
import { decodeEntities } from "./entities.ts";
import { mustacheTagAt, pathOfName } from "./mustache-tags.ts";
import {
  pathOf,
  pathOfField,
  replacementOf,
  withNames,
  type MergeTagContext,
  type NamedContext,
} from "./variables.ts";

/** A merge tag of another service, as offsets into the source. */
export interface MergeTag {
  start: number;
  end: number;
  service: Service;
  text: string;
  /** The equivalent here; empty if the tag can be removed, null if a person has to decide. */
  replacement: string | null;
}

/** A part of an email. */
export interface MergeTagSource {
  text: string;
  isHtml: boolean;
}

/** Matches everything that can begin a tag, or text without tags. */
const BEGINNINGS = /\\?\{\{|\{[%$A-Zu]|\*(?:\||%7[Cc])|<%|%|@TrackLink/g;
const LIQUID = /\{%-?\s{0,9}(?<word>[a-z]{1,20})\b(?<rest>[^%{}]{0,500})-?%\}/y;
const COMMENT_END = /\}\}/g;
const LONG_COMMENT_END = /--~?\}\}/g;
const RAW = /\{%-?\s{0,9}endraw\s{0,9}-?%\}/g;
const LIQUID_COMMENT = /\{%-?\s{0,9}endcomment\s{0,9}-?%\}/g;
const MAILCHIMP_CONDITION = /^(IF|IFNOT|ELSEIF):([\s\S]*)$/i;

/** Maximum number of tags read per part. A template can't have more variables (server/src/rendering/template-limits.ts). */
const TAGS_MAX = 1_500;
/** Maximum number of candidates checked per part. A long email has a few thousand, most of them percentages and variables. */
const PLACES_MAX = 20_000;

/** Open blocks, because `*|END:IF|*` does not say which block it closes; null for a block without an equivalent. */
type OpenBlocks = Array<"each" | "if" | "unless" | null>;

interface Reader {
  source: string;
  isHtml: boolean;
  context: NamedContext;
  open: OpenBlocks;
}

/** Returns the tags of each part in text order. Conditions may open in one part and close in a later one, as in blocks of a design. */
export function findMergeTags(
  sources: readonly MergeTagSource[],
  context: MergeTagContext,
): Array<readonly MergeTag[]> {
  const open: OpenBlocks = [];
  const named = withNames(context);
  const found = sources.map(({ text, isHtml }) => readTags({ source: text, isHtml, context: named, open }));
  const proven = new Set(found.flatMap((tags) => tags.filter(({ isProof }) => isProof).map(serviceOf)));
  return found.map((tags) =>
    tags
      .filter(({ needsProof, service }) => !needsProof || proven.has(service))
      .map(({ start, end, service, text, replacement }) => ({ start, end, service, text, replacement })),
  );
}

/** Returns the parts after replacing every tag with an equivalent. */
export function convertMergeTags(sources: readonly MergeTagSource[], context: MergeTagContext): string[] {
  const found = findMergeTags(sources, context);
  return sources.map(({ text }, at) => {
    let converted = "";
    let copied = 0;
    for (const { start, end, replacement } of found[at] ?? []) {
      if (replacement === null) continue;
      converted += text.slice(copied, start) + replacement;
      copied = end;
    }
    return converted + text.slice(copied);
  });
}

interface ReadTag extends MergeTag {
  /** Whether the tag alone proves that the email comes from this service. */
  isProof: boolean;
  needsProof: boolean;
}

const serviceOf = ({ service }: MergeTag) => service;

function readTags(reader: Reader): ReadTag[] {
  const { source } = reader;
  const tags: ReadTag[] = [];
  const beginnings = new RegExp(BEGINNINGS);
  let places = 0;
  for (let match = beginnings.exec(source); match !== null; match = beginnings.exec(source)) {
    places += 1;
    if (places > PLACES_MAX || tags.length === TAGS_MAX) break;
    const isBraces = match[0].endsWith("{{");
    const read = isBraces ? readBraces(reader, match.index) : readOutside(reader, match.index);
    if (typeof read === "number") beginnings.lastIndex = read;
    else if (read === null) beginnings.lastIndex = match.index + (isBraces ? match[0].length : 1);
    else {
      tags.push(read);
      beginnings.lastIndex = read.end;
    }
  }
  return tags;
}

/** Returns a tag in double braces, or the offset after a comment, a raw block or escaped braces. */
function readBraces({ source, isHtml, context }: Reader, from: number): ReadTag | number | null {
  const at = source.indexOf("{{", from);
  // One backslash makes the braces text. Of two backslashes, the first one is printed and the mustache counts.
  if (at > from && source[from - 1] !== "\\") return at + 2;
  if (source.startsWith("{{{{", at)) return rawBlockEnd(source, at);
  const marker = source[at + 2] === "~" ? at + 3 : at + 2;
  if (source[marker] === "!") {
    const isLong = source.startsWith("--", marker + 1);
    return endAfter(source, isLong ? LONG_COMMENT_END : COMMENT_END, marker);
  }
  const read = mustacheTagAt(source, at, context, isHtml);
  return read === null ? null : tagOf(source, at, read.end, read.service, read.replacement);
}

function rawBlockEnd(source: string, at: number): number {
  const close = source.indexOf("{{{{/", at);
  const end = close === -1 ? -1 : source.indexOf("}}}}", close);
  return end === -1 ? source.length : end + "}}}}".length;
}

function endAfter(source: string, ending: RegExp, from: number): number {
  ending.lastIndex = from;
  return ending.exec(source) === null ? source.length : ending.lastIndex;
}

function readOutside(reader: Reader, at: number): ReadTag | null {
  if (reader.source.startsWith("{%", at)) return readLiquid(reader, at);
  for (const dialect of DIALECTS) {
    if (dialect.begins !== reader.source[at]) continue;
    dialect.form.lastIndex = at;
    const match = dialect.form.exec(reader.source);
    const name = match?.groups?.["name"];
    if (match === null || name === undefined) continue;
    const tag = readDialect(reader, dialect, at, match[0], name);
    if (tag !== null) return tag;
  }
  return null;
}

function readDialect(
  reader: Reader,
  dialect: Dialect,
  at: number,
  written: string,
  name: string,
): ReadTag | null {
  const { source, context, isHtml } = reader;
  const { service, tags, others, keepsNames } = dialect;
  const end = at + written.length;
  // `50%SAVE%` is a price and a word.
  if (service === "ActiveCampaign" && /[\w%]/.test(source[at - 1] ?? "")) return null;
  if (service === "Mailchimp") {
    const condition = readMailchimpBlock(reader, decodeEntities(name));
    if (condition !== undefined) return tagOf(source, at, end, service, condition);
  }
  const listed = service === "Mailchimp" ? name.toUpperCase() : name;
  if (Object.hasOwn(tags, listed))
    return tagOf(source, at, end, service, replacementOf(tags[listed] ?? null, context, isHtml));
  if (others === "none") return null;
  const field = service === "Mailgun" ? name.replace(/^recipient\./, "") : name;
  const replacement = /^[\w.-]+$/.test(field) ? `{{${pathOfField(field, keepsNames, context)}}}` : null;
  const needsProof = others === "proven";
  return { ...tagOf(source, at, end, service, replacement), isProof: !needsProof, needsProof };
}

/** Returns the replacement of a tag that opens, divides or closes a condition; undefined for any other tag. */
function readMailchimpBlock({ open, context }: Reader, name: string): string | null | undefined {
  if (/^END:IF$/i.test(name)) return closed(open, "if");
  if (/^ELSE:?$/i.test(name)) return divided(open, "{{else}}");
  const [, word = "", condition] = MAILCHIMP_CONDITION.exec(name) ?? [];
  if (condition === undefined) return undefined;
  const converted = convertMailchimpCondition(condition, (one) => mailchimpPath(one, context));
  if (word.toUpperCase() === "ELSEIF") return divided(open, around("else if", converted));
  return opened(open, word.toUpperCase() === "IFNOT" ? "unless" : "if", converted);
}

const around = (before: string, inside: string | null) =>
  inside === null ? null : `{{${before} ${inside}}}`;

function opened(open: OpenBlocks, helper: "each" | "if" | "unless", inside: string | null): string | null {
  open.push(inside === null ? null : helper);
  return around(`#${helper}`, inside);
}

function divided(open: OpenBlocks, replacement: string | null): string | null {
  return open.at(-1) === null ? null : replacement;
}

function closed(open: OpenBlocks, usual: "each" | "if" | "unless"): string | null {
  const helper = open.length === 0 ? usual : open.pop();
  return helper === undefined || helper === null ? null : `{{/${helper}}}`;
}

/** A tag without one of our variables is never true. */
function mailchimpPath(name: string, context: NamedContext): string | null {
  const tags = DIALECTS.find(({ service }) => service === "Mailchimp")?.tags ?? {};
  const listed = name.trim().toUpperCase();
  if (Object.hasOwn(tags, listed)) return pathOf(tags[listed] ?? null, context) ?? "false";
  return /^[\w.-]+$/.test(name.trim()) ? pathOfField(name.trim(), false, context) : null;
}

function readLiquid(reader: Reader, at: number): ReadTag | null {
  const { source } = reader;
  LIQUID.lastIndex = at;
  const match = LIQUID.exec(source);
  const word = match?.groups?.["word"];
  if (match === null || word === undefined) return null;
  const end = at + match[0].length;
  if (word === "raw") {
    const after = endAfter(source, RAW, end);
    const inside = source.slice(end, after).replace(RAW, "");
    return tagOf(source, at, after, "Liquid", inside.replace(/\{\{/g, String.raw`\{{`));
  }
  if (word === "comment") return tagOf(source, at, endAfter(source, LIQUID_COMMENT, end), "Liquid", "");
  const written = decodeEntities(match.groups?.["rest"] ?? "").replaceAll("\u00A0", " ");
  const rest = written.replace(/-$/, "").trim();
  return tagOf(source, at, end, "Liquid", liquidReplacement(reader, word, rest));
}

function liquidReplacement({ open, context }: Reader, word: string, rest: string): string | null {
  const pathOfLiquid = (name: string) => pathOfName(name, context);
  const condition = () => convertCondition(rest, pathOfLiquid);
  switch (word) {
    case "if":
    case "unless":
      return opened(open, word, condition());
    case "elsif":
    case "elif":
      return divided(open, around("else if", condition()));
    case "else":
      return divided(open, "{{else}}");
    case "for": {
      const [, item = "", list] = /^(\w{1,60}) in ([\w.]{1,200})$/.exec(rest) ?? [];
      return opened(open, "each", list === undefined ? null : `${pathOfLiquid(list)} as |${item}|`);
    }
    case "endif":
      return closed(open, "if");
    case "endunless":
      return closed(open, "unless");
    case "endfor":
      return closed(open, "each");
    default:
      return null;
  }
}

function tagOf(
  source: string,
  start: number,
  end: number,
  service: Service,
  replacement: string | null,
): ReadTag {
  return {
    start,
    end,
    service,
    text: source.slice(start, end),
    replacement,
    isProof: true,
    needsProof: false,
  };
}
