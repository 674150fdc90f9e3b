// Emails that notify members when the reputation guard disabled their project, or soon may. Pure.
import type { BadRate } from "@postloft/contract/security.ts";
import { nameForStrangers } from "../emails/platform-email/name-for-strangers.ts";
import { notificationMail, type MailInLanguage } from "../projects/members/notification-mails.ts";

interface EvaluatedProject {
  projectId: string;
  name: string;
  rates: readonly BadRate[];
}

export function suspensionMail({ name, rates, ...about }: EvaluatedProject, baseUrl: string) {
  const project = nameForStrangers(name);
  return notificationMail((texts) => texts.suspended({ project, rates }), ratesPage(about, baseUrl));
}

export function warningMail({ name, rates, ...about }: EvaluatedProject, baseUrl: string): MailInLanguage {
  const project = nameForStrangers(name);
  return notificationMail((texts) => texts.badRates({ project, rates }), ratesPage(about, baseUrl));
}

function ratesPage({ projectId }: { projectId: string }, baseUrl: string): string {
  return `${baseUrl}/app/${projectId}/settings?tab=reputation`;
}
