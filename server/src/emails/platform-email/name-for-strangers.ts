// Makes text that one person chose safe to show in an email of this server to another person.

const MAX_LENGTH = 40;
/** Stands in for a name that has nothing to show. */
const NO_NAME = "Postloft";

/** Controls, invisible marks that change the reading direction, halves of surrogate pairs. The joiners of emoji and Persian stay. */
const HIDDEN = /[^\P{C}\u200C\u200D]/gu;
/** A dot, also in the forms that browsers read as one. */
const DOT = /[.．。｡]/g;

/**
 * Returns a name such as that of a project as one line of at most 40 characters that no mail program turns into a link: URLs and email
 * addresses are removed, and the dots of bare domains become "·". Returns "Postloft" if nothing is left.
 */
export function nameForStrangers(name: string): string {
  const words = plainWords(name).filter((word) => !isAddressOrUrl(word));
  const text = shorten(words.map(withoutInnerDots).join(" "));
  return text === "" ? NO_NAME : text;
}

/**
 * Returns the email address of the person who caused an email, for the text but not for the subject. The reader has to know who it was,
 * so the address stays; characters that can form a URL become "·", and at most 40 characters are shown.
 */
export function addressForStrangers(email: string): string {
  return shorten(email.replaceAll(/[^\p{L}\p{M}\p{Nd}@._+-]/gu, "·"));
}

const plainWords = (text: string) =>
  text.replaceAll(/\s/gu, " ").replaceAll(HIDDEN, "").split(" ").filter(Boolean);

/** The first and the last character stay, so that abbreviations keep their dot. */
function withoutInnerDots(word: string): string {
  return `${word.slice(0, 1)}${word.slice(1, -1).replaceAll(DOT, "·")}${word.length > 1 ? word.slice(-1) : ""}`;
}

/** Compatibility forms such as "＠" count as the characters they look like. */
function isAddressOrUrl(word: string): boolean {
  const plain = word.normalize("NFKC").toLowerCase();
  return (
    plain.includes("://") || plain.includes("mailto:") || plain.includes("www.") || /[^@]@[^@]/.test(plain)
  );
}

/** Counts code points, so that no character is cut in two. */
function shorten(text: string): string {
  const characters = [...text];
  return characters.length <= MAX_LENGTH
    ? text
    : `${characters
        .slice(0, MAX_LENGTH - 1)
        .join("")
        .trimEnd()}…`;
}
