// The outcome of an attempt, as it is booked in the row of its mail.

export interface OutcomeRow {
  projectId: string;
  id: string;
  status: "SENT" | "QUEUED" | "FAILED" | "SKIPPED" | "UNCONFIRMED";
  reason: string | null;
  waitMs: number;
  /** The subject as sent if it differs from the content's subject. Null if unknown. */
  subject: string | null;
  /** Set for a sent email, with the transport, the reply and the provider's id. */
  sent: { transport: string; answer: string; providerMessageId: string | null } | null;
}
