// Guesses whether an email shows the sender's postal address, which advertising laws require. Used only for advice. Data and a pure rule.

/** Patterns for an address line in one country, or for a word in such a line. Each pattern is bounded. */
export const POSTAL_SHAPES: ReadonlyArray<{ where: string; shape: RegExp }> = [
  { where: "United States", shape: /\b[A-Z]{2}[ ,]{1,3}\d{5}(?:-\d{4})?\b/ },
  { where: "United Kingdom", shape: /\b[A-Z]{1,2}\d[A-Z\d]? ?\d[A-Z]{2}\b/ },
  { where: "Canada", shape: /\b[A-Z]\d[A-Z] ?\d[A-Z]\d\b/ },
  { where: "Netherlands", shape: /\b\d{4} ?[A-Z]{2}\b,? \p{Lu}/u },
  { where: "Brazil", shape: /\b\d{5}-\d{3}\b/ },
  { where: "Portugal, Poland", shape: /\b\d{2,4}-\d{3} \p{Lu}/u },
  { where: "Japan", shape: /〒 ?\d{3}-\d{4}|[都道府県].{1,20}[市区町村]/u },
  { where: "China, Korea", shape: /\p{Script=Han}{1,10}[路街道]\s?\d{1,5}|[로길] ?\d{1,5}/u },
  { where: "Australia", shape: /\b(?:NSW|VIC|QLD|TAS|ACT) \d{4}\b/ },
  { where: "Sweden, Czechia", shape: /\b\d{3} \d{2} \p{Lu}\p{Ll}/u },
  { where: "a postal code before a town", shape: /\b(?:[A-Z]{1,2}-\d{4}|\d{5,6}),? \p{Lu}[\p{L}'’.-]{2}/u },
  { where: "a town before a postal code", shape: /\p{Lu}[\p{L}'’.-]{2,40}, \d{6}\b/u },
  {
    where: "a box",
    shape: /\b(?:P\.? ?O\.? ?Box|Postfach|Apartado|Casilla|Caixa Postal|C\.P\.|B\.P\.) ?\d/i,
  },
  {
    where: "a street before its number",
    shape:
      /(?:stra(?:ß|ss)e|str\.|weg|platz|allee|gasse|straat|laan|gatan|vägen|gade|vej|ul\.|ulica|улица|ул\.|calle|c\/|via|viale|piazza|rua|avenida|av\.)[^\n]{0,40}?\d{1,5}/iu,
  },
  {
    where: "a number before its street",
    shape:
      /\b\d{1,6}[a-z]?,? (?:[\p{L}.'’-]{1,30} ){0,4}(?:street|st\b|avenue|ave\b|road|rd\b|boulevard|blvd|lane|ln\b|drive|dr\b|way|square|court|place|parkway|highway|rue|avenue|quai|place)/iu,
  },
];

/** A variable for an address, such as `{{companyAddress}}` or `{{address.street}}`. */
const ADDRESS_VARIABLE = /\{\{[^}]{0,80}(?:address(?!ed)|adresse|street|postal)[^}]{0,80}\}\}/i;
const EMAIL_VARIABLE = /e-?mail_?-?address/i;

/** Returns whether a text or a source with variables appears to contain a postal address. */
export function showsPostalAddress(text: string, source: string): boolean {
  const variable = ADDRESS_VARIABLE.exec(source)?.[0] ?? "";
  if (variable !== "" && !EMAIL_VARIABLE.test(variable)) return true;
  return POSTAL_SHAPES.some(({ shape }) => shape.test(text));
}
