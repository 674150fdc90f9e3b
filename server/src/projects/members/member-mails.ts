// Emails to people who were invited or added to a project, in their language.
import { LIMITS } from "@postloft/contract/limits/limits.ts";
import { formatsOf } from "../../emails/system-mail/mail-formats.ts";
import type { MailLanguage } from "../../emails/system-mail/mail-language.ts";
import { addressForStrangers, nameForStrangers } from "../../emails/system-mail/name-for-strangers.ts";
import { layOutSystemMail } from "../../emails/system-mail/system-mail-layout.ts";
import type { NewSystemMail } from "../../emails/system-mail/system-mail.ts";
import { MEMBER_TEXTS } from "./member-texts.ts";

export interface MemberNews {
  to: string;
  language: MailLanguage;
  /** The address of the person who added them. */
  inviter: string;
  project: string;
  role: string;
  link: string;
}

/** For a person without an account, who creates one with the link. */
export const invitationMail = (news: MemberNews): NewSystemMail => mailOf(news, "invitation");

/** For a person who is now a member. */
export const addedMail = (news: MemberNews): NewSystemMail => mailOf(news, "added");

function mailOf(news: MemberNews, kind: "invitation" | "added"): NewSystemMail {
  const { to, language, link: url, role } = news;
  const { subject, before, label, after } = MEMBER_TEXTS[language][kind];
  const shown = {
    role,
    inviter: addressForStrangers(news.inviter),
    project: nameForStrangers(news.project),
  };
  const days = formatsOf(language).number(LIMITS.invitationDays.value);
  const text = layOutSystemMail({
    language,
    subject: subject(shown),
    blocks: [before(shown)],
    action: { label: label(shown), url },
    footer: after({ ...shown, days }),
  });
  return { to, ...text };
}
