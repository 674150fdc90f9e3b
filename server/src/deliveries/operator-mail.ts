// What somebody wrote to postmaster@ or abuse@ of our domains, as a mail to whoever runs the installation. Pure.
import { notificationMail, type MailInLanguage } from "../projects/members/notification-mails.ts";
import type { OperatorMessage } from "./returned-message.ts";

export const operatorMail = (message: OperatorMessage): MailInLanguage =>
  notificationMail((texts) => texts.passedOn(message));
