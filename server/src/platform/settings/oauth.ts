// Defines the settings for signing in with other services (docs/decisions/0059-sign-in-with-oauth.md). users/oauth/settings.ts reports
// missing ones.
import { z } from "zod";
import { flag, webAddress } from "./forms.ts";

const text = z.string().optional();

export const OAUTH_SETTINGS = {
  GITHUB_CLIENT_ID: {
    schema: text,
    default: "",
    meaning:
      "The client id of a GitHub OAuth app with the callback `BASE_URL/auth/oauth/github/callback`. With the secret it lets people sign in with GitHub.",
  },
  GITHUB_CLIENT_SECRET: { schema: text, default: "", meaning: "Its secret." },
  GITHUB_URL: {
    schema: webAddress.default("https://github.com"),
    default: "https://github.com",
    meaning: "The address of GitHub, which differs for GitHub Enterprise Server.",
  },
  GOOGLE_CLIENT_ID: {
    schema: text,
    default: "",
    meaning:
      "The client id of a Google web application with the redirect URI `BASE_URL/auth/oauth/google/callback`. With the secret it lets people sign in with Google.",
  },
  GOOGLE_CLIENT_SECRET: { schema: text, default: "", meaning: "Its secret." },
  OIDC_ISSUER: {
    schema: webAddress.optional(),
    default: "",
    meaning:
      "The issuer of any OpenID Connect provider (Keycloak, Authentik, Okta, Entra …), as in its `/.well-known/openid-configuration`. The redirect URI is `BASE_URL/auth/oauth/oidc/callback`.",
  },
  OIDC_CLIENT_ID: { schema: text, default: "", meaning: "The client id at that provider." },
  OIDC_CLIENT_SECRET: { schema: text, default: "", meaning: "Its secret." },
  OIDC_NAME: {
    schema: z.string().max(40).default("single sign-on"),
    default: "single sign-on",
    meaning: "The name on the button: Continue with ….",
  },
  OIDC_TRUST_EMAIL: {
    schema: flag.default(false),
    default: "false",
    meaning:
      "Trusts all email addresses of the provider, even without `email_verified`. Accounts are found by address, so use it only for a provider that assigns the addresses itself.",
  },
};
