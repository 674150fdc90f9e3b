// Logging in through other services: GitHub, Google, any OpenID Connect provider (docs/decisions/0059-sign-in-through-others.md).
import { z } from "zod";
import { endpoint } from "./endpoint.ts";
import { instant, pathId } from "./field.ts";
import { LIMITS } from "./limits/limits.ts";

const html = z.string();
const provider = z.object({ provider: z.string().describe("`github`, `google` or `oidc`.") });
/** What a provider sends back: read by its protocol, not by us. */
const said = z.string().optional();

export const getOauthConfig = endpoint({
  name: "auth.oauthConfig",
  method: "GET",
  path: "/auth/oauth-config",
  summary: "Read which other ways to log in there are",
  description: "Before anybody is logged in. Each is on when its settings are there (docs/settings.md).",
  caller: "anyone",
  envelope: "wrapped",
  answers: {
    200: z.object({
      github: z.boolean(),
      google: z.boolean(),
      oidc: z.boolean(),
      oidcName: z.string().nullable().describe("What OIDC_NAME says; null where `oidc` is off."),
    }),
  },
  errors: ["RATE_LIMIT_EXCEEDED"],
});

export const beginOauth = endpoint({
  name: "oauth.begin",
  method: "GET",
  path: "/auth/oauth/:provider",
  summary: "Log in through another service: sends the browser there",
  description:
    "For a link, not for a program. With `connect=true` whoever is logged in connects the service with their account. The way back ends at `next`, a path of the dashboard.",
  caller: "anyone",
  params: provider,
  query: z.object({
    next: z.string().optional(),
    connect: z.enum(["true", "false"]).optional(),
  }),
  envelope: "page",
  answers: { 302: null, 401: html, 404: html, 429: html, 503: html },
});

export const finishOauth = endpoint({
  name: "oauth.finish",
  method: "GET",
  path: "/auth/oauth/:provider/callback",
  summary: "The way back from another service",
  description:
    "Belongs into the settings at the service. It logs in, makes an account for an address that has none (unless DISABLE_SIGNUPS is set), or asks for the second factor. Every way back works once, in the browser that went out.",
  caller: "anyone",
  params: provider,
  query: z.object({
    code: said,
    state: said,
    iss: said,
    error: said,
    error_description: said,
  }),
  envelope: "page",
  answers: {
    200: html,
    302: null,
    400: html,
    401: html,
    403: html,
    404: html,
    409: html,
    429: html,
    503: html,
  },
});

export const submitOauthCode = endpoint({
  name: "oauth.code",
  method: "POST",
  path: "/auth/oauth/code",
  summary: "Give the second factor after another service",
  description:
    "The form of the page that asks for it: a code, or a passkey in its place, as JSON (see `POST /auth/passkey-login`).",
  caller: "anyone",
  body: z.object({ code: z.string().optional(), passkey: z.string().optional() }),
  bodyLimitBytes: LIMITS.formBytes.value,
  envelope: "page",
  answers: { 303: null, 400: html, 401: html, 409: html, 429: html },
});

export const listIdentities = endpoint({
  name: "users.identities",
  method: "GET",
  path: "/users/@me/identities",
  summary: "List with which other services your account is connected",
  description: "Also whether it has a password beside them.",
  caller: "session",
  answers: {
    200: z.object({
      hasPassword: z.boolean(),
      identities: z.array(
        z.object({
          id: z.uuid(),
          provider: z
            .enum(["github", "google", "oidc"])
            .nullable()
            .describe("Null: the service is not set up any more."),
          title: z.string(),
          email: z.string().describe("Your address there, when it was connected."),
          createdAt: instant,
        }),
      ),
    }),
  },
});

export const removeIdentity = endpoint({
  name: "users.removeIdentity",
  method: "DELETE",
  path: "/users/@me/identities/:identityId",
  summary: "Disconnect another service from your account",
  description: "The only way in stays: set a password first. The account gets a mail that says so.",
  caller: "session",
  params: z.object({ identityId: pathId }),
  answers: { 204: null },
  errors: ["RESOURCE_NOT_FOUND", "CONFLICT"],
});
