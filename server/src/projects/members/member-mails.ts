// Emails to people who were invited or added to a project, in their language.
import { LIMITS } from "@postloft/contract/limits/limits.ts";
import { formatsOf } from "../../emails/platform-email/mail-formats.ts";
import type { MailLanguage } from "../../emails/platform-email/mail-language.ts";
import { addressForStrangers, nameForStrangers } from "../../emails/platform-email/name-for-strangers.ts";
import { layOutPlatformEmail } from "../../emails/platform-email/platform-email-layout.ts";
import type { NewPlatformEmail } from "../../emails/platform-email/platform-email.ts";
import { MEMBER_TEXTS } from "./member-texts.ts";

export interface MemberEmailFacts {
  to: string;
  language: MailLanguage;
  /** The address of the person who added them. */
  inviter: string;
  project: string;
  role: string;
  link: string;
}

/** For a person without an account, who creates one with the link. */
export const invitationMail = (news: MemberEmailFacts): NewPlatformEmail => mailOf(news, "invitation");

/** For a person who is now a member. */
export const addedMail = (news: MemberEmailFacts): NewPlatformEmail => mailOf(news, "added");

function mailOf(news: MemberEmailFacts, kind: "invitation" | "added"): NewPlatformEmail {
  const { to, language, link: url, role } = news;
  const { subject, before, label, after } = MEMBER_TEXTS[language][kind];
  const shown = {
    role,
    inviter: addressForStrangers(news.inviter),
    project: nameForStrangers(news.project),
  };
  const days = formatsOf(language).number(LIMITS.invitationDays.value);
  const text = layOutPlatformEmail({
    language,
    subject: subject(shown),
    blocks: [before(shown)],
    action: { label: label(shown), url },
    footer: after({ ...shown, days }),
  });
  return { to, ...text };
}
