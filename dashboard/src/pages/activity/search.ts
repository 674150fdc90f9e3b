// What the URL of the activity says. Before it: router.tsx. After it: activity-page.tsx.
import type { EmailStatus } from "@postloft/contract/emails.ts";

/** The kinds of things that happen, as the filter has them. */
export const KINDS = ["mails", "contacts", "events", "campaigns", "workflows"] as const;
export type Kind = (typeof KINDS)[number];

export interface ActivitySearch {
  view?: "mails" | "upcoming";
  kind?: Kind;
  status?: EmailStatus;
  event?: string;
}

/** What of the URL is understood; the rest is left out. */
export function readActivitySearch(search: Record<string, unknown>): ActivitySearch {
  const { view, kind, status, event } = search;
  return {
    ...(view === "mails" || view === "upcoming" ? { view } : {}),
    ...(KINDS.some((one) => one === kind) ? { kind: kind as Kind } : {}),
    // The server refuses what is none.
    ...(typeof status === "string" && /^[A-Z]+$/.test(status) ? { status: status as EmailStatus } : {}),
    ...(typeof event === "string" && event !== "" ? { event } : {}),
  };
}
