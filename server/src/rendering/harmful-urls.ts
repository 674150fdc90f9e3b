// Addresses that are programs (`javascript:`, `vbscript:`, `data:` but for pictures) made harmless, in whatever way they are written. Pure.

import { decodeHTMLAttribute } from "entities";
import { QuoteType, Tokenizer, type TokenizerCallbacks } from "htmlparser2";

/** An attribute whose value is an address, as offsets without its quotes. */
export interface UrlValue {
  attribute: string;
  start: number;
  end: number;
  isQuoted: boolean;
}

/** Where browsers load or follow what stands in them. */
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
/** Browsers leave out what is no character before an address, and tabs and line breaks in it. */
const IGNORED = /[\p{Cc}\s\u00AD\u200B-\u200F\u202A-\u202E\u2060]+/gu;
const PROGRAM = /^(?:javascript|vbscript|livescript|data):/;
const PICTURE = /^data:image\/(?!svg)/;
const DRAWING = /^data:image\/svg\+xml/;
/** What every harmful address holds, however it is written: a cheap look before a thorough one. Written out, since `i` takes four times as long. */
const SUSPECT =
  /[sS]\s*[cC]\s*[rR]\s*[iI]\s*[pP]\s*[tT]\s*:|[dD]\s*[aA]\s*[tT]\s*[aA]\s*:|&(?:#|[cC]olon|[tT]ab|[nN]ew[lL]ine)/;
const HARMLESS = "#";

/** The value of an attribute as the HTML writes it, or `#` where following it would run something. */
export function harmlessUrl(written: string, attribute: string): string {
  if (!written.includes(":") && !written.includes("&")) return written;
  const address = decodeHTMLAttribute(written).replace(IGNORED, "").toLowerCase();
  if (!PROGRAM.test(address) || PICTURE.test(address)) return written;
  return PICTURE_ATTRIBUTES.has(attribute) && DRAWING.test(address) ? written : HARMLESS;
}

/** HTML with every harmful address replaced. */
export function withoutHarmfulUrls(html: string): string {
  return SUSPECT.test(html) ? replaceHarmfulUrls(html, readUrlValues(html).values) : html;
}

/** The same with these addresses alone. */
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

/** What a tokenizer tells that is of no interest here. */
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

/** The addresses of HTML, in order, and the names of all attributes. Comments are skipped: what reads them runs no programs. */
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
