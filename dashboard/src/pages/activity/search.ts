// Search parameters of the activity page.
import type { EmailStatus } from "@postloft/contract/emails.ts";

export const OUTCOMES = ["2xx", "4xx", "5xx"] as const;
export type Outcome = (typeof OUTCOMES)[number];

/** Groups of activity types in the filter. */
export const KINDS = ["mails", "contacts", "events", "campaigns", "workflows"] as const;
export type Kind = (typeof KINDS)[number];

export interface ActivitySearch {
  /** "mails" leads to the page of emails. */
  view?: "mails" | "upcoming" | "requests";
  kind?: Kind;
  status?: EmailStatus;
  event?: string;
  outcome?: Outcome;
  requestId?: string;
}

/** Parses the search parameters and drops invalid ones. */
export function readActivitySearch(search: Record<string, unknown>): ActivitySearch {
  const { view, kind, status, event, outcome, requestId } = search;
  return {
    ...(view === "mails" || view === "upcoming" || view === "requests" ? { view } : {}),
    ...(KINDS.some((one) => one === kind) ? { kind: kind as Kind } : {}),
    // The server rejects unknown statuses.
    ...(typeof status === "string" && /^[A-Z]+$/.test(status) ? { status: status as EmailStatus } : {}),
    ...(typeof event === "string" && event !== "" ? { event } : {}),
    ...(OUTCOMES.some((one) => one === outcome) ? { outcome: outcome as Outcome } : {}),
    ...(typeof requestId === "string" && requestId !== "" ? { requestId } : {}),
  };
}
