// Makes one content (subject, HTML, text) into a function from variables to a finished mail's three parts, once per
// content. Before it: render-worker.ts. After it: one call per recipient.

import { sharePieces, wholeText, type PartText } from "../message/part-text.ts";
import { FOOTER_HTML_VARIABLE, FOOTER_TEXT_VARIABLE } from "./template-variables.ts";
import { compileTemplate, type CompileOptions } from "./compile-template.ts";
import { readUrls, type ReadUrls } from "./find-links.ts";
import { withoutHarmfulUrls } from "./harmful-urls.ts";
import { LinkSlots } from "./link-slots.ts";
import type { ContentLink, MailTracking } from "./link-target.ts";
import { scanTemplate } from "./scan-template.ts";
import { SharedPlaces } from "./shared-places.ts";
import type { TemplateProblem } from "./source-position.ts";
import { parseTemplate, type ParseOptions } from "./template-syntax.ts";
import {
  CONTROL,
  htmlToText,
  markedText,
  PLACEHOLDER,
  PLACEHOLDER_END,
  resolveMarks,
  withoutMarks,
} from "./text-part.ts";

/** What is to be rendered, as it is stored. */
export interface TemplateContent {
  subject: string;
  html: string;
  /** Null: made from the HTML. */
  text: string | null;
}

export type ContentField = keyof TemplateContent;

/** The parts of one mail. A part that is the same for all, as given, is null: no need to carry it around. */
export interface RenderedParts {
  subject: string | null;
  html: string | null;
  text: string | null;
}

/** All parts of a mail, those included that are as they were given. */
export function completeParts(
  parts: RenderedParts,
  given: TemplateContent,
): { subject: string; html: string; text: string } {
  return {
    subject: parts.subject ?? given.subject,
    html: parts.html ?? given.html,
    text: parts.text ?? given.text ?? "",
  };
}

/** The same for a mail on its way out, complete: what all mails of the content share is a piece of its own. */
export interface PiecedParts {
  subject: string;
  html: PartText;
  text: PartText;
}

/** From variables to a part, its shared text in pieces of its own. */
type PartTemplate = (variables: Record<string, unknown>) => PartText;

export interface CompiledContent {
  /** Those that lead through us; none where it is not tracked. */
  links: readonly ContentLink[];
  /** @param tracking of this mail, where the content was compiled to be tracked */
  render(variables: Record<string, unknown>, tracking?: MailTracking | null): RenderedParts;
  /** The same in pieces. */
  renderPieces(variables: Record<string, unknown>, tracking?: MailTracking | null): PiecedParts;
}

/** A content that cannot be compiled; the message names part, line, column and what is wrong. */
export class ContentError extends Error {
  override readonly name = "ContentError";
}

/** Characters that mean something to Handlebars but are only text in the text part, and their stand-ins. */
const LITERALS = new Map([
  ["{", "\uFDD7"],
  ["}", "\uFDDA"],
  ["\\", "\uFDDB"],
]);

/** The footer as HTML; to make text of it again for each recipient would take longer than to write it. */
const HTML_FOOTER = new RegExp(`^\\{\\{\\{\\s*${FOOTER_HTML_VARIABLE}\\s*\\}\\}\\}$`);
const TEXT_FOOTER = `{{${FOOTER_TEXT_VARIABLE}}}`;

/**
 * Compiles a content. Throws ContentError when a part does not pass `checkTemplate`.
 * @param step called before each piece of work that has a time limit of its own.
 * @param isTracked whether links and an open pixel have their places in the HTML.
 */
export function compileContent(
  content: TemplateContent,
  step: () => void,
  isTracked = false,
): CompiledContent {
  const subject = compilePart("subject", content.subject, { escape: false }, step);
  const { source, ...urls } = readUrls(content.html, step);
  const slots = slotsOf(source, urls, isTracked);
  const html = compileHtml(source, slots, urls.isHidden || (slots === null && urls.open.length > 0), step);
  const text =
    content.text === null
      ? compileTextOf(source, step)
      : compilePart("text", content.text, { escape: false }, step);
  const given = { html: sharePieces(source), text: sharePieces(content.text ?? "") };
  const track = (tracking: MailTracking | null) => {
    if (slots === null || !isTracked) return;
    if (tracking === null) throw new Error("A tracked content needs the tracking of each mail.");
    slots.tracking = tracking;
  };
  const subjectOf = (variables: Record<string, unknown>) =>
    subject === null ? null : withoutLineBreaks(wholeText(subject(variables)));
  const textOf = (variables: Record<string, unknown>, shownSubject: string) => {
    const rendered = text?.(variables) ?? given.text;
    // HTML of pictures alone has no text, but its reader has a subject.
    return content.text === null && content.html !== "" && isBlank(rendered) ? shownSubject : rendered;
  };
  return {
    links: slots?.links ?? [],
    render(variables, tracking = null) {
      track(tracking);
      const ownSubject = subjectOf(variables);
      return {
        subject: ownSubject,
        html: html === null ? (source === content.html ? null : source) : wholeText(html(variables)),
        text: text === null ? null : wholeText(textOf(variables, ownSubject ?? content.subject)),
      };
    },
    renderPieces(variables, tracking = null) {
      track(tracking);
      const shownSubject = subjectOf(variables) ?? content.subject;
      return {
        subject: shownSubject,
        html: html?.(variables) ?? given.html,
        text: textOf(variables, shownSubject),
      };
    },
  };
}

function isBlank(text: PartText): boolean {
  const pieces = typeof text === "string" ? [text] : text;
  return pieces.every((piece) => typeof piece === "string" && piece.trim() === "");
}

