// Warns about variables without a value and about merge tags of other services. Pure.
import { findMergeTags, type MergeTag } from "@postloft/contract/merge-tags/find-merge-tags.ts";
import type { MergeTagContext } from "@postloft/contract/merge-tags/variables.ts";
import type { ContentWarningCode } from "@postloft/contract/content-warnings.ts";
import { createLocator } from "../rendering/source-position.ts";
import { variablesOf } from "./mustaches.ts";
import { warningAt, type LintedParts, type Place, type Warning } from "./warnings.ts";

/** Facts about a project for converting merge tags, in addition to the fields of its contacts. */
export type MergeTagFacts = Omit<MergeTagContext, "fields">;

interface Use {
  name: string;
  where: Place;
}

/** A part with its merge tags. */
type TaggedPart = readonly [Place["field"], string, readonly MergeTag[]];

/**
 * Returns a warning for each merge tag, and one for the first use of each variable without a value, in the order of the parts.
 * @param known names that have a value for at least some contacts
 */
export function variableWarnings(
  parts: LintedParts,
  known: ReadonlySet<string>,
  facts: MergeTagFacts,
): Warning[] {
  const tagged = tagsOf(parts, known, facts);
  const uses = usesOutsideOfTags(tagged).filter(({ name }) => !known.has(name));
  return tagged.flatMap(([field, source, tags]) => [
    ...mergeTagWarnings(field, source, tags),
    ...uses.filter(({ where }) => where.field === field).map(unknownVariable),
  ]);
}

/** Returns whether any part contains a possible merge tag, regardless of the project's fields. */
export function mayHaveMergeTags(parts: LintedParts): boolean {
  return tagsOf(parts, new Set(), NO_FACTS).some(([, , tags]) => tags.length > 0);
}

const NO_FACTS: MergeTagFacts = { projectName: "", postalAddress: null, year: 0 };

function tagsOf(parts: LintedParts, fields: ReadonlySet<string>, facts: MergeTagFacts): TaggedPart[] {
  const sources = parts.map(([field, text]) => ({ text, isHtml: field === "body" }));
  const found = findMergeTags(sources, { ...facts, fields });
  return parts.map(([field, source], at) => [field, source, found[at] ?? []]);
}

/** Maximum number of merge tag warnings per part. */
const MERGE_TAG_WARNINGS_MAX = 100;

function mergeTagWarnings(field: Place["field"], source: string, tags: readonly MergeTag[]): Warning[] {
  const locate = createLocator(source);
  return tags.slice(0, MERGE_TAG_WARNINGS_MAX).map(({ start, text, service, replacement }) => {
    const place = { field, ...locate(start) };
    const shown = replacement === null ? {} : { replacement: clipped(replacement) };
    const values = { tag: clipped(text), service, ...shown };
    const warning = warningAt(place, sentenceFor(replacement), values);
    return { ...warning, code: "merge_tag", replacement };
  });
}

/** Maximum length of a tag in its sentence, because Liquid's raw blocks may be as long as the email. */
const SHOWN_CHARACTERS = 200;

function clipped(text: string): string {
  return text.length <= SHOWN_CHARACTERS ? text : `${text.slice(0, SHOWN_CHARACTERS).toWellFormed()}…`;
}

function sentenceFor(replacement: string | null): ContentWarningCode {
  if (replacement === null) return "merge_tag_without_equivalent";
  return replacement === "" ? "merge_tag_to_remove" : "merge_tag";
}

/** Returns each name once, at its first use without a fallback. */
function usesOutsideOfTags(tagged: readonly TaggedPart[]): Use[] {
  const met = new Set<string>();
  return tagged.flatMap(([field, source, tags]) => {
    const locate = createLocator(source);
    let next = 0;
    return variablesOf(source).flatMap(({ name, start, hasFallback }) => {
      while ((tags[next]?.end ?? Infinity) <= start) next += 1;
      const isTag = (tags[next]?.start ?? Infinity) <= start;
      if (isTag || hasFallback || met.has(name)) return [];
      met.add(name);
      return [{ name, where: { field, ...locate(start) } }];
    });
  });
}

/** Returns each unknown name once, at its first use. */
export function unknownVariables(parts: LintedParts, known: ReadonlySet<string>): Warning[] {
  return firstUses(parts)
    .filter(({ name }) => !known.has(name))
    .map(unknownVariable);
}

/** Returns each variable of a message template once, at its first use without a fallback, because a fallback after `??` is intentional. */
export function firstUses(parts: LintedParts): Use[] {
  return usesOutsideOfTags(parts.map(([field, source]) => [field, source, []]));
}

function unknownVariable({ name, where }: Use): Warning {
  return warningAt(where, "unknown_variable", { name });
}
