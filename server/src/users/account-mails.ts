// Emails about accounts, each in the language of its reader.
import { formatsOf, type MailFormats } from "../emails/platform-email/mail-formats.ts";
import type { MailLanguage } from "../emails/platform-email/mail-language.ts";
import type { NewPlatformEmail } from "../emails/platform-email/platform-email.ts";
import { layOutPlatformEmail } from "../emails/platform-email/platform-email-layout.ts";
import { DE } from "./mail-texts/de.ts";
import { EN, type AccountMailTexts, type AccountMailWords } from "./mail-texts/en.ts";
import { ES } from "./mail-texts/es.ts";
import { FR } from "./mail-texts/fr.ts";

/** A language without a text does not compile. */
const TEXTS: Readonly<Record<MailLanguage, AccountMailTexts>> = { en: EN, de: DE, fr: FR, es: ES };

/** The recipient and their language. */
export interface Reported {
  email: string;
  language: MailLanguage;
}

/**
 * Builds an account email in the recipient's language.
 * @param say chooses the words from the texts of that language
 * @param url target of the button; without it the email has no button
 */
export function accountMail(
  { email, language }: Reported,
  say: (texts: AccountMailTexts, formats: MailFormats) => AccountMailWords,
  url?: string,
): NewPlatformEmail {
  const { label, ...words } = say(TEXTS[language], formatsOf(language));
  const action = label === undefined || url === undefined ? {} : { action: { label, url } };
  return { to: email, ...layOutPlatformEmail({ language, ...words, ...action }) };
}
