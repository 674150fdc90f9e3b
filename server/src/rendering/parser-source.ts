// Builds the source that Handlebars parses. It has the same length as the author's, with placeholders for text Handlebars misreads. Pure.
import type { Literal } from "./literals.ts";

/**
 * Placeholders for U+2028 and U+2029, because Handlebars' lexer counts columns wrong after them. Noncharacters (Unicode 3.4, D14) never
 * occur in text meant for people.
 */
const LINE_SEPARATOR = "\uFDD8";
const PARAGRAPH_SEPARATOR = "\uFDD9";
/** Placeholder for a literal brace of a mustache. */
const BRACE = "\uFDDC";
/** Placeholder for a text in a mustache, padded with spaces to its length. Handlebars reads it as a name. */
export const TEXT_STAND_IN = "\uFDDD";

interface Edit {
  start: number;
  end: number;
  text: string;
}

/**
 * Returns the source with placeholders. Removed text is padded with spaces so that columns stay the same.
 * @param contents the text between the mustaches
 */
export function plainSourceOf(
  source: string,
  literals: readonly Literal[],
  foreign: ReadonlyArray<{ start: number; end: number }>,
  contents: ReadonlyArray<{ start: number; end: number }>,
): string {
  const edits: Edit[] = [
    ...literals.map(({ start, end, isBlank }) => {
      const blank = source.slice(start, end).replace(/[^\r\n]/g, " ");
      return { start, end, text: isBlank ? blank : TEXT_STAND_IN + blank.slice(1) };
    }),
    ...foreign.map(({ start, end }) => ({
      start,
      end,
      text: source.slice(start, end).replaceAll("{", BRACE),
    })),
  ];
  edits.sort((one, other) => one.start - other.start);
  return withSeparators(edited(source, edits), contents);
}

/** Returns the source with each `??` replaced by `..`, which Handlebars reads as a path. */
export function withoutFallbackSigns(plainSource: string, offsets: readonly number[]): string {
  return edited(
    plainSource,
    offsets.map((start) => ({ start, end: start + 2, text: ".." })),
  );
}

/** Returns the text between mustaches as the author wrote it. */
export function withoutPlaceholders(text: string): string {
  return text
    .replaceAll(LINE_SEPARATOR, "\u2028")
    .replaceAll(PARAGRAPH_SEPARATOR, "\u2029")
    .replaceAll(BRACE, "{");
}

function withSeparators(source: string, contents: ReadonlyArray<{ start: number; end: number }>): string {
  if (!/[\u2028\u2029]/.test(source)) return source;
  return edited(
    source,
    contents.map(({ start, end }) => ({
      start,
      end,
      text: source
        .slice(start, end)
        .replaceAll("\u2028", LINE_SEPARATOR)
        .replaceAll("\u2029", PARAGRAPH_SEPARATOR),
    })),
  );
}

function edited(source: string, edits: readonly Edit[]): string {
  if (edits.length === 0) return source;
  let text = "";
  let copied = 0;
  for (const { start, end, text: replacement } of edits) {
    text += source.slice(copied, start) + replacement;
    copied = end;
  }
  return text + source.slice(copied);
}
