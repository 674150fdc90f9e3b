// A warning about an email: its code, sentence and position. Pure.
import type { AdviceValues } from "@postloft/contract/advice.ts";
import {
  warnOfContent,
  type ContentWarningCode,
  type ContentWarningPart,
} from "@postloft/contract/content-warnings.ts";

export interface Warning {
  code: ContentWarningCode;
  message: string;
  /** The sentence in a machine-readable form, with code and values. */
  messageParts: ContentWarningPart[];
  where: Place;
  /** The text to insert in place of a merge tag. null if a person must decide. */
  replacement?: string | null;
}

/** Parts of a message template, by field name. */
export type LintedParts = ReadonlyArray<readonly [Place["field"], string]>;

export interface Place {
  field: "subject" | "previewText" | "body" | "text";
  /** Starts at 1; null for the whole part. */
  line: number | null;
  column: number | null;
}

/** Returns the warning for a code at a position. */
export function warningAt(where: Place, code: ContentWarningCode, values: AdviceValues = {}): Warning {
  const said = warnOfContent(code, values);
  return { code, message: said.text, messageParts: [said], where };
}

/** Returns the warning for a code about a whole part. */
export function warningOfPart(
  field: Place["field"],
  code: ContentWarningCode,
  values: AdviceValues = {},
): Warning {
  return warningAt({ field, line: null, column: null }, code, values);
}
