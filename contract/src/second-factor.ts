// The second factor of an account: authenticator codes (RFC 6238) and recovery codes (docs/decisions/0050-second-factor.md).
import { z } from "zod";
import { endpoint } from "./endpoint.ts";
import { instant } from "./field.ts";
import { existingPassword, secondFactorCode } from "./users.ts";

const recoveryCodes = z
  .array(z.string())
  .describe("Shown only this once. Each code replaces an authenticator code for one sign-in.");

export const getSecondFactor = endpoint({
  name: "users.secondFactor",
  method: "GET",
  path: "/users/@me/second-factor",
  summary: "Read whether signing in requires a second factor",
  description: "For the signed-in account.",
  caller: "session",
  responses: {
    200: z.object({
      isOn: z.boolean(),
      since: instant.nullable(),
      recoveryCodesLeft: z.int(),
    }),
  },
});

export const beginSecondFactor = endpoint({
  name: "users.beginSecondFactor",
  method: "POST",
  path: "/users/@me/second-factor",
  summary: "Get a secret for an authenticator app",
  description: "Takes effect once you confirm it with a code. Another call replaces the secret.",
  caller: "session",
  body: z.object({ currentPassword: existingPassword }),
  responses: {
    200: z.object({
      secret: z.string().describe("In base32, for typing it."),
      uri: z.string().describe("The secret as an `otpauth://` URI, for a QR code."),
    }),
  },
  errors: ["INVALID_CREDENTIALS", "CONFLICT", "RATE_LIMIT_EXCEEDED"],
});

export const confirmSecondFactor = endpoint({
  name: "users.confirmSecondFactor",
  method: "POST",
  path: "/users/@me/second-factor/confirm",
  summary: "Turn on the second factor with a first code",
  description: "All other sessions of the account end, and the account is notified by email.",
  caller: "session",
  body: z.object({ code: secondFactorCode }),
  responses: { 200: z.object({ recoveryCodes }) },
  errors: ["INVALID_CREDENTIALS", "CONFLICT", "RATE_LIMIT_EXCEEDED"],
});

export const renewRecoveryCodes = endpoint({
  name: "users.renewRecoveryCodes",
  method: "POST",
  path: "/users/@me/second-factor/recovery-codes",
  summary: "Create new recovery codes and invalidate the old ones",
  description: "Requires the password and an authenticator code.",
  caller: "session",
  body: z.object({ currentPassword: existingPassword, code: secondFactorCode }),
  responses: { 200: z.object({ recoveryCodes }) },
  errors: ["INVALID_CREDENTIALS", "CONFLICT", "RATE_LIMIT_EXCEEDED"],
});

export const endSecondFactor = endpoint({
  name: "users.endSecondFactor",
  method: "POST",
  path: "/users/@me/second-factor/end",
  summary: "Turn off the second factor",
  description:
    "Requires the password and an authenticator or recovery code. The account is notified by email.",
  caller: "session",
  body: z.object({ currentPassword: existingPassword, code: secondFactorCode }),
  responses: { 204: null },
  errors: ["INVALID_CREDENTIALS", "CONFLICT", "RATE_LIMIT_EXCEEDED"],
});
