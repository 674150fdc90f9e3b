// Writes a public page: one card, one heading, one button. Plain HTML without script or foreign resource, light and dark.
import { escapeHtml } from "../../platform/escape-html.ts";
import { writePublicPage } from "../../platform/http/public-page.ts";
import { fillHtml, fillText, type TextValues } from "./fill-text.ts";
import type { PageTexts } from "./languages/en.ts";
import { directionOf, textsOf, type Locale } from "./locale.ts";

export type TextKey = keyof PageTexts;

export interface PageButton {
  label: TextKey;
  /** Where the form goes, and what it asks for there. */
  target: string;
  action: "subscribe" | "unsubscribe";
  /** `strong` for what the page is for, `quiet` for the way back. */
  weight: "strong" | "quiet";
}

export interface PageContent {
  /** The project's name, where it is known. */
  sender: string | null;
  heading: TextKey;
  text: TextKey;
  /** Something was just done: it is announced. */
  isNews: boolean;
  note: TextKey | null;
  button: PageButton | null;
  link: { label: TextKey; target: string } | null;
}

/**
 * The page in a language. `values` stand for the names in the texts; what is not known there is never asked for.
 *
 * @param logo the path of an image of ours
 */
export function writePage(
  locale: Locale,
  content: PageContent,
  values: TextValues,
  logo: string | null = null,
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
  return writePublicPage({ language: locale, direction: directionOf(locale), title, lines });
}

function writeButton(texts: PageTexts, { label, target, action, weight }: PageButton): string {
  return (
    `<form method="post" action="${escapeHtml(target)}"><input type="hidden" name="action" value="${action}">` +
    `<button type="submit" class="${weight}">${escapeHtml(texts[label])}</button></form>`
  );
}
