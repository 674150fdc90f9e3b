// Reads the double-brace syntax of other services: SendGrid's helpers, listmonk's Go templates and Liquid's filters.
import { LISTMONK_PATHS, MUSTACHE_NAMES, type Meaning, type Service } from "./dialects.ts";
import { decodeEntities } from "./entities.ts";
import { pathOf, pathOfField, replacementOf, writtenString, type NamedContext } from "./variables.ts";

/** Longer mustaches are ours or do not belong to any service. */
const MUSTACHE = /\{\{\{?[^{}]{0,500}\}\}\}?/y;

const GO_PATH = /^-?\s*\.([A-Za-z][\w.]{0,200})\s*-?$/;
const GO_LINK = /^TrackLink\s{1,9}"([^"]*)"(?:\s{1,9}\.)?$/;
const GO_CALL = /^(\w{1,30})\s{1,9}\.$/;
const SENDGRID_BLOCK = /^#(equals|notEquals|greaterThan|lessThan|and|or)\s+(\S.*)$/s;
const SENDGRID_END = /^\/(equals|notEquals|greaterThan|lessThan|and|or)$/;
const SENDGRID_INSERT = /^insert\s+([\w.]{1,200})(?:\s+(?:"default=([^"]*)"|'default=([^']*)'))?$/;
const LIQUID_FILTER = /^("[^"]*"|'[^']*'|[A-Za-z_][\w.]{0,200})\s{0,9}\|\s{0,9}([^|\s].*)$/s;
const DEFAULT_FILTER = /\bdefault:?\s{0,9}\(?\s{0,9}(?:"([^"]*)"|'([^']*)')/;
const NAME = /^[A-Za-z_][\w.]{0,200}$/;

const SENDGRID_HELPERS: Readonly<Record<string, string>> = {
  equals: "eq",
  notEquals: "ne",
  greaterThan: "gt",
  lessThan: "lt",
  and: "and",
  or: "or",
};

export interface ReadMustache {
  service: Service;
  /** Null without an equivalent. */
  replacement: string | null;
}

/** The words of a mustache, or null if it isn't closed or contains braces. */
interface Written {
  end: number;
  words: string;
}

function writtenAt(source: string, at: number): Written | null {
  MUSTACHE.lastIndex = at;
  const [written] = MUSTACHE.exec(source) ?? [];
  if (written === undefined) return null;
  const words = decodeEntities(written.replace(/^\{\{\{?/, "").replace(/\}\}\}?$/, ""));
  return { end: at + written.length, words: words.replaceAll("\u00A0", " ").trim() };
}

/** A mustache that only another service understands, and whether it opens or closes a block. */
export interface ForeignMustache {
  end: number;
  role: "close" | "open" | "value";
  /** The helper of a block. */
  name: string;
}

/**
 * Returns the mustache at an offset if our language would reject it but another service fills it in, otherwise null. The renderer treats
 * such a mustache as text.
 */
export function foreignMustacheAt(source: string, at: number): ForeignMustache | null {
  const written = writtenAt(source, at);
  if (written === null) return null;
  const { end, words } = written;
  const opened = SENDGRID_BLOCK.exec(words)?.[1];
  if (opened !== undefined) return { end, role: "open", name: opened };
  const closed = SENDGRID_END.exec(words)?.[1];
  if (closed !== undefined) return { end, role: "close", name: closed };
  const isForeign =
    GO_PATH.test(words) ||
    GO_LINK.test(words) ||
    SENDGRID_INSERT.test(words) ||
    LIQUID_FILTER.test(words) ||
    Object.hasOwn(MUSTACHE_NAMES, GO_CALL.exec(words)?.[1] ?? "");
  return isForeign ? { end, role: "value", name: "" } : null;
}

/** Returns the meaning of another service's mustache at an offset, and its end; null if the mustache is one of ours. */
export function mustacheTagAt(
  source: string,
  at: number,
  context: NamedContext,
  isHtml: boolean,
): (ReadMustache & { end: number }) | null {
  const written = writtenAt(source, at);
  if (written === null) return null;
  const read = readSendGrid(written.words) ?? readOthers(written.words, context, isHtml);
  return read === null ? null : { ...read, end: written.end };
}

function readSendGrid(words: string): ReadMustache | null {
  const service = "SendGrid";
  const [, helper, values = ""] = SENDGRID_BLOCK.exec(words) ?? [];
  if (helper !== undefined)
    return { service, replacement: `{{#if (${SENDGRID_HELPERS[helper]} ${values.trim()})}}` };
  if (SENDGRID_END.test(words)) return { service, replacement: "{{/if}}" };
  const [, name, double, single] = SENDGRID_INSERT.exec(words) ?? [];
  if (name === undefined) return null;
  return { service, replacement: withFallback(name, double ?? single) };
}

function readOthers(words: string, context: NamedContext, isHtml: boolean): ReadMustache | null {
  const goPath = GO_PATH.exec(words)?.[1];
  if (goPath !== undefined)
    return {
      service: "listmonk",
      replacement: replacementOf(listmonkMeaning(goPath), context, isHtml),
    };
  const link = GO_LINK.exec(words)?.[1];
  if (link !== undefined) return { service: "listmonk", replacement: link };
  const [, value, filters = ""] = LIQUID_FILTER.exec(words) ?? [];
  if (value !== undefined)
    return { service: "Liquid", replacement: filtered(value, filters, context, isHtml) };
  const named = namedTag(GO_CALL.exec(words)?.[1] ?? words, context);
  if (named === null) return null;
  return { service: named.service, replacement: replacementOf(named.meaning, context, isHtml) };
}

function listmonkMeaning(path: string): Meaning {
  if (Object.hasOwn(LISTMONK_PATHS, path)) return LISTMONK_PATHS[path] ?? null;
  const field = /^(?:Subscriber\.Attribs|Tx\.Data)\.(.+)$/.exec(path)?.[1];
  return field === undefined ? null : { field };
}

/** Returns the meaning of a name that only another service fills in. A field with that name makes it one of our variables. */
function namedTag(name: string, { fields }: NamedContext): { service: Service; meaning: Meaning } | null {
  if (!NAME.test(name) || fields.has(name) || fields.has(name.split(".")[0] ?? "")) return null;
  const [service, meaning] = (Object.hasOwn(MUSTACHE_NAMES, name) ? MUSTACHE_NAMES[name] : undefined) ?? [];
  if (service !== undefined) return { service, meaning: meaning ?? null };
  const field = /^subscriber\.([A-Za-z_]\w*)$/.exec(name)?.[1];
  return field === undefined ? null : { service: "Kit", meaning: { field } };
}

/** Returns our path for a name in Liquid or Kit. */
export function pathOfName(name: string, context: NamedContext): string {
  const named = namedTag(name, context);
  return (named === null ? null : pathOf(named.meaning, context)) ?? pathOfField(name, true, context);
}

/**
 * Converts `first_name | strip | default: "there"`. Only the default filter has an equivalent; the others change the appearance of a value.
 */
function filtered(value: string, filters: string, context: NamedContext, isHtml: boolean): string | null {
  if (/^["']/.test(value)) {
    const isYear = /^.(?:now|today)/.test(value) && /^date\b[^%]{0,20}%Y/.test(filters);
    return isYear ? replacementOf({ text: "year" }, context, isHtml) : null;
  }
  const [, double, single] = DEFAULT_FILTER.exec(filters) ?? [];
  return withFallback(pathOfName(value, context), double ?? single);
}

function withFallback(path: string, fallback: string | undefined): string {
  return fallback === undefined ? `{{${path}}}` : `{{${path} ?? ${writtenString(fallback)}}}`;
}
