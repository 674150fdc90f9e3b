// The inline styles of an email made of blocks. The HTML of the email and the editor that shows it share them, so that both look the same.
import { contrastOf, EDGE_CONTRAST, inkOn } from "./color.ts";
import type { Align, Leaf, Look } from "./design.ts";
import { EMAIL_FONTS } from "./email-fonts.ts";

const HEADING_SIZES = { 1: "28px", 2: "22px", 3: "18px" } as const;
/** The space between columns, in pixels. */
const COLUMN_GAP = 20;

/** Windows up to this width show columns below each other. */
export const NARROW_PX = 480;
export const NARROW_COLUMN = "display:block;width:100%;padding-left:0;padding-right:0";
export const NARROW_INNER = "padding:24px 20px";

export const PAGE_PADDING = "padding:24px 12px";
export const LIST_STYLE = "margin:0 0 16px;padding-left:24px";
export const LIST_ITEM_STYLE = "margin:0 0 6px";
export const DIVIDER_STYLE = "margin:8px 0 24px;border:0;border-top:1px solid #d9dce1";
/** The size of links at the end of an email. */
export const SMALL = "14px";

export function bodyStyle({ background, ink, font }: Look): string {
  return `margin:0;padding:0;background:${background};color:${ink};font-family:${EMAIL_FONTS[font]}`;
}

export function surfaceStyle({ width, surface }: Look): string {
  return `width:100%;max-width:${width}px;background:${surface};border-radius:8px`;
}

export function innerStyle({ ink }: Look): string {
  return `padding:32px 36px;font-size:16px;line-height:1.5;color:${ink};text-align:left`;
}

export function columnWidth(count: number): string {
  return `${Math.floor(100 / count)}%`;
}

/** @param at position of the column, from 0 */
export function columnStyle(at: number, count: number): string {
  const half = COLUMN_GAP / 2;
  const left = at === 0 ? 0 : half;
  const right = at === count - 1 ? 0 : half;
  return `width:${columnWidth(count)};padding:0 ${right}px 0 ${left}px`;
}

export function headingStyle({ level, align }: Extract<Leaf, { kind: "heading" }>): string {
  return `margin:0 0 16px;font-size:${HEADING_SIZES[level]};line-height:1.25;text-align:${align}`;
}

export function paragraphStyle(align: Align): string {
  return `margin:0 0 16px;text-align:${align}`;
}

/** @param size of the text; default: that of the email */
export function alignedStyle(align: Align, size?: string): string {
  const font = size === undefined ? "" : `;font-size:${size}`;
  return `margin:0 0 24px;text-align:${align}${font}`;
}

export function buttonStyle({ accent }: Look): string {
  return `display:inline-block;padding:12px 24px;border-radius:6px;background:${accent};color:${inkOn(accent)};font-weight:600;text-decoration:none`;
}

/** @param width in pixels; null for the full width */
export function imageStyle(width: number | null): string {
  return `width:${width === null ? "100%" : `${width}px`};max-width:100%;height:auto;border:0;display:inline-block`;
}

export function spaceStyle(height: number): string {
  return `height:${height}px;line-height:${height}px;font-size:1px`;
}

export function linkStyle(look: Look): string {
  return `color:${linkInk(look)}`;
}

/** Returns the accent, or the ink if links in the accent would be hard to read. */
function linkInk({ accent, surface, ink }: Look): string {
  return contrastOf(accent, surface) >= EDGE_CONTRAST ? accent : ink;
}
