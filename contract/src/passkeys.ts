// Passkeys (WebAuthn): registering, renaming and removing them, and signing in (docs/decisions/0074-passkeys.md).
import { z } from "zod";
import { endpoint } from "./endpoint.ts";
import { instant, pathId } from "./field.ts";
import { LIMITS } from "./limits/limits.ts";

/** Bytes as base64url, limited to the maximum that authenticators produce. */
const bytes = (maximum: number) =>
  z
    .string()
    .min(1)
    .max(maximum)
    .regex(/^[A-Za-z0-9_-]+$/, "Must be base64url.");

/** WebAuthn §4: a credential id has at most 1,023 bytes. */
const CREDENTIAL_ID = 1_364;
const CLIENT_DATA = 4_000;
const MEDIUM = 4_000;
const ATTESTATION = 20_000;

/** The result of `navigator.credentials.get`, in the format of `toJSON()`. */
export const passkeyAssertion = z.object({
  id: bytes(CREDENTIAL_ID),
  type: z.literal("public-key"),
  response: z.object({
    clientDataJSON: bytes(CLIENT_DATA),
    authenticatorData: bytes(MEDIUM),
    signature: bytes(MEDIUM),
    userHandle: bytes(100),
  }),
});

/** The result of `navigator.credentials.create`, in the format of `toJSON()`. */
const passkeyRegistration = z.object({
  id: bytes(CREDENTIAL_ID),
  type: z.literal("public-key"),
  response: z.object({
    clientDataJSON: bytes(CLIENT_DATA),
    attestationObject: bytes(ATTESTATION),
    transports: z.array(z.string().max(32)).max(10).optional(),
  }),
});

const name = z
  .string()
  .trim()
  .min(1)
  .max(LIMITS.passkeyName.value)
  .describe("Your name for it, such as the device it is on.");

const passkey = z.object({
  id: z.uuid(),
  name: z.string(),
  createdAt: instant,
  lastUsedAt: instant.nullable(),
});

const params = z.object({ passkeyId: pathId });

export const askPasskey = endpoint({
  name: "auth.passkeyOptions",
  method: "POST",
  path: "/auth/passkey-options",
  summary: "Get the options for signing in with a passkey",
  description: `For \`navigator.credentials.get\`, in the format of \`PublicKeyCredential.parseRequestOptionsFromJSON\`. Contains no account, because the authenticator knows its passkeys. The challenge works once, within ${LIMITS.passkeyMinutes.value} minutes.`,
  caller: "anyone",
  envelope: "wrapped",
  responses: {
    200: z.object({
      challenge: z.string(),
      rpId: z.string(),
      timeout: z.int().describe("Milliseconds."),
      userVerification: z.literal("required"),
    }),
  },
  errors: ["RATE_LIMIT_EXCEEDED"],
});

export const logInByPasskey = endpoint({
  name: "auth.passkeyLogin",
  method: "POST",
  path: "/auth/passkey-login",
  summary: "Sign in with only a passkey; sets the session cookie",
  description:
    "The authenticator verifies a fingerprint, a face or a PIN, so a passkey counts as both factors and no code is required. All failures return the same error.",
  caller: "anyone",
  body: z.object({ passkey: passkeyAssertion }),
  envelope: "wrapped",
  responses: { 200: z.object({ id: z.uuid(), email: z.string() }) },
  errors: ["INVALID_CREDENTIALS", "RATE_LIMIT_EXCEEDED"],
});

export const listPasskeys = endpoint({
  name: "users.passkeys",
  method: "GET",
  path: "/users/@me/passkeys",
  summary: "List the passkeys of your account",
  description: "Oldest first.",
  caller: "session",
  responses: { 200: z.array(passkey) },
});

export const beginPasskey = endpoint({
  name: "users.passkeyOptions",
  method: "POST",
  path: "/users/@me/passkeys/options",
  summary: "Get the options for creating a passkey",
  description: `For \`navigator.credentials.create\`, in the format of \`PublicKeyCredential.parseCreationOptionsFromJSON\`. The challenge works once, within ${LIMITS.passkeyMinutes.value} minutes. Requires a session from the last hour.`,
  caller: "session",
  responses: {
    200: z.object({
      challenge: z.string(),
      rp: z.object({ id: z.string(), name: z.string() }),
      user: z.object({ id: z.string(), name: z.string(), displayName: z.string() }),
      pubKeyCredParams: z.array(z.object({ type: z.literal("public-key"), alg: z.int() })),
      timeout: z.int().describe("Milliseconds."),
      attestation: z.literal("none"),
      authenticatorSelection: z.object({
        residentKey: z.literal("required"),
        requireResidentKey: z.literal(true),
        userVerification: z.literal("required"),
      }),
      excludeCredentials: z.array(z.object({ type: z.literal("public-key"), id: z.string() })),
    }),
  },
  errors: ["SESSION_TOO_OLD", "CONFLICT", "RATE_LIMIT_EXCEEDED"],
});

export const addPasskey = endpoint({
  name: "users.addPasskey",
  method: "POST",
  path: "/users/@me/passkeys",
  summary: "Add a passkey to your account",
  description:
    "It can then sign in, alone or instead of a code. The account is notified by email. Requires a session from the last hour.",
  caller: "session",
  body: z.object({ name, passkey: passkeyRegistration }),
  responses: { 200: passkey },
  errors: ["SESSION_TOO_OLD", "CONFLICT", "RATE_LIMIT_EXCEEDED"],
});

export const renamePasskey = endpoint({
  name: "users.renamePasskey",
  method: "PATCH",
  path: "/users/@me/passkeys/:passkeyId",
  summary: "Rename a passkey",
  description: "Only changes the displayed name.",
  caller: "session",
  params,
  body: z.object({ name }),
  responses: { 200: passkey },
  errors: ["RESOURCE_NOT_FOUND"],
});

export const removePasskey = endpoint({
  name: "users.removePasskey",
  method: "DELETE",
  path: "/users/@me/passkeys/:passkeyId",
  summary: "Remove a passkey from your account",
  description:
    "It can no longer sign in. The last way to sign in cannot be removed, so set a password first. The account is notified by email. Requires a session from the last hour.",
  caller: "session",
  params,
  responses: { 204: null },
  errors: ["SESSION_TOO_OLD", "RESOURCE_NOT_FOUND", "CONFLICT"],
});
