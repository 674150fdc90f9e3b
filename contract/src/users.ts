// Accounts: sign-up, sign-in and the signed-in user (spec §4.13; decisions §2).
import { z } from "zod";
import { endpoint } from "./endpoint.ts";
import { emailAddress } from "./field.ts";
import { LIMITS } from "./limits/limits.ts";
import { passkeyAssertion } from "./passkeys.ts";

export const account = z.object({ id: z.uuid(), email: z.string() });

/** Languages of account emails. */
export const personLanguage = z.enum(["en", "de", "fr", "es"]);
export type PersonLanguage = z.output<typeof personLanguage>;

/** A new password. NFC, because keyboards compose accented letters differently. */
export const password = z
  .string()
  .normalize("NFC")
  .min(LIMITS.passwordMinimum.value)
  .max(LIMITS.passwordMaximum.value);

/** An existing password. It may be shorter than new passwords, because the rules were different when it was set. */
export const existingPassword = z.string().normalize("NFC").min(1).max(LIMITS.passwordMaximum.value);

/** The random part of a link in an email. */
export const linkToken = z.string().min(1).max(100).describe("The last part of the link in the email.");

/** Recovery codes are half as long, but may be typed with dashes or spaces. */
const MAX_CODE_LENGTH = 32;

export const secondFactorCode = z
  .string()
  .trim()
  .min(6)
  .max(MAX_CODE_LENGTH)
  .describe("Six digits from the authenticator app, or a recovery code.");

export const signUp = endpoint({
  name: "auth.signup",
  method: "POST",
  path: "/auth/signup",
  summary: "Create an account",
  description: `In local mode (\`MAIL_TRANSPORT=mailbox\`), creates the account and opens a session; 409 if the address has an account. If email is configured, sends a link and returns 202, which is the same for every address. The account is created with \`POST /auth/complete-signup\` or on the page of the link, where the password is chosen, so \`password\` is not needed here. If the address already has an account, its owner is notified by email. One such email is sent per address and hour, and the link is valid for ${LIMITS.verificationHours.value} hours.`,
  caller: "anyone",
  body: z.object({
    email: emailAddress,
    password: password.optional().describe("Required in local mode, otherwise ignored."),
  }),
  envelope: "wrapped",
  responses: { 200: account, 202: z.object({ message: z.string() }) },
  errors: ["SIGNUPS_DISABLED", "CONFLICT", "RATE_LIMIT_EXCEEDED"],
});

export const completeSignUp = endpoint({
  name: "auth.completeSignup",
  method: "POST",
  path: "/auth/complete-signup",
  summary: "Create the account with the token of a sign-up email",
  description:
    "Creates the account with a confirmed address and opens a session. The token works once. 409 if an account with this address was created after the email was sent.",
  caller: "anyone",
  body: z.object({ token: linkToken, password }),
  envelope: "wrapped",
  responses: { 200: account },
  errors: ["TOKEN_INVALID", "SIGNUPS_DISABLED", "CONFLICT", "RATE_LIMIT_EXCEEDED"],
});

export const logIn = endpoint({
  name: "auth.login",
  method: "POST",
  path: "/auth/login",
  summary: "Sign in and set the session cookie",
  description: `The session ends after ${LIMITS.sessionIdleDays.value} days without use, and after ${LIMITS.sessionDays.value} days in any case. A wrong address and a wrong password return the same error. With a second factor, the correct password alone returns SECOND_FACTOR_REQUIRED: send the same request with \`code\`, or with \`passkey\` (\`POST /auth/passkey-options\`). Signing in with a new browser notifies the account by email.`,
  caller: "anyone",
  body: z.object({
    email: emailAddress,
    password: existingPassword,
    code: secondFactorCode.optional(),
    passkey: passkeyAssertion.optional().describe("A passkey of the account, instead of a code."),
  }),
  envelope: "wrapped",
  responses: { 200: account },
  errors: ["INVALID_CREDENTIALS", "SECOND_FACTOR_REQUIRED", "RATE_LIMIT_EXCEEDED"],
});

export const logOut = endpoint({
  name: "auth.logout",
  method: "GET",
  path: "/auth/logout",
  summary: "Sign out, end the session and clear its cookie",
  description: "Other sessions of the account continue.",
  caller: "session",
  isRead: false,
  envelope: "wrapped",
  responses: { 200: z.object({}) },
  errors: ["FORBIDDEN"],
});

export const getMe = endpoint({
  name: "users.me",
  method: "GET",
  path: "/users/@me",
  summary: "Read the signed-in account",
  description: "The account of the session.",
  caller: "session",
  responses: { 200: account },
});

export const updateMe = endpoint({
  name: "users.update",
  method: "PATCH",
  path: "/users/@me",
  summary: "Choose the language of your account emails",
  description: "An account created in a browser starts with the browser's language (`Accept-Language`).",
  caller: "session",
  body: z.object({ language: personLanguage }),
  responses: { 200: account.extend({ language: personLanguage }) },
});
