// Decodes secrets as an authenticator app does.
const ALPHABET = "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567";

/** Returns the bytes of a base32 text (RFC 4648 §6). */
export function fromBase32(text: string): Buffer {
  const bits = [...text]
    .map((character) => ALPHABET.indexOf(character).toString(2).padStart(5, "0"))
    .join("");
  return Buffer.from((bits.match(/.{8}/g) ?? []).map((byte) => Number.parseInt(byte, 2)));
}
