// The classification table for mail server replies: sender of the reply, code, enhanced code and text determine the cause. Each row has a
// source and a sample.
import type { RejectionRow } from "./reply-row.ts";
import { ROWS_ABOUT_RECIPIENTS } from "./rows-about-recipients.ts";
import { ROWS_ABOUT_US } from "./rows-about-us.ts";
import { ROWS_OF_CODES } from "./rows-of-codes.ts";

/** The first matching row wins: providers, rows about us, rows about recipients, codes alone. */
export const REJECTION_ROWS: readonly RejectionRow[] = [
  ...ROWS_ABOUT_US,
  ...ROWS_ABOUT_RECIPIENTS,
  ...ROWS_OF_CODES,
];
