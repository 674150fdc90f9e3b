// What people are told about their accounts. Pure.
// Before it: account.ts knows what was asked. After it: emails/system-mail.ts.
import { LIMITS } from "@postloft/contract/limits.ts";
import type { NewSystemMail } from "../emails/system-mail.ts";
import { layOutSystemMail } from "../emails/system-mail-layout.ts";

const NOT_YOU = "If it was not you, do nothing: without the link nothing changes.";

export function verificationMail(to: string, url: string): NewSystemMail {
  const mail = layOutSystemMail({
    subject: "Confirm your e-mail address",
    blocks: [`${to} is the address of an account, or is to become it. Is it yours?`],
    action: { label: "Yes, it is mine", url },
    footer: `The link holds for ${LIMITS.verificationHours.value} hours. ${NOT_YOU}`,
  });
  return { to, ...mail };
}

export function passwordResetMail(to: string, url: string): NewSystemMail {
  const mail = layOutSystemMail({
    subject: "Set a new password",
    blocks: [`Somebody asked for a new password of the account ${to}.`],
    action: { label: "Set a new password", url },
    footer: `The link works once, and for ${LIMITS.passwordResetMinutes.value} minutes. ${NOT_YOU}`,
  });
  return { to, ...mail };
}

export function passwordChangedMail(to: string): NewSystemMail {
  const mail = layOutSystemMail({
    subject: "Your password was changed",
    blocks: [`The password of the account ${to} was changed, and all other sessions ended.`],
    footer: "If it was not you, ask for a new password at once: whoever did it knows the old one.",
  });
  return { to, ...mail };
}

export function addressChangeMail(to: string, newEmail: string): NewSystemMail {
  const mail = layOutSystemMail({
    subject: "Somebody asked to change your e-mail address",
    blocks: [
      `The account ${to} is to get the address ${newEmail}. It changes when the link in the mail there is opened.`,
    ],
    footer: "If it was not you, change your password at once: whoever asked knows it.",
  });
  return { to, ...mail };
}

export function secondFactorMail(to: string, isOn: boolean): NewSystemMail {
  const mail = layOutSystemMail({
    subject: isOn ? "Your second factor is on" : "Your second factor is off",
    blocks: [
      isOn
        ? `Logging in to the account ${to} now asks for a code of an authenticator app. All other sessions ended.`
        : `Logging in to the account ${to} asks for the password alone again.`,
    ],
    footer: "If it was not you, change your password at once: whoever did it knows it.",
  });
  return { to, ...mail };
}

/** @param title what people call the service */
export function identityMail(to: string, title: string, isConnected: boolean): NewSystemMail {
  const mail = layOutSystemMail({
    subject: isConnected ? `Your account is connected with ${title}` : `Your account left ${title}`,
    blocks: [
      isConnected
        ? `Whoever logs in to ${title} as you now logs in to the account ${to}, too.`
        : `Nobody logs in to the account ${to} through ${title} any more.`,
    ],
    footer: "If it was not you, change your password at once, and look at your account.",
  });
  return { to, ...mail };
}
