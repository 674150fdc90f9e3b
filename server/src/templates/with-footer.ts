// Puts the footer of marketing mails into a content: once, where a reader sees it, and not where the author has a link of their own.
import { Parser } from "htmlparser2";
import { FOOTER_HTML_VARIABLE, FOOTER_TEXT_VARIABLE, type Footer } from "../rendering/template-variables.ts";
import { depthChange, scanTemplate } from "../rendering/scan-template.ts";
import { isUnseen } from "../rendering/text-part.ts";
import { mustachesOf } from "./mustaches.ts";

/** Variables in place of a footer: its language and links are each recipient's own (spec §2.2 rule 8). */
export const FOOTER_VARIABLES: Footer = {
  html: `<div>{{{${FOOTER_HTML_VARIABLE}}}}</div>`,
  text: `{{{${FOOTER_TEXT_VARIABLE}}}}`,
};

/** Elements whose text holds no other. */
const RAW_TEXTS = ["style", "script", "title", "textarea"];
/** Whoever places the footer themselves has it where they want it. */
const OWN_LINKS = new Set(["unsubscribeUrl", "manageUrl", FOOTER_HTML_VARIABLE, FOOTER_TEXT_VARIABLE]);
const OWN_LINK = new RegExp([...OWN_LINKS].join("|"));

/**
 * The two parts with the footer at their end; a part that has a link of its own stays as it is. `text` is null when it
 * is made from the HTML, footer included.
 */
export function withFooter(
  { html, text }: { html: string; text: string | null },
  footer: Footer = FOOTER_VARIABLES,
): { html: string; text: string | null } {
  const end = endOfBody(html);
  const before = html.slice(0, end);
  return {
    html: hasUnsubscribeLink(html) ? html : `${endedUnseen(before)}${footer.html}${html.slice(end)}`,
    text: text === null || hasUnsubscribeLink(text) ? text : `${text}\n\n${footer.text}`,
  };
}

/** Whether a part shows `{{unsubscribeUrl}}` or `{{manageUrl}}`; in a comment nobody sees it. */
export function hasUnsubscribeLink(source: string): boolean {
  // Reading the mustaches takes a while, and most bodies have nothing like it.
  if (!OWN_LINK.test(source)) return false;
  return mustachesOf(source).some(
    ({ kind, words, start }) =>
      kind === "value" && OWN_LINKS.has(words[0]?.text ?? "") && !isInComment(source, start),
  );
}

/** Where `</body>` stands, else the end: never inside a block or a comment, in which the footer could vanish. */
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

/** The HTML with an end to all in which nothing is shown: a footer behind it is seen. */
function endedUnseen(html: string): string {
  const whole = html + closingOf(html);
  return whole + endTagsOf(unseenIn(whole));
}

/** What is open at the end of this, from the outermost element on that is not shown; outermost first. */
function unseenIn(html: string): string[] {
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

/**
 * What ends that in which nothing is shown and in the middle of which HTML stops: a comment, the text of a style or a title, a tag; ''
 * where it stops in none of them.
 */
function closingOf(html: string): string {
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

/** Whether an element that follows this is one. */
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
