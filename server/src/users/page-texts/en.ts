// Account pages that work without the dashboard, in English. The other languages have the same shape.
import { ERRORS } from "@postloft/contract/errors.ts";
import { LIMITS } from "@postloft/contract/limits/limits.ts";

const { passwordMinimum, passwordMaximum } = LIMITS;

interface OfService {
  service: string;
}

export const EN = {
  verify: {
    title: "Confirm your email address",
    about: "You opened a link from an email to this address. Confirm that the address is yours.",
    action: "Confirm email address",
  },
  verified: {
    title: "Confirmed",
    about: ({ email }: { email: string }) => `${email} is confirmed. You can close this page.`,
  },
  signUp: {
    title: "Create your account",
    label: "Choose a password",
    action: "Create account",
    note: "Your account is created with the address this link was sent to.",
  },
  signedUp: {
    title: "Your account is ready",
    about: ({ email }: { email: string }) => `The account ${email} was created.`,
    action: "Sign in",
  },
  reset: {
    title: "Set a new password",
    label: "New password",
    action: "Set the password",
    note: "All sessions of the account end.",
  },
  resetDone: { title: "Your password is set", about: "Log in with it. You can close this page." },
  problem: { title: "This did not work" },
  code: {
    title: "Your second factor",
    label: "Code of the app, or a recovery code",
    action: "Log in",
    passkey: "Use a passkey instead",
    noPasskey: "No passkey was chosen, or it took too long.",
  },
  /** What may be refused anywhere. */
  refusals: {
    TOKEN_INVALID: ERRORS.TOKEN_INVALID.message,
    RATE_LIMIT_EXCEEDED: ERRORS.RATE_LIMIT_EXCEEDED.message,
    SIGNUPS_DISABLED: ERRORS.SIGNUPS_DISABLED.message,
    UNAUTHORIZED: ERRORS.UNAUTHORIZED.message,
  },
  problems: {
    password: `Choose another password: ${passwordMinimum.value} to ${passwordMaximum.value} characters, not one of the most common, and not your address, Postloft or the name of a project.`,
    addressTaken: "This email address already has an account. Sign in instead.",
    staleFlow: "This log-in was begun in another browser, or too long ago. Begin again.",
    noSuchService: "Nobody logs in through this service here.",
    oldSession:
      "Log out and in again, then connect within an hour: a service that is connected opens your account.",
    notThisPasskey: "This passkey is none of this account. Try another one, or give a code.",
    wrongCode: "The code is wrong, or was used already.",
    oddId: ({ service }: OfService) => `${service} names you by an id that nobody may have.`,
    unproved: ({ service }: OfService) =>
      `${service} has no verified e-mail address of you. Verify yours there, then try again.`,
    denied: ({ service }: OfService) => `You did not let ${service} log you in.`,
    refused: ({ service }: OfService) => `${service} refused to log you in. Try again.`,
    staleAnswer: ({ service }: OfService) =>
      `The answer of ${service} does not hold (any more). Start again.`,
    unreachable: ({ service }: OfService) =>
      `${service} cannot be reached, or does not answer as it should. Try again in a minute.`,
    unconfirmed: ({ email }: { email: string }) =>
      `The account ${email} never confirmed its address. Sign in with its password and confirm the address first, or ask the administrator of this server.`,
    otherAccount: ({ service }: OfService) =>
      `This person of ${service} is connected with another account. Log in to that one, or disconnect it there.`,
  },
};

export type PageTexts = typeof EN;
