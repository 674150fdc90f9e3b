// Colors of public pages from the brand of their project. Text stays readable for any brand.
import { EMAIL_FONTS, type EmailFont } from "@postloft/contract/email-fonts.ts";
import { EDGE_CONTRAST, inkOn, mixed, readableOn, softInk } from "@postloft/contract/color.ts";
import { DARK, DARK_CARD } from "../../platform/http/public-page.ts";

/** The parts of a brand that pages have. */
export interface PageBrand {
  background: string;
  surface: string;
  ink: string;
  accent: string;
  /** The name of its font. */
  font: string;
}

/** Returns CSS that sets the colors of public-page.ts. Dark mode keeps our colors around the accent, unless the brand itself is dark. */
export function pageStyle(brand: PageBrand): string {
  const { background, surface, ink, accent, font } = brand;
  const fonts = EMAIL_FONTS[font as EmailFont] ?? EMAIL_FONTS.sans;
  const isDark = inkOn(surface) === "#ffffff";
  const all =
    `--font:${fonts};--ink:${ink};--soft:${softInk(ink, surface)};--paper:${background};--card:${surface};` +
    `--line:${mixed(ink, surface, 0.8)};${accents(accent, surface)}`;
  if (isDark) return `:root{color-scheme:dark;${all}}`;
  return `:root{${all}}@media (prefers-color-scheme:dark){:root{${DARK};${accents(accent, DARK_CARD)}}}`;
}

/** A button keeps the accent, and its edge and the links are as dark or light as readers need. */
function accents(accent: string, card: string): string {
  return `--strong:${accent};--on-strong:${inkOn(accent)};--edge:${readableOn(accent, card, EDGE_CONTRAST)};--link:${readableOn(accent, card)}`;
}
