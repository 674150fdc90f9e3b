// Renders the marketing email footer in the contact's language, with the reason for the email and a way to unsubscribe.
import type { FooterLook } from "@postloft/contract/footer-frame.ts";
import { escapeHtml } from "../../platform/escape-html.ts";
import { fillHtml, fillText } from "./fill-text.ts";
import { chooseLocale, directionOf, textsOf } from "./locale.ts";

export interface FooterLinks {
  unsubscribeUrl: string;
  manageUrl: string;
}

export interface Footer {
  html: string;
  text: string;
}

/** Project details shown in the footer. */
export interface FooterProject {
  name: string;
  /** Lines. */
  postalAddress?: string | null;
  /** An https address. */
  logoUrl?: string | null;
  /** Alignment of the footer, unless the email sets it. */
  align?: string;
  /** Whether the footer shows the logo; default true. */
  showsLogo?: boolean;
}

const TEXT = "font-size:14px;line-height:1.6";
// Fixed text and background colors, readable (6:1) in any surrounding design.
const BOX = `margin:32px 0 0;padding:20px 16px;border-top:1px solid #d5d8de;background-color:#ffffff;color:#566072;font-family:Arial,Helvetica,sans-serif;${TEXT}`;
const LINK_INK = "#1f5fbf";

/**
 * Returns a function that renders the footers of a project in a language, as HTML for `</body>` and as plain text. Footers are added after
 * the template was rendered, so project details are never template code. The shared parts are built once.
 * @param locale the contact's `data.locale`, or the project's language. Unknown values mean English
 * @param look the colors of the email, or null for a box with colors of its own
 */
export function footersOf(
  locale: string,
  { name, postalAddress = null, logoUrl = null, align = "center", showsLogo = true }: FooterProject,
  look: FooterLook | null = null,
): (links: FooterLinks) => Footer {
  const language = chooseLocale(locale);
  const texts = textsOf(language);
  const names = { project: name };
  const logo =
    logoUrl === null || !showsLogo
      ? ""
      : `<p style="margin:0 0 12px"><img src="${escapeHtml(logoUrl)}" alt="${escapeHtml(name)}" height="40" style="height:40px;width:auto;max-width:100%;border:0"></p>`;
  const lines = postalAddress === null ? [] : postalAddress.split("\n");
  const address =
    lines.length === 0 ? "" : `<p style="margin:8px 0 0">${lines.map(escapeHtml).join("<br>")}</p>`;
  const { unsubscribeButton, manageLink } = texts;
  const alignment = `text-align:${look?.align ?? align}`;
  const style = look === null ? `${BOX};${alignment}` : `color:${look.ink};${TEXT};${alignment}`;
  const anchorEnd = (label: string) =>
    `" style="color:${look?.ink ?? LINK_INK};text-decoration:underline">${escapeHtml(label)}</a>`;
  const start =
    `<div lang="${language}" dir="${directionOf(language)}" style="${style}">${logo}` +
    `<p style="margin:0 0 8px">${fillHtml(texts.footerReason, names)}</p><p style="margin:0">`;
  const between = `${anchorEnd(unsubscribeButton)} <span aria-hidden="true">·</span> `;
  const end = `${anchorEnd(manageLink)}</p>${address}</div>`;
  const reason = fillText(texts.footerReason, names);
  return ({ unsubscribeUrl, manageUrl }) => ({
    html: `${start}<a href="${escapeHtml(unsubscribeUrl)}${between}<a href="${escapeHtml(manageUrl)}${end}`,
    text: [reason, `${unsubscribeButton}: ${unsubscribeUrl}`, `${manageLink}: ${manageUrl}`, ...lines].join(
      "\n",
    ),
  });
}
