// Writes a variable the way the template language reads it.
import { writtenName } from "@postloft/contract/merge-tags/variables.ts";

/** A variable that an email can contain. */
export interface OfferedVariable {
  name: string;
  /** The share of contacts that have a value. Null if every contact has one, undefined until it is counted. */
  coverage: number | null | undefined;
  /** The word that replaces a missing value. */
  fallback: string;
}

/** Returns the text between the curly braces, with a fallback if some contacts have no value. */
export function withFallback({ name, coverage, fallback }: OfferedVariable): string {
  const written = writtenName(name);
  return coverage === null || coverage === 1 ? written : `${written} ?? "${fallback}"`;
}
