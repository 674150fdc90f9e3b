// Builds notification emails in the language of each recipient. Pure.
import type { MailLanguage } from "../../emails/platform-email/mail-language.ts";
import {
  layOutPlatformEmail,
  type PlatformEmailText,
} from "../../emails/platform-email/platform-email-layout.ts";
import type { NotificationTexts, NotificationWords } from "./notification-facts.ts";
import { DE } from "./notification-texts/de.ts";
import { EN } from "./notification-texts/en.ts";
import { ES } from "./notification-texts/es.ts";
import { FR } from "./notification-texts/fr.ts";

const TEXTS: Readonly<Record<MailLanguage, NotificationTexts>> = { en: EN, de: DE, fr: FR, es: ES };

/** Returns one email in the given language. */
export type MailInLanguage = (language: MailLanguage) => PlatformEmailText;

/** @param url target of the button; without it the email has no button */
export function notificationMail(
  say: (texts: NotificationTexts) => NotificationWords,
  url?: string,
): MailInLanguage {
  return (language) => {
    const { label, ...words } = say(TEXTS[language]);
    const action = label === undefined || url === undefined ? {} : { action: { label, url } };
    return layOutPlatformEmail({ language, ...words, ...action });
  };
}
