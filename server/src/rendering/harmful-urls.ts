// Neutralizes URLs that run code (`javascript:`, `vbscript:`, `data:` except images) in any spelling. Pure.

import { decodeHTMLAttribute } from "entities";
import { QuoteType, Tokenizer, type TokenizerCallbacks } from "htmlparser2";

/** An attribute with a URL as its value, as offsets without quotes. */
export interface UrlValue {
  attribute: string;
  start: number;
  end: number;
  isQuoted: boolean;
}

/** Attributes with a URL that browsers load or follow. */
const PICTURE_ATTRIBUTES = new Set(["background", "poster", "src", "srcset"]);
const URL_ATTRIBUTES = new Set([
  ...PICTURE_ATTRIBUTES,
  "action",
  "data",
  "dynsrc",
  "formaction",
  "href",
  "lowsrc",
  "xlink:href",
]);
/** Browsers ignore control and invisible characters before a URL, and tabs and line breaks within it. */
const IGNORED = /[\p{Cc}\s\u00AD\u200B-\u200F\u202A-\u202E\u2060]+/gu;
const PROGRAM = /^(?:javascript|vbscript|livescript|data):/;
const PICTURE = /^data:image\/(?!svg)/;
const DRAWING = /^data:image\/svg\+xml/;
/** Cheap check that matches every spelling of a harmful URL. Letter cases are spelled out because the `i` flag takes four times as long. */
const SUSPECT =
  /[sS]\s*[cC]\s*[rR]\s*[iI]\s*[pP]\s*[tT]\s*:|[dD]\s*[aA]\s*[tT]\s*[aA]\s*:|&(?:#|[cC]olon|[tT]ab|[nN]ew[lL]ine)/;
const HARMLESS = "#";

/** Returns the attribute value as written, or `#` if following the URL would run code. */
export function harmlessUrl(written: string, attribute: string): string {
  if (!written.includes(":") && !written.includes("&")) return written;
  const address = decodeHTMLAttribute(written).replace(IGNORED, "").toLowerCase();
  if (!PROGRAM.test(address) || PICTURE.test(address)) return written;
  return PICTURE_ATTRIBUTES.has(attribute) && DRAWING.test(address) ? written : HARMLESS;
}

/** Returns the HTML with every harmful URL replaced. */
export function withoutHarmfulUrls(html: string): string {
  return SUSPECT.test(html) ? replaceHarmfulUrls(html, readUrlValues(html).values) : html;
}

/** Replaces the harmful ones among the given URLs. */
export function replaceHarmfulUrls(html: string, values: readonly UrlValue[]): string {
  let harmless = "";
  let copied = 0;
  for (const { attribute, start, end } of values) {
    const written = html.slice(start, end);
    const replaced = harmlessUrl(written, attribute);
    if (replaced === written) continue;
    harmless += html.slice(copied, start) + replaced;
    copied = end;
  }
  return harmless + html.slice(copied);
}

const nothing = () => undefined;

/** Tokenizer callbacks that are not needed here. */
const UNUSED = {
  onattribentity: nothing,
  oncdata: nothing,
  onclosetag: nothing,
  oncomment: nothing,
  ondeclaration: nothing,
  onend: nothing,
  onopentagend: nothing,
  onopentagname: nothing,
  onprocessinginstruction: nothing,
  onselfclosingtag: nothing,
  ontext: nothing,
  ontextentity: nothing,
};

/**
 * Returns the URLs of the HTML in order, and the names of all attributes. Skips comments because clients that read them (Outlook) run no
 * scripts.
 */
export function readUrlValues(html: string): { values: UrlValue[]; names: ReadonlySet<string> } {
  const values: UrlValue[] = [];
  const names = new Set<string>();
  let attribute = "";
  let start = -1;
  let end = -1;
  const callbacks: TokenizerCallbacks = {
    ...UNUSED,
    onattribname(from, to) {
      attribute = html.slice(from, to).toLowerCase();
      names.add(attribute);
      start = -1;
    },
    onattribdata(from, to) {
      if (start === -1) start = from;
      end = to;
    },
    onattribend(quote) {
      if (start !== -1 && URL_ATTRIBUTES.has(attribute))
        values.push({ attribute, start, end, isQuoted: quote !== QuoteType.Unquoted });
      start = -1;
    },
  };
  const tokenizer = new Tokenizer({ decodeEntities: false }, callbacks);
  tokenizer.write(html);
  tokenizer.end();
  return { values, names };
}
