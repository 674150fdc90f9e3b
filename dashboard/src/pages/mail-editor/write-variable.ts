// Writes variables in the syntax of the template language.
import { writtenName } from "@postloft/contract/merge-tags/variables.ts";

/** A variable that an email can contain. */
export interface OfferedVariable {
  name: string;
  /** The share of contacts with a value. Null if every contact has one, undefined until counted. */
  coverage: number | null | undefined;
  /** The text used for a missing value. */
  fallback: string;
}

/** Returns the text between the braces, with a fallback if some contacts have no value. */
export function withFallback({ name, coverage, fallback }: OfferedVariable): string {
  const written = writtenName(name);
  return coverage === null || coverage === 1 ? written : `${written} ?? "${fallback}"`;
}
