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
    action: "Set password",
    note: "This signs you out everywhere.",
  },
  resetDone: { title: "Password set", about: "Sign in with your new password. You can close this page." },
  problem: { title: "Something went wrong" },
  code: {
    title: "Two-factor authentication",
    label: "Authentication code or recovery code",
    action: "Sign in",
    passkey: "Use a passkey instead",
    noPasskey: "No passkey was chosen or it took too long.",
  },
  /** Errors that may occur on any page. */
  refusals: {
    TOKEN_INVALID: ERRORS.TOKEN_INVALID.message,
    RATE_LIMIT_EXCEEDED: ERRORS.RATE_LIMIT_EXCEEDED.message,
    SIGNUPS_DISABLED: ERRORS.SIGNUPS_DISABLED.message,
    UNAUTHORIZED: ERRORS.UNAUTHORIZED.message,
  },
  problems: {
    password: `Choose another password: ${passwordMinimum.value} to ${passwordMaximum.value} characters, not one of the most common, and not your address, Postloft or the name of a project.`,
    addressTaken: "This email address already has an account. Sign in instead.",
    staleFlow: "This sign-in has expired or was started in another browser. Start again.",
    noSuchService: "Sign-in with this service is not enabled.",
    oldSession: "Sign out and in again, then connect the service within an hour.",
    notThisPasskey: "This passkey belongs to another account. Try another one or enter a code.",
    wrongCode: "The code is wrong or was already used.",
    oddId: ({ service }: OfService) => `${service} returned an invalid user id.`,
    unproved: ({ service }: OfService) =>
      `${service} has no verified email address for you. Verify it there, then try again.`,
    denied: ({ service }: OfService) => `You didn't allow ${service} to sign you in.`,
    refused: ({ service }: OfService) => `${service} rejected the sign-in. Try again.`,
    staleAnswer: ({ service }: OfService) =>
      `The response from ${service} is invalid or has expired. Start again.`,
    unreachable: ({ service }: OfService) =>
      `${service} can't be reached or isn't responding correctly. Try again in a minute.`,
    unconfirmed: ({ email }: { email: string }) =>
      `The account ${email} never confirmed its address. Sign in with its password and confirm the address first, or ask the administrator of this server.`,
    otherAccount: ({ service }: OfService) =>
      `This ${service} account is connected to another Postloft account. Sign in to that account or disconnect it there.`,
  },
};

export type PageTexts = typeof EN;
