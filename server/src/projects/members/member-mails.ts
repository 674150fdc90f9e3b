// What people are told about their place in a project. Pure.
// Before it: routes.ts knows who was added. After it: emails/system-mail.ts.
import type { NewSystemMail } from "../../emails/system-mail.ts";

export interface MemberNews {
  to: string;
  /** Who added them. */
  inviter: string;
  project: string;
  role: string;
  link: string;
}

export const invitationMail = ({ to, inviter, project, role, link }: MemberNews): NewSystemMail => ({
  to,
  subject: `${inviter} invites you to ${project}`,
  text: `${role} ${link}`,
  html: "",
});
export const addedMail = ({ to, inviter, project, role, link }: MemberNews): NewSystemMail => ({
  to,
  subject: `${inviter} added you to ${project}`,
  text: `${role} ${link}`,
  html: "",
});
