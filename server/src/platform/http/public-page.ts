// Renders the frame of pages that links in emails open: one card of plain HTML in light or dark, without scripts or resources of other servers.
import { createHash } from "node:crypto";
import { escapeHtml } from "../escape-html.ts";

/** The icon and the font of all our pages. */
export const ICON_PATH = "/assets/favicon.svg";
export const FONT_PATH = "/assets/inter.woff2";

/** Our colors in light and dark, with the values of dashboard/src/ui/tokens.css. */
const LIGHT =
  "--ink:#17181c;--soft:#5b5e69;--paper:#fbfbfc;--card:#ffffff;--line:#e4e4e9;--strong:#4a4fd6;--on-strong:#fff;--edge:#4a4fd6;--link:#4a4fd6";
/** The surface of our dark pages. */
export const DARK_CARD = "#14161a";
/** Our dark colors without those of the accent, which the brand of a project may replace. */
export const DARK = `--ink:#eeeff2;--soft:#a2a6b3;--paper:#0d0e11;--card:${DARK_CARD};--line:#25282f`;
const DARK_ACCENT = "--strong:#8d93ff;--on-strong:#10131a;--edge:#8d93ff;--link:#8d93ff";

const STYLE = `
@font-face { font-family: "Inter Variable"; src: url("${FONT_PATH}") format("woff2"); font-weight: 100 900; font-display: swap }
:root { color-scheme: light dark; ${LIGHT} }
@media (prefers-color-scheme: dark) { :root { ${DARK};${DARK_ACCENT} } }
* { box-sizing: border-box }
body { margin: 0; min-height: 100vh; display: grid; place-items: center; padding: 24px 16px; background: var(--paper); color: var(--ink); font: 17px/1.55 var(--font, "Inter Variable", system-ui, -apple-system, "Segoe UI", Roboto, "Noto Sans", sans-serif) }
main { width: 100%; max-width: 480px; padding: 40px 36px 32px; background: var(--card); border: 1px solid var(--line); border-radius: 16px; text-align: center; overflow-wrap: anywhere }
.logo { display: block; max-width: 240px; max-height: 80px; margin: 0 auto 16px }
.sender { margin: 0 0 12px; color: var(--soft); font-size: 15px; font-weight: 600 }
h1 { margin: 0 0 12px; font-size: 25px; line-height: 1.25; text-wrap: balance }
p { margin: 0 0 12px; text-wrap: pretty }
.note { color: var(--soft); font-size: 15px }
form + .note { margin-top: 16px }
form { margin: 24px 0 0 }
button { min-height: 48px; min-width: 200px; max-width: 100%; padding: 10px 28px; border: 2px solid var(--edge); border-radius: 10px; background: var(--strong); color: var(--on-strong); font: inherit; font-weight: 600; cursor: pointer }
button.quiet { background: none; color: var(--link) }
button:hover { filter: brightness(1.08) }
a { display: inline-block; margin-top: 12px; padding: 10px 8px; color: var(--link); font-size: 15px }
label { display: block; margin: 0 0 6px; text-align: left; font-size: 15px; font-weight: 600 }
input { width: 100%; min-height: 48px; margin: 0 0 16px; padding: 10px 14px; border: 2px solid var(--line); border-radius: 10px; background: none; color: inherit; font: inherit }
button:focus-visible, input:focus-visible, a:focus-visible { outline: 3px solid var(--link); outline-offset: 3px }
@media (max-width: 420px) { main { padding: 32px 22px } button { width: 100% } }
`;

const hashOf = (style: string) => `'sha256-${createHash("sha256").update(style).digest("base64")}'`;
const STYLE_HASH = hashOf(STYLE);

/**
 * Returns the headers of a page. They allow only its style, our images, our font and forms to this site, and forbid frames and traces in search or
 * history.
 */
export function pageHeaders(style = "") {
  const styles = style === "" ? STYLE_HASH : `${STYLE_HASH} ${hashOf(style)}`;
  return {
    "content-type": "text/html; charset=utf-8",
    "content-security-policy": `default-src 'none'; style-src ${styles}; img-src 'self'; font-src 'self'; form-action 'self'; frame-ancestors 'none'; base-uri 'none'`,
    "x-robots-tag": "noindex, nofollow",
    "x-frame-options": "DENY",
    "cross-origin-opener-policy": "same-origin",
  };
}

/** Headers of pages in our own colors. */
export const PAGE_HEADERS = pageHeaders();

/** Returns the HTML of a page. @param page `title` as text, `lines` as HTML, `style` as CSS that changes colors */
export function writePublicPage(page: {
  language: string;
  direction: "ltr" | "rtl";
  title: string;
  lines: readonly string[];
  style?: string;
}): string {
  const { language, direction, title, lines, style = "" } = page;
  return `<!doctype html>
<html lang="${language}" dir="${direction}"><head><meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${escapeHtml(title)}</title>
<meta name="robots" content="noindex, nofollow"><meta name="referrer" content="no-referrer">
<link rel="icon" type="image/svg+xml" href="${ICON_PATH}">
<style>${STYLE}</style>${style === "" ? "" : `<style>${style}</style>`}</head>
<body><main>
${lines.join("\n")}
</main></body></html>
`;
}
