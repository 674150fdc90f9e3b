// The outcome of an attempt that a mail server accepted.
import type { OutcomeRow } from "../emails/rows/outcome.ts";

export function acceptedOutcome(projectId: string, id: string): OutcomeRow & { status: "SENT" } {
  const sent = { transport: "test", answer: "250 ok", providerMessageId: null };
  return { projectId, id, status: "SENT", reason: null, waitMs: 0, subject: null, sent };
}
