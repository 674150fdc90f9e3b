// What the members of a project are told when one of its campaigns paused by itself. Pure.
// Before it: settle-campaigns.ts paused it. After it: emails/system-mail.ts queues it.
import { escapeHtml } from "../contacts/pages/fill-text.ts";

/** What to do about mails that did not get through, in words that name the call. */
const ADVICE = {
  refused: (id: string) => `what was refused is sent again by POST /campaigns/${id}/retry-failed.`,
  "in-doubt": (id: string) =>
    `GET /campaigns/${id}/recipients?status=UNCONFIRMED lists the mails of which nobody knows whether they arrived; say what became of them by POST /campaigns/${id}/resolve.`,
} as const;

/** Name and reason are texts of people and of servers: escaped in the HTML. */
export function pausedCampaignMail(
  campaign: { id: string; name: string },
  reason: string,
  problem: keyof typeof ADVICE = "refused",
): { subject: string; text: string; html: string } {
  const lines = [
    `The campaign "${campaign.name}" is paused. ${reason}`,
    `What has not left waits. When the cause is mended, resume it (POST /campaigns/${campaign.id}/resume); ${ADVICE[problem](campaign.id)}`,
  ];
  return {
    subject: `The campaign "${campaign.name}" is paused`,
    text: `${lines.join("\n\n")}\n`,
    html: lines.map((line) => `<p>${escapeHtml(line)}</p>`).join("\n"),
  };
}
