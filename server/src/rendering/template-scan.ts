// Result of scanning a template source, and its conversion for Handlebars' parser. Pure.
import { faultOfTemplate, type TemplateFault } from "@postloft/contract/template-faults.ts";
import type { Literal } from "./literals.ts";
import { plainSourceOf, withoutFallbackSigns } from "./parser-source.ts";
import { createLocator, problemAt, type TemplateProblem } from "./source-position.ts";

/**
 * A part of the source. `value` prints something, and `control` opens, divides or closes a block.
 * `escape` is `\{{`, which prints two braces. `raw` is a whole `{{{{raw}}}}` block.
 * The pieces are in order and cover everything that can be printed.
 */
export interface TemplatePiece {
  kind: "content" | "value" | "control" | "comment" | "escape" | "raw";
  start: number;
  end: number;
}

export interface TemplateScan {
  /** In source order. If there are any, the rest of the scan must not be used. */
  problems: TemplateProblem[];
  pieces: TemplatePiece[];
  /** The source at its original length, with placeholders for text that is not a Handlebars string and without foreign mustaches. */
  plainSource: string;
  /** `plainSource` with every `??` replaced by `..` for Handlebars' parser. */
  parserSource: string;
  /** Positions of `??`, as `line:column` in Handlebars' count (lines from 1, columns from 0). */
  fallbacks: Map<string, TemplateProblem>;
  /** The text of each placeholder by its position, in the same format. */
  literals: Map<string, string>;
}

export interface ScannedSource {
  source: string;
  pieces: TemplatePiece[];
  found: Array<{ offset: number; fault: TemplateFault }>;
  fallbackOffsets: number[];
  /** In source order. */
  literals: Literal[];
  /** Mustaches of other services, which are text here. */
  foreignMustaches: Array<{ start: number; end: number }>;
}

/** Returns the finished scan, with positions instead of offsets. */
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

/** Returns a position in Handlebars' count. */
const keyOf = ({ line, column }: { line: number; column: number }) => `${line}:${column - 1}`;

/** Returns the positions of ascending offsets. */
function placesOf(source: string, offsets: readonly number[]) {
  return offsets.map(createLocator(source));
}
