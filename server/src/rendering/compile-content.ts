// Makes one content (subject, HTML, text) into a function from variables to a finished mail's three parts, once per content.

import { sharePieces, wholeText, type PartText } from "../message/part-text.ts";
import { compilePart, ContentError, HTML_OPTIONS, problemText, type PartTemplate } from "./compile-part.ts";
import { compileTemplate } from "./compile-template.ts";
import { compileTextOf } from "./compile-text.ts";
import { readUrls, type ReadUrls } from "./find-links.ts";
import { withoutHarmfulUrls } from "./harmful-urls.ts";
import { LinkSlots } from "./link-slots.ts";
import type { ContentLink, MailTracking } from "./link-target.ts";
import { SharedPlaces } from "./shared-places.ts";
import { parseTemplate } from "./template-syntax.ts";

/** What is to be rendered, as it is stored. */
export interface TemplateContent {
  subject: string;
  html: string;
  /** Null: made from the HTML. */
  text: string | null;
}

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

export interface CompiledContent {
  /** Those that lead through us; none where it is not tracked. */
  links: readonly ContentLink[];
  /** @param tracking of this mail, where the content was compiled to be tracked */
  render(variables: Record<string, unknown>, tracking?: MailTracking | null): RenderedParts;
  /** The same in pieces. */
  renderPieces(variables: Record<string, unknown>, tracking?: MailTracking | null): PiecedParts;
}

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

/** A header is one line: the break in `"x\r\nBcc: a@b.c"` must not end the subject (RFC 5322 section 2.2). */
function withoutLineBreaks(subject: string): string {
  return subject.replace(/[\r\n\v\f\u0085\u2028\u2029]+/g, " ");
}
