// Passkeys (WebAuthn): registered, named and removed on the account, and shown to sign in (docs/decisions/0074-passkeys.md).
import { z } from "zod";
import { endpoint } from "./endpoint.ts";
import { instant, pathId } from "./field.ts";
import { LIMITS } from "./limits/limits.ts";

/** Bytes as base64url, of which an authenticator makes so many at most. */
const bytes = (maximum: number) =>
  z
    .string()
    .min(1)
    .max(maximum)
    .regex(/^[A-Za-z0-9_-]+$/, "Must be base64url.");

/** WebAuthn §4: a credential id has 1,023 bytes at most. */
const CREDENTIAL_ID = 1_364;
const CLIENT_DATA = 4_000;
const MEDIUM = 4_000;
const ATTESTATION = 20_000;

/** What `navigator.credentials.get` gave, as `toJSON()` writes it. */
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

/** What `navigator.credentials.create` gave, as `toJSON()` writes it. */
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
  .describe("What you call it, such as the device it is on.");

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
  summary: "Get what a browser needs to ask for a passkey",
  description: `For \`navigator.credentials.get\`, as \`PublicKeyCredential.parseRequestOptionsFromJSON\` reads it. Names no account: the authenticator knows which passkeys it has. The challenge works once, for ${LIMITS.passkeyMinutes.value} minutes.`,
  caller: "anyone",
  envelope: "wrapped",
  answers: {
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
  summary: "Log in with a passkey alone; sets the session cookie",
  description:
    "The authenticator asked for a fingerprint, a face or a PIN, so that it counts as both factors: no code is asked for. Whatever does not hold is the same error.",
  caller: "anyone",
  body: z.object({ passkey: passkeyAssertion }),
  envelope: "wrapped",
  answers: { 200: z.object({ id: z.uuid(), email: z.string() }) },
  errors: ["INVALID_CREDENTIALS", "RATE_LIMIT_EXCEEDED"],
});

export const listPasskeys = endpoint({
  name: "users.passkeys",
  method: "GET",
  path: "/users/@me/passkeys",
  summary: "List the passkeys of your account",
  description: "Those that were added first come first.",
  caller: "session",
  answers: { 200: z.array(passkey) },
});

export const beginPasskey = endpoint({
  name: "users.passkeyOptions",
  method: "POST",
  path: "/users/@me/passkeys/options",
  summary: "Get what a browser needs to make a passkey",
  description: `For \`navigator.credentials.create\`, as \`PublicKeyCredential.parseCreationOptionsFromJSON\` reads it. The challenge works once, for ${LIMITS.passkeyMinutes.value} minutes. Asks for a session that began within the last hour.`,
  caller: "session",
  answers: {
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
    "It signs in from then on, alone or in place of a code. The account gets a mail that says so. Asks for a session that began within the last hour.",
  caller: "session",
  body: z.object({ name, passkey: passkeyRegistration }),
  answers: { 200: passkey },
  errors: ["SESSION_TOO_OLD", "CONFLICT", "RATE_LIMIT_EXCEEDED"],
});

export const renamePasskey = endpoint({
  name: "users.renamePasskey",
  method: "PATCH",
  path: "/users/@me/passkeys/:passkeyId",
  summary: "Call a passkey something else",
  description: "The name is for you; nothing else changes.",
  caller: "session",
  params,
  body: z.object({ name }),
  answers: { 200: passkey },
  errors: ["RESOURCE_NOT_FOUND"],
});

export const removePasskey = endpoint({
  name: "users.removePasskey",
  method: "DELETE",
  path: "/users/@me/passkeys/:passkeyId",
  summary: "Remove a passkey from your account",
  description:
    "It signs in no more. The only way in stays: set a password first. The account gets a mail that says so. Asks for a session that began within the last hour.",
  caller: "session",
  params,
  answers: { 204: null },
  errors: ["SESSION_TOO_OLD", "RESOURCE_NOT_FOUND", "CONFLICT"],
});
