// Checks an email before it is sent and warns, each time with a code, a sentence and a place. Nothing here refuses. Pure.
import type { TemplateType } from "@postloft/contract/templates.ts";
import { createLocator } from "../rendering/source-position.ts";
import { lintHtml } from "./lint-html.ts";
import { variableWarnings, type MergeTagFacts } from "./lint-variables.ts";
import { isPlaceholder } from "./placeholder-rules.ts";
import { showsPostalAddress } from "./postal-address.ts";
import { asksForFooter } from "../rendering/template-variables.ts";
import { hasUnsubscribeLink } from "./with-footer.ts";
import { warningAt, warningOfPart as whole, type Warning } from "./warnings.ts";

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
  project: MergeTagFacts;
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
  const ofVariables = variableWarnings(parts, content.knownVariables, content.project);
  return few([
    ...lintSubject(content.subject),
    ...ofVariables.filter(({ where }) => where.field === "subject"),
    ...lintBody(content),
    ...ofVariables.filter(({ where }) => where.field === "body"),
    ...lintText(content),
    ...ofVariables.filter(({ where }) => where.field === "text"),
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

function lintSubject(subject: string): Warning[] {
  const warnings: Warning[] = [];
  const fixed = subject.replace(/\{\{.*?\}\}/g, "");
  if (subject.trim() === "") warnings.push(whole("subject", "subject_blank"));
  if (isPlaceholder(subject)) warnings.push(whole("subject", "placeholder_text", { text: subject.trim() }));
  if ([...fixed].length > SUBJECT_SHOWN_CHARACTERS)
    warnings.push(whole("subject", "subject_long", { most: SUBJECT_SHOWN_CHARACTERS }));
  const letters = fixed.replace(/[^\p{Lu}\p{Ll}]/gu, "");
  if (letters.length >= MIN_LETTERS_TO_SHOUT && !/\p{Ll}/u.test(letters))
    warnings.push(whole("subject", "subject_all_capitals"));
  return warnings;
}

function lintBody({ html, type, renderedBytes, footerHasAddress, knownVariables }: LintedContent): Warning[] {
  const { notes, hasPreviewText, hasText, hasImage, lastText } = lintHtml(html, knownVariables);
  const warnings = unsubscribeWarnings("body", html, type);
  const bytes = renderedBytes ?? Buffer.byteLength(html);
  if (bytes > HTML_MAX_BYTES) warnings.push(whole("body", "html_large", { size: Math.ceil(bytes / 1000) }));
  if (!hasText) warnings.push(whole("body", hasImage ? "no_text" : "body_empty"));
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
