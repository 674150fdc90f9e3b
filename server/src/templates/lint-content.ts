// Checks an email before it is sent and returns warnings with a code, a sentence and a position. Warnings never reject anything. Pure.
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
  previewText: string | null;
  html: string;
  /** null if the text is generated from the HTML. */
  text: string | null;
  /** null if unknown. */
  type: TemplateType | null;
  /** Top-level names that have a value for at least some contacts. */
  knownVariables: ReadonlySet<string>;
  /** Size of the HTML as sent, if it was rendered. */
  renderedBytes: number | null;
  /** Whether the footer shows a postal address of the project. */
  footerHasAddress: boolean;
  project: MergeTagFacts;
}

/** Gmail clips messages at 102 kB; the difference is room for additions in transit. */
const HTML_MAX_BYTES = 100_000;
const SUBJECT_SHOWN_CHARACTERS = 60;
/** Maximum number of warnings per code, enough to recognize the pattern. */
const WARNINGS_PER_CODE_MAX = 20;
const MIN_LETTERS_TO_SHOUT = 5;

/** Returns warnings for subject, preview text, body and text, in this order. Warnings about a whole part come first. */
export function lintContent(content: LintedContent): Warning[] {
  const parts = [
    ["subject", content.subject],
    ["previewText", content.previewText ?? ""],
    ["body", content.html],
    ["text", content.text ?? ""],
  ] as const;
  const ofVariables = variableWarnings(parts, content.knownVariables, content.project);
  return few([
    ...lintSubject(content.subject),
    ...ofVariables.filter(({ where }) => where.field === "subject"),
    ...lintPreviewText(content.previewText ?? ""),
    ...ofVariables.filter(({ where }) => where.field === "previewText"),
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

function lintPreviewText(previewText: string): Warning[] {
  if (!isPlaceholder(previewText)) return [];
  return [whole("previewText", "placeholder_text", { text: previewText.trim() })];
}

function lintBody({
  previewText,
  html,
  type,
  renderedBytes,
  footerHasAddress,
  knownVariables,
}: LintedContent): Warning[] {
  const { notes, hasPreviewText, hasText, hasImage, lastText } = lintHtml(html, knownVariables);
  const warnings = unsubscribeWarnings("body", html, type);
  const bytes = renderedBytes ?? Buffer.byteLength(html);
  if (bytes > HTML_MAX_BYTES) warnings.push(whole("body", "html_large", { size: Math.ceil(bytes / 1000) }));
  if (!hasText) warnings.push(whole("body", hasImage ? "no_text" : "body_empty"));
  else if (!hasPreviewText && (previewText ?? "").trim() === "" && type !== "TRANSACTIONAL")
    warnings.push(whole("previewText", "no_preview_text"));
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
