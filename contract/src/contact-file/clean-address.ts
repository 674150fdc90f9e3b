// Extracts the bare address from a cell of a real file. Removes names, `mailto:`, angle brackets and trailing separators.
import { parseAddress } from "../address.ts";
import { readTextCell } from "../cell.ts";
import { faultOfRow, type RowFault } from "../row-faults.ts";

export type CleanAddress = { email: string; isCleaned: boolean } | RowFault;

const MAILTO = "mailto:";
/** Characters around addresses in real files, including the blanks of spreadsheets and email programs. */
const OUTER: ReadonlySet<string> = new Set([
  " ",
  "\t",
  "\n",
  "\r",
  "\u00a0",
  "\u200b",
  "\ufeff",
  '"',
  "'",
  "<",
  ">",
  ",",
  ";",
]);
/** Characters that separate addresses from other words. */
const BETWEEN = /[\s<>,;:"'()[\]]/;
/** Longer cells are not addresses and are not searched. */
const MAX_CHARS = 1_000;

/** Returns the address of a cell. Two addresses in one cell are a fault, because it is unclear which one is meant. */
export function cleanAddress(cell: string): CleanAddress {
  const text = readTextCell(cell);
  const plain = parseAddress(text);
  if (plain.ok) return { email: plain.address, isCleaned: false };
  if (text.length > MAX_CHARS) return plain.fault;
  if (countAddresses(text) > 1) return faultOfRow("row.severalAddresses");
  const bare = stripOuter(inAngles(stripOuter(text)));
  const cleaned = bare.toLowerCase().startsWith(MAILTO)
    ? (bare.slice(MAILTO.length).split("?", 1)[0] ?? "")
    : bare;
  const address = parseAddress(cleaned);
  return address.ok ? { email: address.address, isCleaned: true } : plain.fault;
}

function countAddresses(text: string): number {
  const words = text.split(BETWEEN).filter((word) => word.indexOf("@") > 0);
  return new Set(words.map((word) => word.toLowerCase())).size;
}

/** Returns the text after the last `<`; the closing bracket is already removed. */
function inAngles(text: string): string {
  return text.slice(text.lastIndexOf("<") + 1);
}

const isInner = (character: string) => !OUTER.has(character);

function stripOuter(text: string): string {
  const characters = [...text];
  return characters.slice(characters.findIndex(isInner), characters.findLastIndex(isInner) + 1).join("");
}

const LOOKS_LIKE_ADDRESS = /^[^\s@<>,;|"()]+@[^\s@<>,;|"()]+\.[^\s@<>,;|"().]{2,}$/;
const LONGEST_SHOWN = 400;

/** Returns whether a cell looks like an address, possibly one that must be cleaned. */
export function looksLikeAddress(cell: string): boolean {
  if (!cell.includes("@") || cell.length > LONGEST_SHOWN) return false;
  const text = cell.trim();
  if (LOOKS_LIKE_ADDRESS.test(text)) return true;
  const cleaned = cleanAddress(text);
  return !("code" in cleaned) && cleaned.isCleaned;
}
