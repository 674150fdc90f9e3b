// Sign-in through GitHub, Google or any OpenID Connect provider (docs/decisions/0059-sign-in-with-oauth.md).
import { z } from "zod";
import { endpoint } from "./endpoint.ts";
import { instant, pathId } from "./field.ts";
import { LIMITS } from "./limits/limits.ts";

const html = z.string();
const provider = z.object({ provider: z.string().describe("`github`, `google` or `oidc`.") });
/** A value returned by the provider, which the protocol implementation reads. */
const said = z.string().optional();

export const getOauthConfig = endpoint({
  name: "auth.oauthConfig",
  method: "GET",
  path: "/auth/oauth-config",
  summary: "List the enabled sign-in services",
  description: "Available without signing in. Each service is enabled by its settings (docs/settings.md).",
  caller: "anyone",
  envelope: "wrapped",
  responses: {
    200: z.object({
      github: z.boolean(),
      google: z.boolean(),
      oidc: z.boolean(),
      oidcName: z.string().nullable().describe("The value of OIDC_NAME; null if `oidc` is off."),
    }),
  },
  errors: ["RATE_LIMIT_EXCEEDED"],
});

export const beginOauth = endpoint({
  name: "oauth.begin",
  method: "GET",
  path: "/auth/oauth/:provider",
  summary: "Sign in through another service by redirecting the browser",
  description:
    "For a link in a browser, not for a program. With `connect=true`, the service is connected to the account of the signed-in user. The browser returns to `next`, a path of the dashboard.",
  caller: "anyone",
  params: provider,
  query: z.object({
    next: z.string().optional(),
    connect: z.enum(["true", "false"]).optional(),
  }),
  envelope: "page",
  responses: { 302: null, 401: html, 404: html, 429: html, 503: html },
});

export const finishOauth = endpoint({
  name: "oauth.finish",
  method: "GET",
  path: "/auth/oauth/:provider/callback",
  summary: "Callback of another sign-in service",
  description:
    "Enter this URL in the settings of the service. It signs in, creates an account for a new address (unless DISABLE_SIGNUPS is set), or asks for the second factor. Each callback works once, in the browser that started it.",
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
  responses: {
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
  summary: "Send the second factor after signing in through another service",
  description:
    "The form of the page that asks for it: a code, or a passkey instead, as JSON (see `POST /auth/passkey-login`).",
  caller: "anyone",
  body: z.object({ code: z.string().optional(), passkey: z.string().optional() }),
  bodyLimitBytes: LIMITS.formBytes.value,
  envelope: "page",
  responses: { 303: null, 400: html, 401: html, 409: html, 429: html },
});

export const listIdentities = endpoint({
  name: "users.identities",
  method: "GET",
  path: "/users/@me/identities",
  summary: "List the sign-in services connected to your account",
  description: "Also returns whether the account has a password.",
  caller: "session",
  responses: {
    200: z.object({
      hasPassword: z.boolean(),
      identities: z.array(
        z.object({
          id: z.uuid(),
          provider: z
            .enum(["github", "google", "oidc"])
            .nullable()
            .describe("Null if the service is no longer enabled."),
          title: z.string(),
          email: z.string().describe("Your address at the service when you connected it."),
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
  summary: "Disconnect a sign-in service from your account",
  description:
    "The last way to sign in cannot be removed, so set a password first. The account is notified by email.",
  caller: "session",
  params: z.object({ identityId: pathId }),
  responses: { 204: null },
  errors: ["RESOURCE_NOT_FOUND", "CONFLICT"],
});
