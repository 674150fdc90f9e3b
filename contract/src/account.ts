// What people do with their accounts (spec §4.13; decisions §12): proving an address, a forgotten password, sessions.
import { z } from "zod";
import { endpoint } from "./endpoint.ts";
import { emailAddress, instant, pathId } from "./field.ts";
import { LIMITS } from "./limits/limits.ts";
import { account, givenPassword, linkToken, password } from "./users.ts";

const message = z.object({ message: z.string() });

export const requestVerification = endpoint({
  name: "auth.requestVerification",
  method: "POST",
  path: "/auth/request-verification",
  summary: "Send the mail again that proves the address of the account",
  description: `The link in it holds for ${LIMITS.verificationHours.value} hours; links of earlier mails hold no more. Does nothing for an address that is proved.`,
  caller: "session",
  envelope: "wrapped",
  answers: { 200: message },
  errors: ["RATE_LIMIT_EXCEEDED"],
});

export const verifyEmail = endpoint({
  name: "auth.verifyEmail",
  method: "POST",
  path: "/auth/verify-email",
  summary: "Confirm an address with the token of an email",
  description:
    "Confirms the address and nothing else: no session is opened. If the account asked for another address, this is its address from now on. Each token works once.",
  caller: "anyone",
  body: z.object({ token: linkToken }),
  envelope: "wrapped",
  answers: { 200: account },
  errors: ["TOKEN_INVALID", "CONFLICT", "RATE_LIMIT_EXCEEDED"],
});

export const requestPasswordReset = endpoint({
  name: "auth.requestPasswordReset",
  method: "POST",
  path: "/auth/request-password-reset",
  summary: "Send a mail with which a new password can be set",
  description: `The response and its time are the same whether the address has an account or not. One email is sent per address and hour; its link is valid for ${LIMITS.passwordResetMinutes.value} minutes. An account whose address was never confirmed gets no link, because nobody knows who created it.`,
  caller: "anyone",
  body: z.object({ email: emailAddress }),
  envelope: "wrapped",
  answers: { 200: message },
  errors: ["RATE_LIMIT_EXCEEDED"],
});

export const resetPassword = endpoint({
  name: "auth.resetPassword",
  method: "POST",
  path: "/auth/reset-password",
  summary: "Set a new password with the token of a mail",
  description:
    "The token works once. All sessions of the account end; whoever set the password logs in with it.",
  caller: "anyone",
  body: z.object({ token: linkToken, newPassword: password }),
  envelope: "wrapped",
  answers: { 200: message },
  errors: ["TOKEN_INVALID", "RATE_LIMIT_EXCEEDED"],
});

export const changePassword = endpoint({
  name: "users.changePassword",
  method: "POST",
  path: "/users/@me/password",
  summary: "Change the password of the logged-in account",
  description: "All other sessions of the account end, and it gets a mail that says so.",
  caller: "session",
  body: z.object({ currentPassword: givenPassword, newPassword: password }),
  answers: { 200: message },
  errors: ["INVALID_CREDENTIALS", "RATE_LIMIT_EXCEEDED"],
});

export const changeEmail = endpoint({
  name: "users.changeEmail",
  method: "POST",
  path: "/users/@me/email",
  summary: "Ask for another address of the logged-in account",
  description:
    "Sends a link to the new address, which becomes the account's when the link is opened, and a notice to the old address. The response is the same if the new address has an account. One such email is sent per new address and hour; after it, the response is 429.",
  caller: "session",
  body: z.object({ currentPassword: givenPassword, newEmail: emailAddress }),
  answers: { 200: message },
  errors: ["INVALID_CREDENTIALS", "RATE_LIMIT_EXCEEDED"],
});

export const deleteAccount = endpoint({
  name: "users.delete",
  method: "DELETE",
  path: "/users/@me",
  summary: "Delete your account",
  description:
    "You leave all projects, as with `POST /projects/:projectId/leave`. 409 while you are the only owner of a project: transfer its ownership or delete it first. An account without a password needs a session of the last hour instead of one.",
  caller: "session",
  body: z.object({
    confirm: emailAddress.describe("The address of the account."),
    currentPassword: givenPassword.optional().describe("Required if the account has a password."),
  }),
  answers: { 204: null },
  errors: ["INVALID_CREDENTIALS", "SESSION_TOO_OLD", "CONFLICT", "RATE_LIMIT_EXCEEDED"],
});

export const listSessions = endpoint({
  name: "users.listSessions",
  method: "GET",
  path: "/users/@me/sessions",
  summary: "List where the account is logged in",
  description: "The newest first.",
  caller: "session",
  answers: {
    200: z.array(
      z.object({
        id: z.uuid(),
        isCurrent: z.boolean().describe("The session that asks."),
        ip: z
          .string()
          .nullable()
          .describe("Where it was started; behind a proxy only with `TRUST_PROXY` the visitor's."),
        userAgent: z.string().nullable(),
        createdAt: instant,
        lastUsedAt: instant
          .nullable()
          .describe("To within a few minutes; null where nobody knows: sessions from before it was kept."),
        expiresAt: instant,
      }),
    ),
  },
});

export const endSession = endpoint({
  name: "users.endSession",
  method: "DELETE",
  path: "/users/@me/sessions/:sessionId",
  summary: "End a session of the account",
  description: "It is over at once, everywhere. Ending the one that asks is logging out.",
  caller: "session",
  params: z.object({ sessionId: pathId }),
  answers: { 204: null },
  errors: ["SESSION_NOT_FOUND"],
});

export const endOtherSessions = endpoint({
  name: "users.endOtherSessions",
  method: "DELETE",
  path: "/users/@me/sessions",
  summary: "End all sessions of the account but the one that asks",
  description: "For somebody who lost a telephone, or logged in somewhere and does not know where.",
  caller: "session",
  answers: { 200: z.object({ ended: z.int() }) },
});