/** Null where nothing is to be put in, or the content must stay as it is: it cannot be used anyway, or holds what would be taken for a mark. */
function slotsOf(
  html: string,
  { pieces, open }: Omit<ReadUrls, "source">,
  isTracked: boolean,
): LinkSlots | null {
  if (pieces === null) return null;
  return isTracked ? LinkSlots.of(html, pieces, open) : LinkSlots.guarding(html, open);
}

/** @param hidesUrls whether addresses can be seen only when all is rendered. */
function compileHtml(
  html: string,
  slots: LinkSlots | null,
  hidesUrls: boolean,
  step: () => void,
): PartTemplate | null {
  const template = compileSlots(html, slots, step);
  if (template === null || !hidesUrls) return template;
  return (variables) => withoutHarmfulUrls(wholeText(template(variables)));
}

function compileSlots(html: string, slots: LinkSlots | null, step: () => void): PartTemplate | null {
  if (slots === null) return compilePart("html", html, HTML_OPTIONS, step);
  const places = new SharedPlaces();
  if (!html.includes("{{")) {
    const template = slots.asTemplate((text) => places.marked(text));
    return () => places.piecesOf(template());
  }
  step();
  const { program, problems } = parseTemplate(slots.marked);
  if (program === null) throw new ContentError(problemText("html", problems));
  slots.placeInto(program);
  places.placeInto(program);
  step();
  const template = compileTemplate(program, { ...HTML_OPTIONS, slots });
  return (variables) => places.piecesOf(template(variables) + slots.ending());
}

/** `{{{x}}}` may bring addresses of its own. */
const HTML_OPTIONS: CompileOptions = { escape: true, mapUnescaped: withoutHarmfulUrls };

/** Null when the part has nothing to fill in. */
function compilePart(
  field: ContentField,
  source: string,
  options: CompileOptions & ParseOptions,
  step: () => void,
): PartTemplate | null {
  return source.includes("{{") ? compileTree(field, source, options, step) : null;
}

function compileTree(
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

function problemText(field: ContentField, problems: readonly TemplateProblem[]): string {
  const [first] = problems;
  return first === undefined
    ? field
    : `${field}, line ${first.line}, column ${first.column}: ${first.message}`;
}

/** A header is one line: the break in `"x\r\nBcc: a@b.c"` must not end the subject (RFC 5322 section 2.2). */
function withoutLineBreaks(subject: string): string {
  return subject.replace(/[\r\n\v\f\u0085\u2028\u2029]+/g, " ");
}

/**
 * The text part as a template of its own, so that HTML is read once per content and not once per mail: mustaches go
 * through the conversion as placeholders. Where they come out so that blocks no longer fit together (an attribute that
 * opened one) blocks are left out and what was in them stays.
 */
function compileTextOf(html: string, step: () => void): PartTemplate {
  step();
  if (!html.includes("{{")) {
    const text = sharePieces(htmlToText(html));
    return () => text;
  }
  const { problems, pieces } = scanTemplate(html);
  if (problems.length > 0) throw new ContentError(problemText("html", problems));

  const mustaches: string[] = [];
  const known = new Map<string, number>();
  let hasControls = false;
  let prepared = "";
  for (const { kind, start, end } of pieces) {
    const source = html.slice(start, end).replace(HTML_FOOTER, TEXT_FOOTER);
    if (kind === "content") prepared += withoutMarks(source);
    else if (kind === "escape") prepared += "{{";
    else if (kind !== "comment") {
      // The same mustache gets the same placeholder: a link whose words are its address is seen to be one.
      const number = known.get(source) ?? mustaches.push(source) - 1;
      known.set(source, number);
      hasControls ||= kind === "control";
      prepared += `${kind === "control" ? CONTROL : PLACEHOLDER}${number}${PLACEHOLDER_END}`;
    }
  }
  const marked = markedText(prepared).replace(/[{}\\]/g, (character) => LITERALS.get(character) ?? character);
  return (
    (hasControls ? compileBlocks(marked, mustaches, step) : null) ?? compileValues(marked, mustaches, step)
  );
}

function compileBlocks(marked: string, mustaches: readonly string[], step: () => void): PartTemplate | null {
  const source = marked.replace(/[\uFDD0\uFDD2](\d+)\uFDD1/g, (_, number) => mustaches[Number(number)] ?? "");
  step();
  const { program } = parseTemplate(source, TEXT_OPTIONS);
  if (program === null) return null;
  step();
  const render = compileTemplate(program, TEXT_OPTIONS);
  return (variables) => resolveMarks(render(variables));
}

function compileValues(marked: string, mustaches: readonly string[], step: () => void): PartTemplate {
  const values = resolveMarks(marked.replace(/\uFDD2\d+\uFDD1/g, ""));
  const source = values.replace(/\uFDD0(\d+)\uFDD1/g, (_, number) => mustaches[Number(number)] ?? "");
  return compileTree("text", source, TEXT_OPTIONS, step);
}

function withLiterals(text: string): string {
  let plain = text;
  for (const [character, standIn] of LITERALS) plain = plain.replaceAll(standIn, character);
  return plain;
}

const TEXT_OPTIONS: ParseOptions & CompileOptions = {
  ignoreStandalone: true,
  mapContent: withLiterals,
  escape: false,
  // `{{{x}}}` puts HTML into HTML, so in the text part it is text. The `&` of an address is none: `&copy` without `;` is a letter in text
  // and none in an attribute, where the address stands.
  mapUnescaped: (value) => (/<|&(?:#\w{1,8}|\w{1,40});/.test(value) ? htmlToText(value) : value),
};
