// Builds the email that forwards a message to postmaster@ or abuse@ to the instance admin. Pure.
import { notificationMail, type MailInLanguage } from "../projects/members/notification-mails.ts";
import type { AdminMessage } from "./returned-message.ts";

export const operatorMail = (message: AdminMessage): MailInLanguage =>
  notificationMail((texts) => texts.passedOn(message));
