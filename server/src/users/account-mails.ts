// What people are told about their accounts, in their language. Pure.
// Before it: account.ts and others know what was asked. After it: mail-texts/ has the words; emails/system-mail/system-mail.ts queues.
import { LIMITS } from "@postloft/contract/limits.ts";
import { formatsOf } from "../emails/system-mail/mail-formats.ts";
import type { MailLanguage } from "../emails/system-mail/mail-language.ts";
import type { NewSystemMail } from "../emails/system-mail/system-mail.ts";
import { layOutSystemMail, type SystemMailParts } from "../emails/system-mail/system-mail-layout.ts";
import { DE } from "./mail-texts/de.ts";
import { EN, type AccountMailTexts } from "./mail-texts/en.ts";
import { ES } from "./mail-texts/es.ts";
import { FR } from "./mail-texts/fr.ts";

/** A language without a text is a mistake of types. */
const TEXTS: Readonly<Record<MailLanguage, AccountMailTexts>> = { en: EN, de: DE, fr: FR, es: ES };

/** Whoever is told, where, and in which language. */
export interface Told {
  email: string;
  language: MailLanguage;
}

const mailOf = ({ email, language }: Told, parts: Omit<SystemMailParts, "language">): NewSystemMail => ({
  to: email,
  ...layOutSystemMail({ ...parts, language }),
});

export function verificationMail(told: Told, url: string): NewSystemMail {
  const texts = TEXTS[told.language].verification;
  return mailOf(told, {
    subject: texts.subject,
    blocks: [texts.body(told)],
    action: { label: texts.action, url },
    footer: texts.footer({ hours: formatsOf(told.language).number(LIMITS.verificationHours.value) }),
  });
}

/** To whoever has proved an address with which somebody signed up. */
export function knownAddressMail(told: Told, url: string): NewSystemMail {
  const { subject, body, action, footer } = TEXTS[told.language].knownAddress;
  return mailOf(told, { subject, blocks: [body(told)], action: { label: action, url }, footer });
}

export function passwordResetMail(told: Told, url: string): NewSystemMail {
  const texts = TEXTS[told.language].passwordReset;
  return mailOf(told, {
    subject: texts.subject,
    blocks: [texts.body(told)],
    action: { label: texts.action, url },
    footer: texts.footer({ minutes: formatsOf(told.language).number(LIMITS.passwordResetMinutes.value) }),
  });
}

export function passwordChangedMail(told: Told): NewSystemMail {
  const { subject, body, footer } = TEXTS[told.language].passwordChanged;
  return mailOf(told, { subject, blocks: [body(told)], footer });
}

export function addressChangeMail(told: Told, newEmail: string): NewSystemMail {
  const { subject, body, footer } = TEXTS[told.language].addressChange;
  return mailOf(told, { subject, blocks: [body({ email: told.email, newEmail })], footer });
}

export function secondFactorMail(told: Told, isOn: boolean): NewSystemMail {
  const texts = TEXTS[told.language];
  const { subject, body, footer } = isOn ? texts.secondFactorOn : texts.secondFactorOff;
  return mailOf(told, { subject, blocks: [body(told)], footer });
}

/** @param service what people call it */
export function identityMail(told: Told, service: string, isConnected: boolean): NewSystemMail {
  const texts = TEXTS[told.language];
  const { subject, body, footer } = isConnected ? texts.connected : texts.disconnected;
  const blocks = [body({ email: told.email, service })];
  return mailOf(told, { subject: subject({ service }), blocks, footer });
}

export function passkeyMail(told: Told, name: string, isAdded: boolean): NewSystemMail {
  const texts = TEXTS[told.language];
  const { subject, body, footer } = isAdded ? texts.passkeyAdded : texts.passkeyRemoved;
  return mailOf(told, { subject, blocks: [body({ email: told.email, name })], footer });
}
