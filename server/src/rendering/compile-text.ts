// Compiles the text part of a message template from its HTML, once per template instead of once per email.
import { FOOTER_HTML_VARIABLE, FOOTER_TEXT_VARIABLE } from "@postloft/contract/footer-frame.ts";
import { sharePieces, wholeText } from "../message/part-text.ts";
import { ContentError, HTML_OPTIONS, compileTree, problemText, type PartTemplate } from "./compile-part.ts";
import { compileTemplate, type CompileOptions } from "./compile-template.ts";
import { depthChange, scanTemplate } from "./scan-template.ts";
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

/** Characters that have a meaning in Handlebars but are literal in the text part, mapped to their placeholders. */
const LITERALS = new Map([
  ["{", "\uFDD7"],
  ["}", "\uFDDA"],
  ["\\", "\uFDDB"],
]);

/** The footer as HTML. Rendering the text footer instead is faster than converting the HTML footer for each recipient. */
const HTML_FOOTER = new RegExp(`^\\{\\{\\{\\s*${FOOTER_HTML_VARIABLE}\\s*\\}\\}\\}$`);
const TEXT_FOOTER = `{{${FOOTER_TEXT_VARIABLE}}}`;

/**
 * Compiles the text part into a template of its own, so that HTML is parsed once and not for every email.
 * Mustaches pass through the conversion as placeholders. If blocks are unbalanced afterwards (an attribute opened one), the blocks are
 * dropped and their content stays.
 */
export function compileTextOf(html: string, step: () => void): PartTemplate {
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
      // Equal mustaches share a placeholder, so that a link with its URL as text is recognized.
      const number = known.get(source) ?? mustaches.push(source) - 1;
      known.set(source, number);
      hasControls ||= kind === "control";
      prepared += `${kind === "control" ? CONTROL : PLACEHOLDER}${number}${PLACEHOLDER_END}`;
    }
  }
  const controls: [number, string][] = [];
  const marked = markedText(prepared, (number, within) => controls.push([number, within])).replace(
    /[{}\\]/g,
    (character) => LITERALS.get(character) ?? character,
  );
  if (areTangled(controls.map(([number, within]) => [mustaches[number] ?? "", within])))
    return compileWholeText(html, step);
  return (
    (hasControls ? compileBlocks(marked, mustaches, step) : null) ?? compileValues(marked, mustaches, step)
  );
}

/**
 * Returns whether blocks choose the start or end of a link or hidden element, as in `{{#if vip}}<a href="…">{{else}}<a
 * href="…">{{/if}}Shop</a>`.
 * @param controls in order, each with the element that contains it
 */
function areTangled(controls: ReadonlyArray<readonly [mustache: string, within: string]>): boolean {
  const begun: string[] = [];
  for (const [mustache, within] of controls) {
    const change = depthChange(mustache);
    if (change > 0) begun.push(within);
    else if (begun.length > 0 && begun.at(-1) !== within) return true;
    if (change < 0) begun.pop();
  }
  return false;
}

/** Converts each email's rendered HTML to text. This takes many times as long, but the text cannot be derived from the template. */
function compileWholeText(html: string, step: () => void): PartTemplate {
  const template = compileTree("html", html, HTML_OPTIONS, step);
  return (variables) => htmlToText(wholeText(template(variables)));
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
  listsAsLines: true,
  // `{{{x}}}` inserts HTML into HTML, so the text part needs its text. URLs stay unchanged because `&copy` without `;` is a letter in text
  // but not in an attribute.
  mapUnescaped: (value) => (/<|&(?:#\w{1,8}|\w{1,40});/.test(value) ? htmlToText(value) : value),
};
