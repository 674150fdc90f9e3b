// Decodes the few HTML entities that editors write inside merge tags and variables.

const NAMED: Readonly<Record<string, string>> = {
  amp: "&",
  apos: "'",
  bdquo: "„",
  gt: ">",
  laquo: "«",
  ldquo: "“",
  lsquo: "‘",
  lt: "<",
  nbsp: "\u00A0",
  quot: '"',
  raquo: "»",
  rdquo: "”",
  rsquo: "’",
  sbquo: "‚",
};
const ENTITY = /&(?:#(\d{1,7})|#[xX]([\da-fA-F]{1,6})|([a-z]{2,5}));/y;

/** Returns the character of the entity at an offset, and the entity's length; null if no entity starts there. */
export function entityAt(source: string, at: number): { text: string; length: number } | null {
  if (source[at] !== "&") return null;
  ENTITY.lastIndex = at;
  const [written, decimal, hexadecimal, name] = ENTITY.exec(source) ?? [];
  if (written === undefined) return null;
  const code = decimal === undefined ? Number(`0x${hexadecimal ?? ""}`) : Number(decimal);
  const text = name === undefined ? characterOf(code) : NAMED[name];
  return text === undefined ? null : { text, length: written.length };
}

function characterOf(code: number): string | undefined {
  return code > 0 && code <= 0x10_ff_ff ? String.fromCodePoint(code) : undefined;
}

/** Returns the text with these entities decoded. Others stay unchanged. */
export function decodeEntities(text: string): string {
  let at = text.indexOf("&");
  if (at === -1) return text;
  let decoded = "";
  let copied = 0;
  while (at !== -1) {
    const entity = entityAt(text, at);
    if (entity !== null) {
      decoded += text.slice(copied, at) + entity.text;
      copied = at + entity.length;
    }
    at = text.indexOf("&", at + (entity?.length ?? 1));
  }
  return decoded + text.slice(copied);
}
