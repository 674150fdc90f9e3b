// Status of a DNS record, the same for every purpose. Pure.
import type { DnsAdvice } from "@postloft/contract/dns-advice.ts";

/** `UNCHECKED`: DNS has not answered yet · `MISSING`: no record · `MISMATCH`: the record does not work · `FOUND`: it works. */
export type RecordStatus = "UNCHECKED" | "MISSING" | "MISMATCH" | "FOUND";

/** The classification of an advisory record. */
export interface Evaluation {
  status: RecordStatus;
  /** The recommended value; the current one if nothing is wrong with it. */
  value: string;
  /** The problems and how to solve them. */
  advice: readonly DnsAdvice[];
}
