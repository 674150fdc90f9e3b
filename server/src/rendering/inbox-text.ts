// Reads the text that inboxes show after the subject of an email.
import { Parser } from "htmlparser2";

const SHOWN_MAX_CHARACTERS = 200;
/** Inboxes don't show the text of these elements. */
const SKIPPED = new Set(["head", "script", "style", "template", "title"]);
/** How much text is read, because the padding of a preview text is longer than what is shown. */
const TEXT_MAX_CHARACTERS = 5_000;
/** How much HTML is read. A megabyte of tags would occupy the serving thread for 150 ms, and Gmail shows only the first 102 KB. */
const HTML_MAX_CHARACTERS = 102_400;
const PIECE_CHARACTERS = 8_192;
/** Invisible characters between spaces, after which nothing fits into the line of an inbox. */
const PADDING = /(?:(?:\u00AD|\u034F|\u200B|\u200C|\u200D|\u2060)\s*){20}/;
/** ZWNJ and ZWJ stay, because they shape letters. */
const INVISIBLE = /\u00AD|\u034F|\u200B|\u2060/g;

/** Returns the first words of rendered HTML, including hidden ones, up to the padding of a preview text. Reads only the beginning. */
export function inboxTextOf(html: string): string {
  const texts: string[] = [];
  let skipped = 0;
  let length = 0;
  const parser = new Parser({
    onopentag: (name) => {
      if (SKIPPED.has(name)) skipped += 1;
      texts.push(" ");
    },
    onclosetag: (name) => {
      if (SKIPPED.has(name)) skipped -= 1;
    },
    ontext: (text) => {
      if (skipped > 0 || length > TEXT_MAX_CHARACTERS) return;
      texts.push(text);
      length += text.length;
    },
  });
  let at = 0;
  for (; at < HTML_MAX_CHARACTERS && length <= TEXT_MAX_CHARACTERS; at += PIECE_CHARACTERS)
    parser.write(html.slice(at, at + PIECE_CHARACTERS));
  // The end of a part may cut a tag, which would be read as text.
  if (at >= html.length) parser.end();
  const [shown = ""] = texts.join("").split(PADDING, 1);
  const words = shown.replace(INVISIBLE, "").replace(/\s+/g, " ").trim();
  return [...words].slice(0, SHOWN_MAX_CHARACTERS).join("");
}
