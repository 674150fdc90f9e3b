// Compiles one part of a message template into a function from variables to text, with shared text as separate pieces.
import type { PartText } from "../message/part-text.ts";
import { compileTemplate, type CompileOptions } from "./compile-template.ts";
import { withoutHarmfulUrls } from "./harmful-urls.ts";
import { SharedPlaces } from "./shared-places.ts";
import type { TemplateProblem } from "./source-position.ts";
import { parseTemplate, type ParseOptions } from "./template-syntax.ts";

export type ContentField = "subject" | "html" | "text";

/** Renders a part from variables, with shared text as separate pieces. */
export type PartTemplate = (variables: Record<string, unknown>) => PartText;

/** Thrown for a message template that cannot be compiled. The message has the part, line, column and problem. */
export class ContentError extends Error {
  override readonly name = "ContentError";
}

/** `{{{x}}}` may insert additional URLs. */
export const HTML_OPTIONS: CompileOptions = { escape: true, mapUnescaped: withoutHarmfulUrls };

/**
 * Compiles a part, or returns null if the part has no mustaches.
 * @throws ContentError if the part is not a valid template.
 */
export function compilePart(
  field: ContentField,
  source: string,
  options: CompileOptions & ParseOptions,
  step: () => void,
): PartTemplate | null {
  return source.includes("{{") ? compileTree(field, source, options, step) : null;
}

/**
 * Compiles a part that has mustaches.
 * @throws ContentError if the part is not a valid template.
 */
export function compileTree(
  field: ContentField,
  source: string,
  options: CompileOptions & ParseOptions,
  step: () => void,
): PartTemplate {
  step();
  const { program, problems } = parseTemplate(source, options);
  if (program === null) throw new ContentError(problemText(field, problems));
  const places = new SharedPlaces();
  places.placeInto(program);
  step();
  const template = compileTemplate(program, options);
  return (variables) => places.piecesOf(template(variables));
}

/** Returns the first problem of a part with its position. */
export function problemText(field: ContentField, problems: readonly TemplateProblem[]): string {
  const [first] = problems;
  return first === undefined
    ? field
    : `${field}, line ${first.line}, column ${first.column}: ${first.message}`;
}
