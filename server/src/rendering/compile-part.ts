// Compiles one part of a content: from variables to its text, what is the same for all mails in pieces of its own.
import type { PartText } from "../message/part-text.ts";
import { compileTemplate, type CompileOptions } from "./compile-template.ts";
import { withoutHarmfulUrls } from "./harmful-urls.ts";
import { SharedPlaces } from "./shared-places.ts";
import type { TemplateProblem } from "./source-position.ts";
import { parseTemplate, type ParseOptions } from "./template-syntax.ts";

export type ContentField = "subject" | "html" | "text";

/** From variables to a part, its shared text in pieces of its own. */
export type PartTemplate = (variables: Record<string, unknown>) => PartText;

/** A content that cannot be compiled; the message names part, line, column and what is wrong. */
export class ContentError extends Error {
  override readonly name = "ContentError";
}

/** `{{{x}}}` may bring addresses of its own. */
export const HTML_OPTIONS: CompileOptions = { escape: true, mapUnescaped: withoutHarmfulUrls };

/** Null when the part has nothing to fill in. @throws ContentError where it is no template. */
export function compilePart(
  field: ContentField,
  source: string,
  options: CompileOptions & ParseOptions,
  step: () => void,
): PartTemplate | null {
  return source.includes("{{") ? compileTree(field, source, options, step) : null;
}

/** Compiles a part that has something to fill in. @throws ContentError where it is no template. */
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

/** The first problem of a part, with where it stands. */
export function problemText(field: ContentField, problems: readonly TemplateProblem[]): string {
  const [first] = problems;
  return first === undefined
    ? field
    : `${field}, line ${first.line}, column ${first.column}: ${first.message}`;
}
