// Emails that notify members when a campaign paused automatically, completely or for one destination. Pure.
import { nameForStrangers } from "../emails/platform-email/name-for-strangers.ts";
import { notificationMail, type MailInLanguage } from "../projects/members/notification-mails.ts";
import type { PauseCause, ThrottledDomainFacts } from "../projects/members/notification-facts.ts";

export function pausedCampaignMail(
  campaign: { projectId: string; id: string; name: string },
  cause: PauseCause,
  baseUrl: string,
): MailInLanguage {
  return notificationMail(
    (texts) => texts.pausedCampaign({ id: campaign.id, name: nameForStrangers(campaign.name), cause }),
    `${baseUrl}/app/${campaign.projectId}/campaigns/${campaign.id}`,
  );
}

/** Returns the email about one throttled destination, of a campaign or of other bulk mail. */
export function throttledDomainMail(
  { projectId, campaign, project, destination, answer }: ThrottledDomainFacts & { projectId: string },
  baseUrl: string,
): MailInLanguage {
  const facts = {
    campaign: campaign && { id: campaign.id, name: nameForStrangers(campaign.name) },
    project: nameForStrangers(project),
    destination,
    answer,
  };
  const page = campaign === null ? "" : `/campaigns/${campaign.id}`;
  return notificationMail((texts) => texts.pausedDestination(facts), `${baseUrl}/app/${projectId}${page}`);
}
