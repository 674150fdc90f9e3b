// The table of meanings: which answer of a mail server has which cause, by who speaks, code, enhanced code and text. Each row has its
// source and a sample.
import type { RefusalRow } from "./answer-row.ts";
import { ROWS_ABOUT_RECIPIENTS } from "./rows-about-recipients.ts";
import { ROWS_ABOUT_US } from "./rows-about-us.ts";
import { ROWS_OF_CODES } from "./rows-of-codes.ts";

/** The first row that fits decides: providers, what is about us, what is about the recipient, codes alone. */
export const REFUSAL_ROWS: readonly RefusalRow[] = [
  ...ROWS_ABOUT_US,
  ...ROWS_ABOUT_RECIPIENTS,
  ...ROWS_OF_CODES,
];
