// What the members of a project are told when one of its campaigns paused by itself, as a whole or for one destination. Pure.
// Before it: settle-campaigns.ts, settle-paused.ts. After it: emails/system-mail.ts queues it.
import { escapeHtml } from "../platform/escape-html.ts";
import { whatToDo } from "../emails/paused-destinations.ts";

/** What to do about mails that did not get through, in words that name the call. */
const ADVICE = {
  refused: (id: string) => `what was refused is sent again by POST /campaigns/${id}/retry-failed.`,
  "in-doubt": (id: string) =>
    `GET /campaigns/${id}/recipients?status=UNCONFIRMED lists the mails of which nobody knows whether they arrived; say what became of them by POST /campaigns/${id}/resolve.`,
} as const;

interface Text {
  subject: string;
  text: string;
  html: string;
}

/** Name and reason are texts of people and of servers: escaped in the HTML. */
export function pausedCampaignMail(
  campaign: { id: string; name: string },
  reason: string,
  problem: keyof typeof ADVICE = "refused",
): Text {
  const lines = [
    `The campaign "${campaign.name}" is paused. ${reason}`,
    `What has not left waits. When the cause is mended, resume it (POST /campaigns/${campaign.id}/resume); ${ADVICE[problem](campaign.id)}`,
  ];
  return textOf(`The campaign "${campaign.name}" is paused`, lines);
}

/** The same for mail to one destination: to all others it goes on. */
export function pausedDestinationMail(
  campaign: { id: string; name: string },
  { destination, answer }: { destination: string; answer: string },
): Text {
  const lines = [
    `${destination} refuses mail of the campaign "${campaign.name}" for who sends it or how, not for its recipients. The last answer was: ${answer}`,
    `To ${destination} nothing more leaves for now, to all others the campaign goes on. ${whatToDo(campaign.id)} What was refused is sent again by POST /campaigns/${campaign.id}/retry-failed.`,
  ];
  return textOf(`The campaign "${campaign.name}" is paused for ${destination}`, lines);
}

/** The same for list mail of a project that belongs to no campaign. */
export function pausedListMail(
  projectName: string,
  { destination, answer }: { destination: string; answer: string },
): Text {
  const lines = [
    `${destination} refuses list mail of the project "${projectName}" for who sends it or how, not for its recipients. The last answer was: ${answer}`,
    `List mail of no campaign that is for ${destination} waits for now; transactional mail and mail to all others goes on. ${whatToDo(null)} GET /emails/paused-destinations lists what is paused.`,
  ];
  return textOf(`List mail of "${projectName}" is paused for ${destination}`, lines);
}

function textOf(subject: string, lines: readonly string[]): Text {
  return {
    subject,
    text: `${lines.join("\n\n")}\n`,
    html: lines.map((line) => `<p>${escapeHtml(line)}</p>`).join("\n"),
  };
}
