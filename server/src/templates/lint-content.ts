// What could be better in a mail, before it is sent: advice, each with a code, a sentence and a place. Nothing here refuses.
// Before it: a content that passed check-content.ts. After it: the preview; a person decides. Pure.
import type { AdviceValues } from "@postloft/contract/advice.ts";
import {
  warnOfContent,
  type ContentWarningCode,
  type ContentWarningPart,
} from "@postloft/contract/content-warnings.ts";
import type { TemplateType } from "@postloft/contract/templates.ts";
import { createLocator } from "../rendering/source-position.ts";
import { lintHtml } from "./lint-html.ts";
import { variablesOf } from "./mustaches.ts";
import { showsPostalAddress } from "./postal-address.ts";
import { asksForFooter } from "../rendering/template-variables.ts";
import { hasUnsubscribeLink } from "./with-footer.ts";

export interface LintedContent {
  subject: string;
  html: string;
  /** null: made from the HTML. */
  text: string | null;
  /** null: not known. */
  type: TemplateType | null;
  /** Every top-level name that has a value, for some contacts at least. */
  knownVariables: ReadonlySet<string>;
  /** The size of the HTML as it leaves, where it was rendered. */
  renderedBytes: number | null;
  /** Whether the footer shows a postal address of the project. */
  footerHasAddress: boolean;
}

export interface Warning {
  code: ContentWarningCode;
  message: string;
  /** The same by its code, with what it names. */
  messageParts: ContentWarningPart[];
  where: Place;
}

/** Parts of a content, by the names of their fields. */
type LintedParts = ReadonlyArray<readonly [Place["field"], string]>;

interface Place {
  field: "subject" | "body" | "text";
  /** From 1; null: it is about the whole. */
  line: number | null;
  column: number | null;
}

/** Gmail cuts at 102 kB; the rest is for what is added on the way. */
const HTML_MAX_BYTES = 100_000;
const SUBJECT_SHOWN_CHARACTERS = 60;
/** Of one kind so many are told; who has more knows the pattern. */
const WARNINGS_PER_CODE_MAX = 20;
const MIN_LETTERS_TO_SHOUT = 5;

/** Warnings in the order of subject, body and text; those about a whole part first. */
export function lintContent(content: LintedContent): Warning[] {
  const parts = [
    ["subject", content.subject],
    ["body", content.html],
    ["text", content.text ?? ""],
  ] as const;
  const unknown = unknownVariables(parts, content.knownVariables);
  return few([
    ...lintSubject(content.subject),
    ...unknown.filter(({ where }) => where.field === "subject"),
    ...lintBody(content),
    ...unknown.filter(({ where }) => where.field === "body"),
    ...lintText(content),
    ...unknown.filter(({ where }) => where.field === "text"),
  ]);
}

function few(warnings: readonly Warning[]): Warning[] {
  const counts = new Map<string, number>();
  return warnings.filter(({ code }) => {
    const count = (counts.get(code) ?? 0) + 1;
    counts.set(code, count);
    return count <= WARNINGS_PER_CODE_MAX;
  });
}

/** The warning of a code, at a place. */
export function warningAt(where: Place, code: ContentWarningCode, values: AdviceValues = {}): Warning {
  const said = warnOfContent(code, values);
  return { code, message: said.text, messageParts: [said], where };
}

function whole(field: Place["field"], code: ContentWarningCode, values: AdviceValues = {}): Warning {
  return warningAt({ field, line: null, column: null }, code, values);
}

function lintSubject(subject: string): Warning[] {
  const warnings: Warning[] = [];
  const fixed = subject.replace(/\{\{.*?\}\}/g, "");
  if (subject.trim() === "") warnings.push(whole("subject", "subject_blank"));
  if ([...fixed].length > SUBJECT_SHOWN_CHARACTERS)
    warnings.push(whole("subject", "subject_long", { most: SUBJECT_SHOWN_CHARACTERS }));
  const letters = fixed.replace(/[^\p{Lu}\p{Ll}]/gu, "");
  if (letters.length >= MIN_LETTERS_TO_SHOUT && !/\p{Ll}/u.test(letters))
    warnings.push(whole("subject", "subject_all_capitals"));
  return warnings;
}

function lintBody({ html, type, renderedBytes, footerHasAddress }: LintedContent): Warning[] {
  const { notes, hasPreviewText, hasText, lastText } = lintHtml(html);
  const warnings = unsubscribeWarnings("body", html, type);
  const bytes = renderedBytes ?? Buffer.byteLength(html);
  if (bytes > HTML_MAX_BYTES) warnings.push(whole("body", "html_large", { size: Math.ceil(bytes / 1000) }));
  if (!hasText) warnings.push(whole("body", "no_text"));
  else if (!hasPreviewText && type !== "TRANSACTIONAL") warnings.push(whole("body", "no_preview_text"));
  const isAddressAdded =
    footerHasAddress && (!hasUnsubscribeLink(html) || asksForFooter({ html, text: null }));
  if (type === "MARKETING" && hasText && !isAddressAdded && !showsPostalAddress(lastText, html))
    warnings.push(whole("body", "no_postal_address"));
  const locate = createLocator(html);
  for (const { code, values, offset } of notes.toSorted((a, b) => a.offset - b.offset))
    warnings.push(warningAt({ field: "body", ...locate(offset) }, code, values));
  return warnings;
}

function lintText({ text, type }: LintedContent): Warning[] {
  return text === null ? [] : unsubscribeWarnings("text", text, type);
}

function unsubscribeWarnings(field: "body" | "text", source: string, type: TemplateType | null): Warning[] {
  if (type === null || type === "TRANSACTIONAL" || hasUnsubscribeLink(source)) return [];
  const links = { unsubscribe: "{{unsubscribeUrl}}", manage: "{{manageUrl}}" };
  return [whole(field, type === "MARKETING" ? "unsubscribe_link_added" : "no_unsubscribe_link", links)];
}

/** Each unknown name once, where it stands first. */
export function unknownVariables(parts: LintedParts, known: ReadonlySet<string>): Warning[] {
  return firstUses(parts)
    .filter(({ name }) => !known.has(name))
    .map(unknownVariable);
}

/** Returns each variable of a content once, at its first place without a fallback: what `??` gives is meant. */
export function firstUses(parts: LintedParts): Array<{ name: string; where: Place }> {
  const met = new Set<string>();
  return parts.flatMap(([field, source]) => {
    const locate = createLocator(source);
    return variablesOf(source).flatMap(({ name, start, hasFallback }) => {
      if (hasFallback || met.has(name)) return [];
      const place = locate(start);
      met.add(name);
      return [{ name, where: { field, ...place } }];
    });
  });
}

export function unknownVariable({ name, where }: { name: string; where: Place }): Warning {
  return warningAt(where, "unknown_variable", { name });
}
