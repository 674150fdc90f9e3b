// Account endpoints (spec §4.13; decisions §12): confirming an address, resetting a password, sessions.
import { z } from "zod";
import { endpoint } from "./endpoint.ts";
import { emailAddress, instant, pathId } from "./field.ts";
import { LIMITS } from "./limits/limits.ts";
import { account, existingPassword, linkToken, password } from "./users.ts";

const message = z.object({ message: z.string() });

export const requestVerification = endpoint({
  name: "auth.requestVerification",
  method: "POST",
  path: "/auth/request-verification",
  summary: "Resend the email that confirms the account's address",
  description: `The link is valid for ${LIMITS.verificationHours.value} hours. Links from earlier emails stop working. Does nothing if the address is already confirmed.`,
  caller: "session",
  envelope: "wrapped",
  responses: { 200: message },
  errors: ["RATE_LIMIT_EXCEEDED"],
});

export const verifyEmail = endpoint({
  name: "auth.verifyEmail",
  method: "POST",
  path: "/auth/verify-email",
  summary: "Confirm an address with the token from an email",
  description:
    "Only confirms the address and opens no session. If the account requested another address, this becomes its address. Each token works once.",
  caller: "anyone",
  body: z.object({ token: linkToken }),
  envelope: "wrapped",
  responses: { 200: account },
  errors: ["TOKEN_INVALID", "CONFLICT", "RATE_LIMIT_EXCEEDED"],
});

export const requestPasswordReset = endpoint({
  name: "auth.requestPasswordReset",
  method: "POST",
  path: "/auth/request-password-reset",
  summary: "Send an email with a link to set a new password",
  description: `The response and its timing are the same whether or not the address has an account. One email is sent per address and hour, and its link is valid for ${LIMITS.passwordResetMinutes.value} minutes. An account whose address was never confirmed gets no link, because its creator is unknown.`,
  caller: "anyone",
  body: z.object({ email: emailAddress }),
  envelope: "wrapped",
  responses: { 200: message },
  errors: ["RATE_LIMIT_EXCEEDED"],
});

export const resetPassword = endpoint({
  name: "auth.resetPassword",
  method: "POST",
  path: "/auth/reset-password",
  summary: "Set a new password with the token from an email",
  description: "The token works once. All sessions of the account end; sign in with the new password.",
  caller: "anyone",
  body: z.object({ token: linkToken, newPassword: password }),
  envelope: "wrapped",
  responses: { 200: message },
  errors: ["TOKEN_INVALID", "RATE_LIMIT_EXCEEDED"],
});

export const changePassword = endpoint({
  name: "users.changePassword",
  method: "POST",
  path: "/users/@me/password",
  summary: "Change the password of the signed-in account",
  description: "All other sessions of the account end, and the account is notified by email.",
  caller: "session",
  body: z.object({ currentPassword: existingPassword, newPassword: password }),
  responses: { 200: message },
  errors: ["INVALID_CREDENTIALS", "RATE_LIMIT_EXCEEDED"],
});

export const changeEmail = endpoint({
  name: "users.changeEmail",
  method: "POST",
  path: "/users/@me/email",
  summary: "Request another address for the signed-in account",
  description:
    "Sends a link to the new address, which becomes the account's when the link is opened, and a notice to the old address. The response is the same if the new address has an account. One such email is sent per new address and hour; after it, the response is 429.",
  caller: "session",
  body: z.object({ currentPassword: existingPassword, newEmail: emailAddress }),
  responses: { 200: message },
  errors: ["INVALID_CREDENTIALS", "RATE_LIMIT_EXCEEDED"],
});

export const deleteAccount = endpoint({
  name: "users.delete",
  method: "DELETE",
  path: "/users/@me",
  summary: "Delete your account",
  description:
    "You leave all projects, as with `POST /projects/:projectId/leave`. Fails with 409 while you are the only owner of a project: transfer its ownership or delete it first. An account without a password needs a session from the last hour instead.",
  caller: "session",
  body: z.object({
    confirm: emailAddress.describe("The account's address."),
    currentPassword: existingPassword.optional().describe("Required if the account has a password."),
  }),
  responses: { 204: null },
  errors: ["INVALID_CREDENTIALS", "SESSION_TOO_OLD", "CONFLICT", "RATE_LIMIT_EXCEEDED"],
});

export const listSessions = endpoint({
  name: "users.listSessions",
  method: "GET",
  path: "/users/@me/sessions",
  summary: "List the sessions of the account",
  description: "Newest first.",
  caller: "session",
  responses: {
    200: z.array(
      z.object({
        id: z.uuid(),
        isCurrent: z.boolean().describe("Whether this is the session of the request."),
        ip: z
          .string()
          .nullable()
          .describe(
            "The address that started the session. Behind a proxy this is the visitor's address only if `TRUST_PROXY` is set.",
          ),
        userAgent: z.string().nullable(),
        createdAt: instant,
        lastUsedAt: instant
          .nullable()
          .describe("Accurate to a few minutes; null for sessions older than this field."),
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
  description: "Takes effect immediately. Ending the current session signs you out.",
  caller: "session",
  params: z.object({ sessionId: pathId }),
  responses: { 204: null },
  errors: ["SESSION_NOT_FOUND"],
});

export const endOtherSessions = endpoint({
  name: "users.endOtherSessions",
  method: "DELETE",
  path: "/users/@me/sessions",
  summary: "End all other sessions of the account",
  description: "Use it after losing a device or forgetting to sign out somewhere.",
  caller: "session",
  responses: { 200: z.object({ ended: z.int() }) },
});
