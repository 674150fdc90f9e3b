// Adds the footer of marketing emails to a message template once and visibly, unless the author has placed an unsubscribe link.
import { Parser } from "htmlparser2";
import { FOOTER_TEXT_VARIABLE, OPT_OUT_VARIABLES } from "@postloft/contract/footer-frame.ts";
import type { Footer } from "../rendering/template-variables.ts";
import { depthChange, scanTemplate } from "../rendering/scan-template.ts";
import { isUnseen } from "../rendering/text-part.ts";
import { footerFor } from "./footer-frame.ts";
import { mustachesOf } from "./mustaches.ts";

/** A variable in place of the footer, because its language and links differ per recipient (spec §2.2 rule 8). */
const FOOTER_TEXT = `{{{${FOOTER_TEXT_VARIABLE}}}}`;

/** Elements that contain only text. */
const RAW_TEXTS = ["style", "script", "title", "textarea"];
const OWN_LINKS = new Set(OPT_OUT_VARIABLES);
const OWN_LINK = new RegExp(OPT_OUT_VARIABLES.join("|"));

/**
 * Returns both parts with the footer at their end. Parts with their own unsubscribe link stay unchanged.
 * `text` is null if it is generated from the HTML including the footer.
 * @param footer null for variables, which are filled for each recipient, in the email's own colors
 */
export function withFooter(
  { html, text }: { html: string; text: string | null },
  footer: Footer | null = null,
): { html: string; text: string | null } {
  const end = endOfBody(html);
  const before = html.slice(0, end);
  return {
    html: hasUnsubscribeLink(html)
      ? html
      : `${closedHidden(before)}${footer?.html ?? footerFor(html)}${html.slice(end)}`,
    text: text === null || hasUnsubscribeLink(text) ? text : `${text}\n\n${footer?.text ?? FOOTER_TEXT}`,
  };
}

/** Returns whether a part displays `{{unsubscribeUrl}}` or `{{manageUrl}}` outside of comments. */
export function hasUnsubscribeLink(source: string): boolean {
  // Cheap pre-check because reading the mustaches takes a while and most bodies have no such link.
  if (!OWN_LINK.test(source)) return false;
  return mustachesOf(source).some(
    ({ kind, words, start }) =>
      kind === "value" && OWN_LINKS.has(words[0]?.text ?? "") && !isInComment(source, start),
  );
}

/** Returns the position of `</body>`, or the end if that tag is inside a block or comment, where the footer could vanish. */
function endOfBody(html: string): number {
  const at = lastIndexOfTag(html);
  if (at === -1 || isInComment(html, at)) return html.length;
  let depth = 0;
  for (const { kind, start, end } of scanTemplate(html).pieces) {
    if (start <= at && at < end) return kind === "content" && depth === 0 ? at : html.length;
    if (kind === "control") depth += depthChange(html.slice(start, end));
  }
  return html.length;
}

/** Returns the HTML with all hidden elements closed, so that a following footer is visible. */
function closedHidden(html: string): string {
  const whole = html + closingText(html);
  return whole + endTagsOf(openHiddenElements(whole));
}

/** Returns the open elements at the end of the HTML, from the outermost hidden one inward. */
function openHiddenElements(html: string): string[] {
  const open: { name: string; isUnseen: boolean }[] = [];
  const parser = new Parser({
    onopentag: (name, attributes) => open.push({ name, isUnseen: isUnseen(name, attributes) }),
    onclosetag: () => open.pop(),
  });
  parser.write(html);
  const from = open.findIndex((element) => element.isUnseen);
  return from === -1 ? [] : open.slice(from).map(({ name }) => name);
}

const endTagsOf = (names: readonly string[]) =>
  names
    .toReversed()
    .map((name) => `</${name}>`)
    .join("");

/** Returns the text that closes an unfinished comment, raw-text element or tag at the end of the HTML, or "" if there is none. */
function closingText(html: string): string {
  const lower = html.toLowerCase();
  const closings = [
    ...(isInComment(html, html.length) ? ["-->"] : []),
    ...RAW_TEXTS.filter((name) => lower.lastIndexOf(`<${name}`) > lower.lastIndexOf(`</${name}`)).map(
      (name) => `</${name}>`,
    ),
    ...(html.lastIndexOf("<") > html.lastIndexOf(">") ? [">", '">', "'>"] : []),
  ];
  if (closings.length === 0 || isShownBehind(html)) return "";
  return closings.find((closing) => isShownBehind(html + closing)) ?? "";
}

/** Returns whether an element appended to the HTML would be parsed as an element. */
function isShownBehind(html: string): boolean {
  let isShown = false;
  const parser = new Parser({
    onopentagname() {
      isShown = parser.startIndex === html.length;
    },
  });
  parser.end(`${html}<div>`);
  return isShown;
}

function lastIndexOfTag(html: string): number {
  let last = -1;
  for (const match of html.matchAll(/<\/body\s*>/gi)) last = match.index;
  return last;
}

function isInComment(html: string, at: number): boolean {
  const open = html.lastIndexOf("<!--", at);
  return open !== -1 && html.lastIndexOf("-->", at) < open;
}
