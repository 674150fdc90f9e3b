// Renders a public page with one card, one heading and one button. Plain HTML without scripts or external resources, in light and dark
// mode.
import { escapeHtml } from "../../platform/escape-html.ts";
import { writePublicPage } from "../../platform/http/public-page.ts";
import { fillHtml, fillText, type TextValues } from "./fill-text.ts";
import type { PageTexts } from "./languages/en.ts";
import { directionOf, textsOf, type Locale } from "./locale.ts";

export type TextKey = keyof PageTexts;

export interface PageButton {
  label: TextKey;
  /** The form's action, and the change it requests there. */
  target: string;
  action: "subscribe" | "unsubscribe";
  /** `strong` for the purpose of the page, `quiet` for undoing it. */
  weight: "strong" | "quiet";
}

export interface PageContent {
  /** The project's name, if known. */
  sender: string | null;
  heading: TextKey;
  text: TextKey;
  /** Set after a change, so that screen readers announce it. */
  isNews: boolean;
  note: TextKey | null;
  button: PageButton | null;
  link: { label: TextKey; target: string } | null;
}

/**
 * Renders the page in a language. `values` fill the names in the texts, and unknown names do not occur there.
 * @param brand the path of an image on this server, and CSS that changes colors
 */
export function writePage(
  locale: Locale,
  content: PageContent,
  values: TextValues,
  { logo = null, style = "" }: { logo?: string | null; style?: string } = {},
): string {
  const texts = textsOf(locale);
  const { sender, heading, text, isNews, note, button, link } = content;
  const title = [fillText(texts[heading], values), ...(sender === null ? [] : [sender])].join(" – ");
  const lines = [
    logo === null ? "" : `<img class="logo" src="${escapeHtml(logo)}" alt="">`,
    sender === null ? "" : `<p class="sender"><bdi>${escapeHtml(sender)}</bdi></p>`,
    `<div${isNews ? ' role="status"' : ""}><h1>${fillHtml(texts[heading], values)}</h1>
<p>${fillHtml(texts[text], values)}</p></div>`,
    note === null ? "" : `<p class="note">${fillHtml(texts[note], values)}</p>`,
    button === null ? "" : writeButton(texts, button),
    link === null ? "" : `<a href="${escapeHtml(link.target)}">${escapeHtml(texts[link.label])}</a>`,
  ];
  return writePublicPage({ language: locale, direction: directionOf(locale), title, lines, style });
}

function writeButton(texts: PageTexts, { label, target, action, weight }: PageButton): string {
  return (
    `<form method="post" action="${escapeHtml(target)}"><input type="hidden" name="action" value="${action}">` +
    `<button type="submit" class="${weight}">${escapeHtml(texts[label])}</button></form>`
  );
}
