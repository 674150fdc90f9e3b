// Accounts and sessions (spec §4.13; decisions §2).
// Before it: field.ts, passkeys.ts. After it: server/src/users/routes.ts.
import { z } from "zod";
import { endpoint } from "./endpoint.ts";
import { emailAddress } from "./field.ts";
import { LIMITS } from "./limits.ts";
import { passkeyAssertion } from "./passkeys.ts";

export const account = z.object({ id: z.uuid(), email: z.string() });

/** Languages in which people get mail about their accounts. */
export const personLanguage = z.enum(["en", "de", "fr", "es"]);
export type PersonLanguage = z.output<typeof personLanguage>;

export const password = z.string().min(LIMITS.passwordMinimum.value).max(LIMITS.passwordMaximum.value);

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
  summary: "Create an account and log in",
  description:
    "The session cookie that logs in is set at once. Create a project next. Nobody is told whether an address has an account: with the password of one this logs in to it, and else makes another, empty one. The address is that account's which confirms it by the link that is mailed; whoever has one already is told so by that mail.",
  caller: "anyone",
  body: z.object({ email: emailAddress, password }),
  envelope: "wrapped",
  answers: { 200: account },
  errors: ["SIGNUPS_DISABLED", "SECOND_FACTOR_REQUIRED", "RATE_LIMIT_EXCEEDED"],
});

export const logIn = endpoint({
  name: "auth.login",
  method: "POST",
  path: "/auth/login",
  summary: "Log in; sets the session cookie",
  description:
    "The cookie holds for seven days. Wrong address and wrong password are the same error. An account with a second factor answers SECOND_FACTOR_REQUIRED to the right password alone: send the same with `code`, or with `passkey` (`POST /auth/passkey-options`).",
  caller: "anyone",
  body: z.object({
    email: emailAddress,
    password: z.string().min(1).max(LIMITS.passwordMaximum.value),
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
