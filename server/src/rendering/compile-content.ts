// Compiles a message template (subject, HTML, text) once into a function from variables to the three parts of an email.

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

/** The stored form of a message template. */
export interface TemplateContent {
  subject: string;
  html: string;
  /** null if the text is generated from the HTML. */
  text: string | null;
}

/** The rendered parts of one email. A part equal to its input is null, so that it is not copied between threads. */
export interface RenderedParts {
  subject: string | null;
  html: string | null;
  text: string | null;
}

/** Returns all parts of an email and fills unchanged ones from the input. */
export function completeParts(
  parts: RenderedParts,
  input: TemplateContent,
): { subject: string; html: string; text: string } {
  return {
    subject: parts.subject ?? input.subject,
    html: parts.html ?? input.html,
    text: parts.text ?? input.text ?? "",
  };
}

/** The rendered parts of an outgoing email, with text shared by all emails of the message template as separate pieces. */
export interface PiecedParts {
  subject: string;
  html: PartText;
  text: PartText;
}

export interface CompiledContent {
  /** Links that are redirected through us; empty if the message template is not tracked. */
  links: readonly ContentLink[];
  /** @param tracking of this email, required if the message template was compiled for tracking */
  render(variables: Record<string, unknown>, tracking?: MailTracking | null): RenderedParts;
  /** Renders like `render`, but returns the parts in pieces. */
  renderPieces(variables: Record<string, unknown>, tracking?: MailTracking | null): PiecedParts;
}

/**
 * Compiles a message template.
 * @param step called before each piece of work that has a separate time limit.
 * @param isTracked whether the HTML gets slots for links and an open pixel.
 * @throws ContentError when a part does not pass `checkTemplate`.
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
  const input = { html: sharePieces(source), text: sharePieces(content.text ?? "") };
  const track = (tracking: MailTracking | null) => {
    if (slots === null || !isTracked) return;
    if (tracking === null) throw new Error("A tracked message template needs the tracking of each email.");
    slots.tracking = tracking;
  };
  const subjectOf = (variables: Record<string, unknown>) =>
    subject === null ? null : withoutLineBreaks(wholeText(subject(variables)));
  const textOf = (variables: Record<string, unknown>, shownSubject: string) => {
    const rendered = text?.(variables) ?? input.text;
    // HTML with only images yields no text, so the text part repeats the subject.
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
        html: html?.(variables) ?? input.html,
        text: textOf(variables, shownSubject),
      };
    },
  };
}

function isBlank(text: PartText): boolean {
  const pieces = typeof text === "string" ? [text] : text;
  return pieces.every((piece) => typeof piece === "string" && piece.trim() === "");
}

/** Returns null if no slots are needed, if the message template is invalid, or if the HTML already contains one of our markers. */
function slotsOf(
  html: string,
  { pieces, open }: Omit<ReadUrls, "source">,
  isTracked: boolean,
): LinkSlots | null {
  if (pieces === null) return null;
  return isTracked ? LinkSlots.of(html, pieces, open) : LinkSlots.guarding(html, open);
}

/** @param hidesUrls whether some URLs become visible only after rendering. */
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

/** Replaces line breaks because the break in `"x\r\nBcc: a@b.c"` must not end the subject header (RFC 5322 section 2.2). */
function withoutLineBreaks(subject: string): string {
  return subject.replace(/[\r\n\v\f\u0085\u2028\u2029]+/g, " ");
}
