// What the members of a project are told when one of its campaigns paused by itself, as a whole or for one destination. Pure.
// Before it: settle-campaigns.ts, settle-paused.ts. After it: emails/system-mail.ts queues it.
import { whatToDo } from "../emails/paused-destinations.ts";
import { layOutSystemMail, type SystemMailText } from "../emails/system-mail-layout.ts";

/** What to do about mails that did not get through, in words that name the call. */
const ADVICE = {
  refused: (id: string) => `what was refused is sent again by POST /campaigns/${id}/retry-failed.`,
  "in-doubt": (id: string) =>
    `GET /campaigns/${id}/recipients?status=UNCONFIRMED lists the mails of which nobody knows whether they arrived; say what became of them by POST /campaigns/${id}/resolve.`,
} as const;

export function pausedCampaignMail(
  campaign: { id: string; name: string },
  reason: string,
  problem: keyof typeof ADVICE = "refused",
): SystemMailText {
  const blocks = [
    `The campaign "${campaign.name}" is paused. ${reason}`,
    `What has not left waits. When the cause is mended, resume it (POST /campaigns/${campaign.id}/resume); ${ADVICE[problem](campaign.id)}`,
  ];
  return layOutSystemMail({ subject: `The campaign "${campaign.name}" is paused`, blocks });
}

/** The same for mail to one destination: to all others it goes on. */
export function pausedDestinationMail(
  campaign: { id: string; name: string },
  { destination, answer }: { destination: string; answer: string },
): SystemMailText {
  const blocks = [
    `${destination} refuses mail of the campaign "${campaign.name}" for who sends it or how, not for its recipients. The last answer was: ${answer}`,
    `To ${destination} nothing more leaves for now, to all others the campaign goes on. ${whatToDo(campaign.id)} What was refused is sent again by POST /campaigns/${campaign.id}/retry-failed.`,
  ];
  return layOutSystemMail({
    subject: `The campaign "${campaign.name}" is paused for ${destination}`,
    blocks,
  });
}

/** The same for list mail of a project that belongs to no campaign. */
export function pausedListMail(
  projectName: string,
  { destination, answer }: { destination: string; answer: string },
): SystemMailText {
  const blocks = [
    `${destination} refuses list mail of the project "${projectName}" for who sends it or how, not for its recipients. The last answer was: ${answer}`,
    `List mail of no campaign that is for ${destination} waits for now; transactional mail and mail to all others goes on. ${whatToDo(null)} GET /emails/paused-destinations lists what is paused.`,
  ];
  return layOutSystemMail({ subject: `List mail of "${projectName}" is paused for ${destination}`, blocks });
}
