// What could be better in a mail, before it is sent: advice, each with a code, a sentence and a place. Nothing here refuses.
// Before it: a content that passed check-content.ts. After it: the preview; a person decides. Pure.
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
  code: string;
  message: string;
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

function whole(field: Place["field"], code: string, message: string): Warning {
  return { code, message, where: { field, line: null, column: null } };
}

function lintSubject(subject: string): Warning[] {
  const warnings: Warning[] = [];
  const fixed = subject.replace(/\{\{.*?\}\}/g, "");
  if (subject.trim() === "") warnings.push(whole("subject", "subject_blank", "The subject shows nothing."));
  if ([...fixed].length > SUBJECT_SHOWN_CHARACTERS)
    warnings.push(
      whole(
        "subject",
        "subject_long",
        `The subject is longer than ${SUBJECT_SHOWN_CHARACTERS} characters; telephones cut it.`,
      ),
    );
  const letters = fixed.replace(/[^\p{Lu}\p{Ll}]/gu, "");
  if (letters.length >= MIN_LETTERS_TO_SHOUT && !/\p{Ll}/u.test(letters))
    warnings.push(whole("subject", "subject_all_capitals", "The subject is all capitals, as spam often is."));
  return warnings;
}

function lintBody({ html, type, renderedBytes, footerHasAddress }: LintedContent): Warning[] {
  const { notes, hasPreviewText, hasText, lastText } = lintHtml(html);
  const warnings = unsubscribeWarnings("body", html, type);
  const bytes = renderedBytes ?? Buffer.byteLength(html);
  if (bytes > HTML_MAX_BYTES)
    warnings.push(
      whole(
        "body",
        "html_large",
        `The HTML has ${Math.ceil(bytes / 1000)} kB. Gmail cuts a mail at 102 kB, and what stands at its end is not seen.`,
      ),
    );
  if (!hasText)
    warnings.push(
      whole(
        "body",
        "no_text",
        "The mail shows no text. With images off it is empty, and filters distrust it.",
      ),
    );
  else if (!hasPreviewText && type !== "TRANSACTIONAL")
    warnings.push(
      whole(
        "body",
        "no_preview_text",
        "There is no preview text: lists of mails show the first words of the body. Put a hidden element with a sentence at the beginning.",
      ),
    );
  const isAddressAdded =
    footerHasAddress && (!hasUnsubscribeLink(html) || asksForFooter({ html, text: null }));
  if (type === "MARKETING" && hasText && !isAddressAdded && !showsPostalAddress(lastText, html))
    warnings.push(
      whole(
        "body",
        "no_postal_address",
        "There seems to be no postal address. The laws of many countries ask for the sender's name and address in advertising: set `postalAddress` of the project, or put them at the end.",
      ),
    );
  const locate = createLocator(html);
  for (const { code, message, offset } of notes.toSorted((a, b) => (a.offset ?? 0) - (b.offset ?? 0)))
    warnings.push(
      offset === null
        ? whole("body", code, message)
        : { code, message, where: { field: "body", ...locate(offset) } },
    );
  return warnings;
}

function lintText({ text, type }: LintedContent): Warning[] {
  return text === null ? [] : unsubscribeWarnings("text", text, type);
}

function unsubscribeWarnings(field: "body" | "text", source: string, type: TemplateType | null): Warning[] {
  if (type === null || type === "TRANSACTIONAL" || hasUnsubscribeLink(source)) return [];
  if (type === "MARKETING")
    return [
      whole(
        field,
        "unsubscribe_link_added",
        "There is no {{unsubscribeUrl}} or {{manageUrl}}: a footer with both links is added.",
      ),
    ];
  return [
    whole(
      field,
      "no_unsubscribe_link",
      "Nobody can see how to unsubscribe: a HEADLESS mail gets no footer. Put {{unsubscribeUrl}} or {{manageUrl}} into it.",
    ),
  ];
}

/** Each unknown name once, where it stands first. */
export function unknownVariables(parts: LintedParts, known: ReadonlySet<string>): Warning[] {
  return firstUses(parts)
    .filter(({ name }) => !known.has(name))
    .map(unknownVariable);
}

/** Each variable of a content once, where it stands first. */
export function firstUses(parts: LintedParts): Array<{ name: string; where: Place }> {
  const met = new Set<string>();
  return parts.flatMap(([field, source]) => {
    const locate = createLocator(source);
    return variablesOf(source).flatMap(({ name, start }) => {
      const place = locate(start);
      if (met.has(name)) return [];
      met.add(name);
      return [{ name, where: { field, ...place } }];
    });
  });
}

export function unknownVariable({ name, where }: { name: string; where: Place }): Warning {
  const message = `No contact has a value for "${name}": it shows nothing, or what stands after ??.`;
  return { code: "unknown_variable", message, where };
}
