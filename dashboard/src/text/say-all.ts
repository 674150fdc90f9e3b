// Translates messages that the server sends as codes.

/** A sentence from the server, as in the contract. */
export interface MessagePart {
  code: string;
  values: Readonly<Record<string, string | number>>;
  text: string;
}

/** Translations by code. Each takes the values named in its sentence. */
export type Sentences = Readonly<Record<string, (values: never) => string>>;

/** Returns all parts as one text. Falls back to the server's English text for codes an older page does not know. */
export function translateParts(sentences: Sentences, parts: readonly MessagePart[]): string {
  return parts
    .map(({ code, values, text }) =>
      Object.hasOwn(sentences, code) ? (sentences[code]?.(values as never) ?? text) : text,
    )
    .join(" ");
}
