// Accounts: sign-up, sign-in, the signed-in person (spec §4.13; decisions §2).
import { z } from "zod";
import { endpoint } from "./endpoint.ts";
import { emailAddress } from "./field.ts";
import { LIMITS } from "./limits/limits.ts";
import { passkeyAssertion } from "./passkeys.ts";

export const account = z.object({ id: z.uuid(), email: z.string() });

/** Languages in which people get mail about their accounts. */
export const personLanguage = z.enum(["en", "de", "fr", "es"]);
export type PersonLanguage = z.output<typeof personLanguage>;

/** A new password. NFC, because keyboards compose accented letters differently. */
export const password = z
  .string()
  .normalize("NFC")
  .min(LIMITS.passwordMinimum.value)
  .max(LIMITS.passwordMaximum.value);

/** An existing password. Accounts older than today's rules keep a shorter one. */
export const givenPassword = z.string().normalize("NFC").min(1).max(LIMITS.passwordMaximum.value);

/** The random part of a link in an email. */
export const linkToken = z.string().min(1).max(100).describe("The last part of the link in the email.");

/** Recovery codes are half as long, with dashes or spaces where somebody likes. */
const MAX_CODE_LENGTH = 32;

export const secondFactorCode = z
  .string()
  .trim()
  .min(6)
  .max(MAX_CODE_LENGTH)
  .describe("Six digits of the authenticator app, or a recovery code.");

export const signUp = endpoint({
  name: "auth.signup",
  method: "POST",
  path: "/auth/signup",
  summary: "Create an account",
  description: `When email stays on the machine (\`MAIL_TRANSPORT=mailbox\`): creates the account and opens a session; an address that has an account is a 409. When email leaves the machine: sends a link and answers 202, the same for every address. The account is created with \`POST /auth/complete-signup\` or on the page of the link, with the password chosen there, so \`password\` is not needed here. The owner of an address that has an account gets an email that says so. One such email is sent per address and hour; the link is valid for ${LIMITS.verificationHours.value} hours.`,
  caller: "anyone",
  body: z.object({
    email: emailAddress,
    password: password.optional().describe("Required when email stays on the machine, else ignored."),
  }),
  envelope: "wrapped",
  answers: { 200: account, 202: z.object({ message: z.string() }) },
  errors: ["SIGNUPS_DISABLED", "CONFLICT", "RATE_LIMIT_EXCEEDED"],
});

export const completeSignUp = endpoint({
  name: "auth.completeSignup",
  method: "POST",
  path: "/auth/complete-signup",
  summary: "Create the account with the token of a sign-up email",
  description:
    "Creates the account with a confirmed address and opens a session. The token works once. 409 if the address has got an account since the email was sent.",
  caller: "anyone",
  body: z.object({ token: linkToken, password }),
  envelope: "wrapped",
  answers: { 200: account },
  errors: ["TOKEN_INVALID", "SIGNUPS_DISABLED", "CONFLICT", "RATE_LIMIT_EXCEEDED"],
});

export const logIn = endpoint({
  name: "auth.login",
  method: "POST",
  path: "/auth/login",
  summary: "Log in; sets the session cookie",
  description: `The session ends after ${LIMITS.sessionIdleDays.value} days without use, and after ${LIMITS.sessionDays.value} days in any case. A wrong address and a wrong password are the same error. An account with a second factor answers SECOND_FACTOR_REQUIRED to the right password alone: send the same with \`code\`, or with \`passkey\` (\`POST /auth/passkey-options\`). A sign-in from a new browser is reported to the account's address.`,
  caller: "anyone",
  body: z.object({
    email: emailAddress,
    password: givenPassword,
    code: secondFactorCode.optional(),
    passkey: passkeyAssertion.optional().describe("One of the account, in place of a code."),
  }),
  envelope: "wrapped",
  answers: { 200: account },
  errors: ["INVALID_CREDENTIALS", "SECOND_FACTOR_REQUIRED", "RATE_LIMIT_EXCEEDED"],
});

export const logOut = endpoint({
  name: "auth.logout",
  method: "GET",
  path: "/auth/logout",
  summary: "Log out; the session ends and its cookie is cleared",
  description: "Other sessions of the same person go on.",
  caller: "session",
  isRead: false,
  envelope: "wrapped",
  answers: { 200: z.object({}) },
  errors: ["FORBIDDEN"],
});

export const getMe = endpoint({
  name: "users.me",
  method: "GET",
  path: "/users/@me",
  summary: "Read the logged-in account",
  description: "The person whose session it is.",
  caller: "session",
  answers: { 200: account },
});

export const updateMe = endpoint({
  name: "users.update",
  method: "PATCH",
  path: "/users/@me",
  summary: "Choose in which language you get mail about your account",
  description:
    "An account that is made in a browser begins with the language that the browser asks for (`Accept-Language`).",
  caller: "session",
  body: z.object({ language: personLanguage }),
  answers: { 200: account.extend({ language: personLanguage }) },
});
