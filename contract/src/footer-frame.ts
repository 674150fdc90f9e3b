// Frames the footer of an email in its own colors. The footer is rendered for each recipient, and reads its colors from the frame.
import { mixed, softInk } from "./color.ts";

/** The look of a footer, as its frame defines it. */
export interface FooterLook {
  ink: string;
  /** null for the alignment that the project's brand has. */
  align: "left" | "center" | "right" | null;
}

/** The variables for the footer in the recipient's language, as HTML and as lines of text. */
export const FOOTER_HTML_VARIABLE = "unsubscribeFooterHtml";
export const FOOTER_TEXT_VARIABLE = "unsubscribeFooterText";
/** Variables with which authors place the footer or a link of their own. Such an email gets no other footer. */
export const OPT_OUT_VARIABLES: readonly string[] = [
  "unsubscribeUrl",
  "manageUrl",
  FOOTER_HTML_VARIABLE,
  FOOTER_TEXT_VARIABLE,
];
const FOOTER = `{{{${FOOTER_HTML_VARIABLE}}}}`;
const FRAME = /class="email-footer" style="color:(#[0-9a-f]{6});(?:text-align:(left|center|right);)?/;

/** Returns the attributes of an element that contains the footer, in readable colors for the ink and the background. */
export function footerAttributes(
  { ink, align }: FooterLook,
  background: string,
  /** More declarations. */
  style = "",
): string {
  return `class="email-footer" style="${footerStyle({ ink, align }, background)}${style}"`;
}

/** Returns the style of that element. */
export function footerStyle({ ink, align }: FooterLook, background: string): string {
  const line = mixed(ink, background, 0.8);
  const alignment = align === null ? "" : `text-align:${align};`;
  return `color:${softInk(ink, background)};${alignment}border-top:1px solid ${line};padding:20px 0`;
}

/** Returns a footer in its frame. */
export function framedFooter(look: FooterLook, background: string): string {
  return `<div ${footerAttributes(look, background)}>${FOOTER}</div>`;
}

/** Returns the look that the frame of a footer defines, or null if its author placed it elsewhere. */
export function footerLookOf(html: string): FooterLook | null {
  const [, ink, align = null] = FRAME.exec(html) ?? [];
  return ink === undefined ? null : { ink, align: align as FooterLook["align"] };
}
