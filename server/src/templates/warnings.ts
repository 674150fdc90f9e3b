// A warning about an email: its code, its sentence and its place. Pure.
import type { AdviceValues } from "@postloft/contract/advice.ts";
import {
  warnOfContent,
  type ContentWarningCode,
  type ContentWarningPart,
} from "@postloft/contract/content-warnings.ts";

export interface Warning {
  code: ContentWarningCode;
  message: string;
  /** The same by its code, with its values. */
  messageParts: ContentWarningPart[];
  where: Place;
  /** The text that belongs in the place of a merge tag. Null if a person has to decide. */
  replacement?: string | null;
}

/** Parts of a content, by the names of their fields. */
export type LintedParts = ReadonlyArray<readonly [Place["field"], string]>;

export interface Place {
  field: "subject" | "body" | "text";
  /** From 1; null for the whole part. */
  line: number | null;
  column: number | null;
}

/** Returns the warning of a code at a place. */
export function warningAt(where: Place, code: ContentWarningCode, values: AdviceValues = {}): Warning {
  const said = warnOfContent(code, values);
  return { code, message: said.text, messageParts: [said], where };
}

/** Returns the warning of a code about a whole part. */
export function warningOfPart(
  field: Place["field"],
  code: ContentWarningCode,
  values: AdviceValues = {},
): Warning {
  return warningAt({ field, line: null, column: null }, code, values);
}
