// What the scanner found in a template source, and how it is handed to Handlebars' parser. Pure.
import { faultOfTemplate, type TemplateFault } from "@postloft/contract/template-faults.ts";
import type { Literal } from "./literals.ts";
import { plainSourceOf, withoutFallbackSigns } from "./parser-source.ts";
import { createLocator, problemAt, type TemplateProblem } from "./source-position.ts";

/**
 * A part of the source. `value` prints something, `control` opens, divides or closes a block, `escape` is `\{{` (which
 * prints two braces), `raw` is a whole `{{{{raw}}}}` block. The pieces are in order and cover what can be printed.
 */
export interface TemplatePiece {
  kind: "content" | "value" | "control" | "comment" | "escape" | "raw";
  start: number;
  end: number;
}

export interface TemplateScan {
  /** In the order of the source; when there is one, the rest of the scan is not to be used. */
  problems: TemplateProblem[];
  pieces: TemplatePiece[];
  /** As long as the source, with a stand-in for each text that is no string of Handlebars, and without foreign mustaches. */
  plainSource: string;
  /** The same with every `??` replaced by `..`, for Handlebars' parser. */
  parserSource: string;
  /** Where each `??` stands, as `line:column` in Handlebars' count (lines from 1, columns from 0). */
  fallbacks: Map<string, TemplateProblem>;
  /** The text for each stand-in, by its place in the same form. */
  literals: Map<string, string>;
}

export interface ScannedSource {
  source: string;
  pieces: TemplatePiece[];
  found: Array<{ offset: number; fault: TemplateFault }>;
  fallbackOffsets: number[];
  /** In the order of the source. */
  literals: Literal[];
  /** Mustaches that only other services fill in. They are text. */
  foreignMustaches: Array<{ start: number; end: number }>;
}

/** Returns the finished scan, with places instead of offsets. */
export function finishScan(scanned: ScannedSource): TemplateScan {
  const { source, found, fallbackOffsets, pieces } = scanned;
  const offsets = found.sort((a, b) => a.offset - b.offset);
  const places = placesOf(
    source,
    offsets.map(({ offset }) => offset),
  );
  const problems = offsets.flatMap(({ fault }, at) => {
    const place = places[at];
    return place === undefined ? [] : [problemAt(place, fault)];
  });
  const contents = pieces.filter(({ kind }) => kind === "content");
  const plainSource = plainSourceOf(source, scanned.literals, scanned.foreignMustaches, contents);
  if (problems.length > 0)
    return { problems, pieces, plainSource, parserSource: "", fallbacks: new Map(), literals: new Map() };

  const fault = faultOfTemplate("template.fallbackAlone");
  const fallbacks = placesOf(source, fallbackOffsets).map(
    (place) => [keyOf(place), problemAt(place, fault)] as const,
  );
  const texts = scanned.literals.filter(({ isBlank }) => !isBlank);
  const starts = texts.map(({ start }) => start);
  const literals = placesOf(source, starts).map(
    (place, at) => [keyOf(place), texts[at]?.text ?? ""] as const,
  );
  return {
    problems,
    pieces,
    plainSource,
    parserSource: withoutFallbackSigns(plainSource, fallbackOffsets),
    fallbacks: new Map(fallbacks),
    literals: new Map(literals),
  };
}

/** A place in Handlebars' count. */
const keyOf = ({ line, column }: { line: number; column: number }) => `${line}:${column - 1}`;

/** The places of offsets in rising order. */
function placesOf(source: string, offsets: readonly number[]) {
  return offsets.map(createLocator(source));
}
