// Types for the rows of the reply classification table.
import type { Cause } from "./reply-causes.ts";

/**
 * The command a reply belongs to: `mail` for the sender, `rcpt` for one recipient, `message` from DATA on. `unknown` if a report does not
 * say.
 */
export type RepliedPart = "mail" | "rcpt" | "message" | "unknown";

export interface RejectionRow {
  /** `x` stands for any digit. Matches any code if missing. */
  code?: string;
  /** `X` stands for the class and `x` for any detail. `none` matches a missing enhanced code, or one without information (X.0.x). */
  status?: string;
  words?: RegExp;
  /** A name from reply-speakers.ts. */
  speaker?: readonly string[];
  /**
   * Restricts the command: `mail` and `rcpt` match replies to that command only, and `unknown` replies to an unknown command.
   * `named` matches `rcpt` and `unknown`. `recipient` also matches replies to the message if there is one recipient. Matches any command if
   * missing.
   */
  of?: "rcpt" | "named" | "unknown" | "recipient" | "mail";
  cause: Cause;
  source: string;
  /** A reply that this row classifies. `samplePart` is its command, RCPT by default. */
  sample: string;
  samplePart?: RepliedPart;
  sampleHost?: string;
}
