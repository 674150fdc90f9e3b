// The second factor of an account: codes of an authenticator app (RFC 6238), and recovery codes (docs/decisions/0050-second-factor.md).
import { z } from "zod";
import { endpoint } from "./endpoint.ts";
import { instant } from "./field.ts";
import { givenPassword, secondFactorCode } from "./users.ts";

const recoveryCodes = z
  .array(z.string())
  .describe("Shown this once; each logs in once in place of a code of the app.");

export const getSecondFactor = endpoint({
  name: "users.secondFactor",
  method: "GET",
  path: "/users/@me/second-factor",
  summary: "Read whether logging in asks for a second factor",
  description: "Of the logged-in account.",
  caller: "session",
  answers: {
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
  description:
    "Nothing changes until a code of the app confirms it; asked for again, the secret before it is worth nothing.",
  caller: "session",
  body: z.object({ currentPassword: givenPassword }),
  answers: {
    200: z.object({
      secret: z.string().describe("In base32, to be typed."),
      uri: z.string().describe("The same as `otpauth://` address, to be shown as a QR code."),
    }),
  },
  errors: ["INVALID_CREDENTIALS", "CONFLICT", "RATE_LIMIT_EXCEEDED"],
});

export const confirmSecondFactor = endpoint({
  name: "users.confirmSecondFactor",
  method: "POST",
  path: "/users/@me/second-factor/confirm",
  summary: "Switch the second factor on with a first code",
  description: "All other sessions of the account end, and it gets a mail that says so.",
  caller: "session",
  body: z.object({ code: secondFactorCode }),
  answers: { 200: z.object({ recoveryCodes }) },
  errors: ["INVALID_CREDENTIALS", "CONFLICT", "RATE_LIMIT_EXCEEDED"],
});

export const renewRecoveryCodes = endpoint({
  name: "users.renewRecoveryCodes",
  method: "POST",
  path: "/users/@me/second-factor/recovery-codes",
  summary: "Make new recovery codes; the old ones are worth nothing",
  description: "Asks for the password and a code of the app.",
  caller: "session",
  body: z.object({ currentPassword: givenPassword, code: secondFactorCode }),
  answers: { 200: z.object({ recoveryCodes }) },
  errors: ["INVALID_CREDENTIALS", "CONFLICT", "RATE_LIMIT_EXCEEDED"],
});

export const endSecondFactor = endpoint({
  name: "users.endSecondFactor",
  method: "POST",
  path: "/users/@me/second-factor/end",
  summary: "Switch the second factor off",
  description:
    "Asks for the password and a code of the app, or a recovery code. The account gets a mail that says so.",
  caller: "session",
  body: z.object({ currentPassword: givenPassword, code: secondFactorCode }),
  answers: { 204: null },
  errors: ["INVALID_CREDENTIALS", "CONFLICT", "RATE_LIMIT_EXCEEDED"],
});
