// What people are told about their accounts, in English: the catalogue whose shape the other languages have to have. Pure.
// Before it: account-mails.ts lays it out. After it: nothing.

export const EN = {
  verification: {
    subject: "Confirm your e-mail address",
    body: ({ email }: { email: string }) =>
      `${email} is the address of an account, or is to become it. Is it yours?`,
    action: "Yes, it is mine",
    footer: ({ hours }: { hours: string }) =>
      `The link holds for ${hours} hours. If it was not you, do nothing: without the link nothing changes.`,
  },
  knownAddress: {
    subject: "You have an account already",
    body: ({ email }: { email: string }) =>
      `Somebody signed up with ${email}, which is the address of your account. If it was you, log in to that account; if you forgot its password, you can set a new one there.`,
    action: "Log in",
    footer:
      "The sign-up made an account of its own, which cannot have your address. If it was not you, do nothing: nobody gets into your account by it.",
  },
  passwordReset: {
    subject: "Set a new password",
    body: ({ email }: { email: string }) => `Somebody asked for a new password of the account ${email}.`,
    action: "Set a new password",
    footer: ({ minutes }: { minutes: string }) =>
      `The link works once, and for ${minutes} minutes. If it was not you, do nothing: without the link nothing changes.`,
  },
  passwordChanged: {
    subject: "Your password was changed",
    body: ({ email }: { email: string }) =>
      `The password of the account ${email} was changed, and all other sessions ended.`,
    footer: "If it was not you, ask for a new password at once: whoever did it knows the old one.",
  },
  addressChange: {
    subject: "Somebody asked to change your e-mail address",
    body: ({ email, newEmail }: { email: string; newEmail: string }) =>
      `The account ${email} is to get the address ${newEmail}. It changes when the link in the mail there is opened.`,
    footer: "If it was not you, change your password at once: whoever asked knows it.",
  },
  secondFactorOn: {
    subject: "Your second factor is on",
    body: ({ email }: { email: string }) =>
      `Logging in to the account ${email} now asks for a code of an authenticator app. All other sessions ended.`,
    footer: "If it was not you, change your password at once: whoever did it knows it.",
  },
  secondFactorOff: {
    subject: "Your second factor is off",
    body: ({ email }: { email: string }) =>
      `Logging in to the account ${email} asks for the password alone again.`,
    footer: "If it was not you, change your password at once: whoever did it knows it.",
  },
  connected: {
    subject: ({ service }: { service: string }) => `Your account is connected with ${service}`,
    body: ({ email, service }: { email: string; service: string }) =>
      `Whoever logs in to ${service} as you now logs in to the account ${email}, too.`,
    footer: "If it was not you, change your password at once, and look at your account.",
  },
  disconnected: {
    subject: ({ service }: { service: string }) => `Your account left ${service}`,
    body: ({ email, service }: { email: string; service: string }) =>
      `Nobody logs in to the account ${email} through ${service} any more.`,
    footer: "If it was not you, change your password at once, and look at your account.",
  },
  passkeyAdded: {
    subject: "A passkey was added to your account",
    body: ({ email, name }: { email: string; name: string }) =>
      `The passkey “${name}” now logs in to the account ${email}, without a password.`,
    footer: "If it was not you, change your password at once, and look at the passkeys of your account.",
  },
  passkeyRemoved: {
    subject: "A passkey was removed from your account",
    body: ({ email, name }: { email: string; name: string }) =>
      `The passkey “${name}” no longer logs in to the account ${email}.`,
    footer: "If it was not you, change your password at once, and look at the passkeys of your account.",
  },
};

export type AccountMailTexts = typeof EN;
