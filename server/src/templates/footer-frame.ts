// Frames the footer of an email in the email's own width and colors, read from the elements around its text.
import { Parser } from "htmlparser2";
import { inkOn, legibleInk } from "@postloft/contract/color.ts";
import { FOOTER_HTML_VARIABLE, footerAttributes } from "@postloft/contract/footer-frame.ts";
import { isUnseen } from "../rendering/text-part.ts";

const SURROUNDING = new Set(["body", "table", "td", "div", "center"]);
const NARROWEST = 320;
const WIDEST = 900;
const USUAL_WIDTH = 600;
const TABLE = `role="presentation" cellpadding="0" cellspacing="0" border="0"`;
const FOOTER = `{{{${FOOTER_HTML_VARIABLE}}}}`;

interface Surroundings {
  /** Of the page. Null if unknown, such as a picture or a color in a style sheet. */
  background: string | null;
  ink: string | null;
  font: string | null;
  width: number | null;
}

/** Returns the footer for the end of an email. Without a known background it has colors of its own. */
export function footerFor(html: string): string {
  const { background, ink, font, width } = surroundingsOf(html);
  if (background === null)
    return width === null
      ? `<div>${FOOTER}</div>`
      : `<div style="max-width:${width}px;margin:0 auto">${FOOTER}</div>`;
  const look = { ink: ink === null ? inkOn(background) : legibleInk(ink, background), align: null };
  const columns = width ?? USUAL_WIDTH;
  const attributes = footerAttributes(look, background, font === null ? "" : `;font-family:${font}`);
  return (
    `<table ${TABLE} width="100%" style="background:${background}"><tr><td align="center" style="padding:0 12px 24px">` +
    `<table ${TABLE} width="${columns}" style="width:100%;max-width:${columns}px"><tr><td ${attributes}>${FOOTER}</td></tr></table>` +
    `</td></tr></table>`
  );
}

/** An element that may surround the email, with the number of visible texts and pictures until its end. */
interface Candidate {
  attributes: Readonly<Record<string, string>>;
  style: Map<string, string>;
  until: number | null;
}

/** Reads the elements that contain everything visible, up to the first one with a width of its own. Others are parts of the email. */
function surroundingsOf(html: string): Surroundings {
  const found: Surroundings = { background: null, ink: null, font: null, width: null };
  for (const { attributes, style } of elementsAround(html)) {
    found.width = widthOf(attributes["width"], style);
    // The text's own background is not the one around it.
    if (found.width !== null && found.background !== null) return found;
    const background = style.get("background-color") ?? style.get("background") ?? attributes["bgcolor"];
    if (background !== undefined) found.background = hexOf(background);
    const ink = hexOf(style.get("color") ?? "");
    if (ink !== null) found.ink = ink;
    found.font ??= fontOf(style.get("font-family"));
    if (found.width !== null) return found;
  }
  return found;
}

function elementsAround(html: string): Candidate[] {
  const candidates: Candidate[] = [];
  const open: Array<{ isUnseen: boolean; candidate: Candidate | null }> = [];
  let visible = 0;
  let unseen = 0;
  const parser = new Parser({
    onopentag(name, attributes) {
      const hides = isUnseen(name, attributes);
      let candidate: Candidate | null = null;
      if (SURROUNDING.has(name) && visible === 0 && unseen === 0 && !hides) {
        const style = declarationsOf(attributes["style"] ?? "");
        candidate = { attributes, style, until: null };
        candidates.push(candidate);
      }
      open.push({ isUnseen: hides, candidate });
      if (hides) unseen += 1;
      else if (name === "img" && unseen === 0) visible += 1;
    },
    ontext(text) {
      if (unseen === 0 && text.trim() !== "") visible += 1;
    },
    onclosetag() {
      const element = open.pop();
      if (element?.isUnseen === true) unseen -= 1;
      if (element?.candidate) element.candidate.until = visible;
    },
  });
  parser.end(html);
  return candidates.filter(({ until }) => until === visible);
}

function declarationsOf(style: string): Map<string, string> {
  return new Map(
    style.split(";").map((declaration) => {
      const colon = declaration.indexOf(":");
      return [declaration.slice(0, colon).trim().toLowerCase(), declaration.slice(colon + 1).trim()];
    }),
  );
}

function widthOf(attribute: string | undefined, style: Map<string, string>): number | null {
  const widths = [style.get("max-width"), style.get("width"), attribute].map((text) =>
    /^\d{3}(?:px)?$/.test(text ?? "") ? Number.parseInt(text ?? "", 10) : 0,
  );
  return widths.find((width) => width >= NARROWEST && width <= WIDEST) ?? null;
}

const NAMES: Readonly<Record<string, string>> = { white: "#ffffff", black: "#000000" };

/** Returns a color as #rrggbb, or null for any other form. */
function hexOf(text: string): string | null {
  const colour = text.toLowerCase().replace("!important", "").trim();
  if (/^#[0-9a-f]{3}$/.test(colour)) return colour.replace(/[0-9a-f]/g, "$&$&");
  return /^#[0-9a-f]{6}$/.test(colour) ? colour : (NAMES[colour] ?? null);
}

/** Returns the fonts, if they are plain names. */
function fontOf(text: string | undefined): string | null {
  return text !== undefined && /^[A-Za-z0-9 ,'-]{1,200}$/.test(text) ? text : null;
}
