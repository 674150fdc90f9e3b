// What people are told about their place in a project. Pure.
// Before it: routes.ts knows who was added. After it: emails/system-mail.ts.
import { LIMITS } from "@postloft/contract/limits.ts";
import { layOutSystemMail } from "../../emails/system-mail-layout.ts";
import type { NewSystemMail } from "../../emails/system-mail.ts";

export interface MemberNews {
  to: string;
  /** Who added them. */
  inviter: string;
  project: string;
  role: string;
  link: string;
}

/** For somebody without an account: the link makes one. */
export function invitationMail(news: MemberNews): NewSystemMail {
  const { inviter, project, role } = news;
  return mailOf(news, {
    subject: `${inviter} invites you to ${project}`,
    before: `${inviter} invites you to the project ${project}, as ${role}. Open this link to make your account:`,
    label: "Accept the invitation",
    after: `The link works once and for ${LIMITS.invitationDays.value} days. If you do not know ${inviter}, do nothing.`,
  });
}

/** For somebody who is a member from now on. */
export function addedMail(news: MemberNews): NewSystemMail {
  const { inviter, project, role } = news;
  return mailOf(news, {
    subject: `${inviter} added you to ${project}`,
    before: `You are a member of the project ${project} now, as ${role}: ${inviter} added you.`,
    label: `Open ${project}`,
    after: `If you do not know ${inviter}, log in and leave the project.`,
  });
}

function mailOf(
  { to, link }: MemberNews,
  { subject, before, label, after }: { subject: string; before: string; label: string; after: string },
): NewSystemMail {
  const text = layOutSystemMail({ subject, blocks: [before], action: { label, url: link }, footer: after });
  return { to, ...text };
}
