// What a row of the table of meanings is made of.
import type { Cause } from "./answer-causes.ts";

/**
 * What an answer was given to: `mail` the sender, `rcpt` one recipient, `message` everything from DATA on; `unknown`: a
 * report does not tell.
 */
export type AnsweredPart = "mail" | "rcpt" | "message" | "unknown";

export interface RefusalRow {
  /** `x` stands for any digit; missing: any. */
  code?: string;
  /** `X` is the class; `x` any detail; `none`: no enhanced code, or one that says nothing (X.0.x). */
  status?: string;
  words?: RegExp;
  /** A name of answer-speakers.ts. */
  speaker?: readonly string[];
  /**
   * `rcpt`: only in answer to RCPT. `named`: to RCPT, or nothing tells; `unknown`: nothing tells. `recipient`: to the message too, when there is
   * one recipient. `mail`: only in answer to MAIL. Missing: to anything.
   */
  of?: "rcpt" | "named" | "unknown" | "recipient" | "mail";
  cause: Cause;
  source: string;
  /** An answer that this row decides, and to what it was given: `RCPT` unless it says otherwise. */
  sample: string;
  samplePart?: AnsweredPart;
  sampleHost?: string;
}
