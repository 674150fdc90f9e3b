// What the URL of the activity says.
import type { EmailStatus } from "@postloft/contract/emails.ts";

/** How requests ended. */
export const OUTCOMES = ["2xx", "4xx", "5xx"] as const;
export type Outcome = (typeof OUTCOMES)[number];

/** The kinds of things that happen, as the filter has them. */
export const KINDS = ["mails", "contacts", "events", "campaigns", "workflows"] as const;
export type Kind = (typeof KINDS)[number];

export interface ActivitySearch {
  view?: "mails" | "upcoming" | "requests";
  kind?: Kind;
  status?: EmailStatus;
  event?: string;
  outcome?: Outcome;
  requestId?: string;
}

/** What of the URL is understood; the rest is left out. */
export function readActivitySearch(search: Record<string, unknown>): ActivitySearch {
  const { view, kind, status, event, outcome, requestId } = search;
  return {
    ...(view === "mails" || view === "upcoming" || view === "requests" ? { view } : {}),
    ...(KINDS.some((one) => one === kind) ? { kind: kind as Kind } : {}),
    // The server refuses what is none.
    ...(typeof status === "string" && /^[A-Z]+$/.test(status) ? { status: status as EmailStatus } : {}),
    ...(typeof event === "string" && event !== "" ? { event } : {}),
    ...(OUTCOMES.some((one) => one === outcome) ? { outcome: outcome as Outcome } : {}),
    ...(typeof requestId === "string" && requestId !== "" ? { requestId } : {}),
  };
}
