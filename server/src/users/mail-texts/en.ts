// Emails about accounts, in English. The other languages have the same shape.
import type { Place } from "../place.ts";

export interface AccountMailWords {
  subject: string;
  blocks: string[];
  /** The text of the button. */
  label?: string;
  footer?: string;
}

interface OfAccount {
  email: string;
}
type Asked = OfAccount & { place: Place };
type Linked = Asked & { hours: string };

const at = ({ device, ip }: Place) => `${device ?? "an unknown device"}, IP address ${ip ?? "unknown"}`;
const IGNORE = "If this wasn't you, ignore this email.";
const SECURE = "If this wasn't you, change your password now and check your account.";

export const EN = {
  signUp: ({ email, place, hours }: Linked): AccountMailWords => ({
    subject: "Create your Postloft account",
    blocks: [
      `Someone asked to create a Postloft account for ${email} (${at(place)}).`,
      "If this was you, choose a password to create it.",
    ],
    label: "Choose a password",
    footer: `The link works once, within ${hours} hours. ${IGNORE} No account is created without the link.`,
  }),
  knownAddress: ({ email, place, resetUrl }: Asked & { resetUrl: string }): AccountMailWords => ({
    subject: "You already have a Postloft account",
    blocks: [
      `Someone tried to sign up with ${email} (${at(place)}). This address already has an account, so nothing was created.`,
      `If this was you, sign in. If you forgot your password, reset it: ${resetUrl}`,
    ],
    label: "Sign in",
    footer: IGNORE,
  }),
  verifyNew: ({ email, place, hours }: Linked): AccountMailWords => ({
    subject: "Confirm your email address",
    blocks: [
      `A Postloft account was created for ${email} (${at(place)}). Confirm that this is your address.`,
    ],
    label: "Confirm email address",
    footer: `The link works once, within ${hours} hours. If you didn't create this account, don't confirm it.`,
  }),
  verifyAgain: ({ email, place, hours }: Linked): AccountMailWords => ({
    subject: "Confirm your email address",
    blocks: [
      `The account ${email} asked to confirm its address (${at(place)}). Confirm that this is your address.`,
    ],
    label: "Confirm email address",
    footer: `The link works once, within ${hours} hours. If you didn't create this account, don't confirm it.`,
  }),
  verifyChange: ({ email, place, hours, newEmail }: Linked & { newEmail: string }): AccountMailWords => ({
    subject: "Confirm your new email address",
    blocks: [
      `The Postloft account ${email} asked to change its email address to ${newEmail} (${at(place)}).`,
      "Confirm this only if the account is yours.",
    ],
    label: "Confirm email address",
    footer: `The link works once, within ${hours} hours. ${IGNORE}`,
  }),
  addressChange: ({ email, place, newEmail }: Asked & { newEmail: string }): AccountMailWords => ({
    subject: "Your email address is about to change",
    blocks: [
      `Someone asked to change the email address of your account from ${email} to ${newEmail} (${at(place)}). It changes when the new address is confirmed.`,
    ],
    footer: SECURE,
  }),
  passwordReset: ({ email, place, minutes }: Asked & { minutes: string }): AccountMailWords => ({
    subject: "Reset your password",
    blocks: [`Someone asked for a new password for the account ${email} (${at(place)}).`],
    label: "Choose a new password",
    footer: `The link works once, within ${minutes} minutes. ${IGNORE} Your password stays the same.`,
  }),
  unconfirmedReset: ({ email, place }: Asked): AccountMailWords => ({
    subject: "Your password can't be reset by email",
    blocks: [
      `Someone asked for a new password for the account ${email} (${at(place)}). Its address was never confirmed, so we can't tell who created it.`,
      "If you created it, sign in and confirm the address, or ask the administrator of this server for a new password (npm run admin -- reset-password).",
    ],
    footer: IGNORE,
  }),
  passwordChanged: ({ email }: OfAccount): AccountMailWords => ({
    subject: "Your password was changed",
    blocks: [`The password of the account ${email} was changed. All other sessions have ended.`],
    footer: "If this wasn't you, reset your password now. The person who did it knew the old one.",
  }),
  newSignIn: ({ email, place, at: when }: Asked & { at: string }): AccountMailWords => ({
    subject: "New sign-in to your account",
    blocks: [`Your account ${email} was used on a new device on ${when}: ${at(place)}.`],
    footer: "If this wasn't you, change your password now. That ends all other sessions.",
  }),
  secondFactorOn: ({ email }: OfAccount): AccountMailWords => ({
    subject: "Two-factor authentication is on",
    blocks: [
      `Signing in to the account ${email} now requires a code from an authenticator app. All other sessions have ended.`,
    ],
    footer: SECURE,
  }),
  secondFactorOff: ({ email }: OfAccount): AccountMailWords => ({
    subject: "Two-factor authentication is off",
    blocks: [`Signing in to the account ${email} requires only the password again.`],
    footer: SECURE,
  }),
  recoveryCodesRenewed: ({ email }: OfAccount): AccountMailWords => ({
    subject: "Your recovery codes were replaced",
    blocks: [`The account ${email} has new recovery codes. The previous ones no longer work.`],
    footer: SECURE,
  }),
  connected: ({ email, service }: OfAccount & { service: string }): AccountMailWords => ({
    subject: `Your account is connected to ${service}`,
    blocks: [`You can now sign in to the account ${email} with ${service}.`],
    footer: SECURE,
  }),
  disconnected: ({ email, service }: OfAccount & { service: string }): AccountMailWords => ({
    subject: `Your account is no longer connected to ${service}`,
    blocks: [`${service} no longer signs in to the account ${email}.`],
    footer: SECURE,
  }),
  passkeyAdded: ({ email, name }: OfAccount & { name: string }): AccountMailWords => ({
    subject: "A passkey was added to your account",
    blocks: [`The passkey “${name}” now signs in to the account ${email}, without a password.`],
    footer: SECURE,
  }),
  passkeyRemoved: ({ email, name }: OfAccount & { name: string }): AccountMailWords => ({
    subject: "A passkey was removed from your account",
    blocks: [`The passkey “${name}” no longer signs in to the account ${email}.`],
    footer: SECURE,
  }),
  accountDeleted: ({ email, place }: Asked): AccountMailWords => ({
    subject: "Your account was deleted",
    blocks: [`The Postloft account ${email} was deleted (${at(place)}).`],
    footer: "If this wasn't you, tell the administrator of this server.",
  }),
};

export type AccountMailTexts = typeof EN;
