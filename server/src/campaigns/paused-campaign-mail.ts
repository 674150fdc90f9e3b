// What the members of a project are told when one of its campaigns paused by itself, as a whole or for one destination. Pure.
import { notificationMail, type MailInLanguage } from "../projects/members/notification-mails.ts";
import type { PauseCause, PausedDestinationFacts } from "../projects/members/notification-facts.ts";

export function pausedCampaignMail(
  campaign: { projectId: string; id: string; name: string },
  cause: PauseCause,
  baseUrl: string,
): MailInLanguage {
  return notificationMail(
    (texts) => texts.pausedCampaign({ ...campaign, cause }),
    `${baseUrl}/app/${campaign.projectId}/campaigns/${campaign.id}`,
  );
}

/** The same for mail to one destination, of a campaign or of none: to all others it goes on. */
export function pausedDestinationMail(
  { projectId, ...facts }: PausedDestinationFacts & { projectId: string },
  baseUrl: string,
): MailInLanguage {
  const { campaign } = facts;
  const page = campaign === null ? "" : `/campaigns/${campaign.id}`;
  return notificationMail((texts) => texts.pausedDestination(facts), `${baseUrl}/app/${projectId}${page}`);
}
