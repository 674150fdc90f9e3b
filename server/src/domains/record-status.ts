// Where a DNS record stands, for each purpose alike. Pure.
import type { DnsAdvice } from "@postloft/contract/dns-advice.ts";

/**
 * `UNCHECKED` nobody answered yet · `MISSING` there is none · `MISMATCH` what is there does not work · `FOUND` it works.
 */
export type RecordStatus = "UNCHECKED" | "MISSING" | "MISMATCH" | "FOUND";

/** What a judge says about an advisory record. */
export interface Judgement {
  status: RecordStatus;
  /** What should be there: what is there already when nothing is wrong with it. */
  value: string;
  /** What is wrong and what to do about it. */
  advice: readonly DnsAdvice[];
}
