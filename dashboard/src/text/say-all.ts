// What the server says by codes, in the viewer's language.

/** A sentence of the server's, as the contract has it. */
export interface SaidPart {
  code: string;
  values: Readonly<Record<string, string | number>>;
  text: string;
}

/** A table of sentences by their codes; each takes what it names. */
export type Sentences = Readonly<Record<string, (values: never) => string>>;

/** All that is said, as one text. An older page may not know a code yet; then the server's English sentence stands. */
export function sayAll(sentences: Sentences, parts: readonly SaidPart[]): string {
  return parts
    .map(({ code, values, text }) =>
      Object.hasOwn(sentences, code) ? (sentences[code]?.(values as never) ?? text) : text,
    )
    .join(" ");
}
