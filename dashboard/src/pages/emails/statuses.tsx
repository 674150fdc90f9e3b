// Labels and colors of email statuses.
import type { z } from "zod";
import type { email, EmailStatus } from "@postloft/contract/emails.ts";
import { t } from "../../text/t.ts";
import { Badge, type Tone } from "../../ui/page.tsx";

export const STATUSES: Record<EmailStatus, { tone: Tone; label: string }> = {
  QUEUED: { tone: "neutral", label: t("Queued") },
  CLAIMED: { tone: "neutral", label: t("Queued") },
  SENDING: { tone: "neutral", label: t("Sending") },
  SENT: { tone: "good", label: t("Sent") },
  DELIVERED: { tone: "good", label: t("Delivered") },
  OPENED: { tone: "good", label: t("Opened") },
  CLICKED: { tone: "good", label: t("Clicked") },
  SKIPPED: { tone: "neutral", label: t("Skipped") },
  UNCONFIRMED: { tone: "warn", label: t("Unconfirmed") },
  FAILED: { tone: "bad", label: t("Failed") },
  BOUNCED: { tone: "bad", label: t("Bounced") },
  COMPLAINED: { tone: "bad", label: t("Reported as spam") },
};

type Waiting = Pick<z.output<typeof email>, "status" | "scheduledFor" | "attempts">;

/** Returns whether the email waits for its time. Only then can the time change. */
export function isScheduled({ status, scheduledFor, attempts }: Waiting): boolean {
  return status === "QUEUED" && scheduledFor !== null && attempts === 0;
}

/** Shows the status of an email, and whether it is scheduled. */
export function EmailBadge({ email }: { email: Waiting }) {
  if (isScheduled(email)) return <Badge tone="neutral">{t("Scheduled")}</Badge>;
  return <StatusBadge status={email.status} />;
}

export function StatusBadge({ status }: { status: EmailStatus }) {
  const { tone, label } = STATUSES[status];
  return <Badge tone={tone}>{label}</Badge>;
}

/** Statuses in filters. A claimed email has the same label as a queued one. */
export const FILTERED_STATUSES: readonly EmailStatus[] = [
  "QUEUED",
  "SENT",
  "DELIVERED",
  "OPENED",
  "CLICKED",
  "BOUNCED",
  "COMPLAINED",
  "FAILED",
  "SKIPPED",
  "UNCONFIRMED",
];
