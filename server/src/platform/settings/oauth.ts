// Defines the settings for signing in with other services (docs/decisions/0059-sign-in-through-others.md). users/oauth/settings.ts reports
// missing ones.
import { z } from "zod";
import { flag, webAddress } from "./forms.ts";

const text = z.string().optional();

export const OAUTH_SETTINGS = {
  GITHUB_CLIENT_ID: {
    schema: text,
    default: "",
    meaning:
      "The client id of an OAuth app at GitHub, whose callback is `BASE_URL/auth/oauth/github/callback`. With this and its secret people log in with GitHub.",
  },
  GITHUB_CLIENT_SECRET: { schema: text, default: "", meaning: "Its secret." },
  GITHUB_URL: {
    schema: webAddress.default("https://github.com"),
    default: "https://github.com",
    meaning: "Another one for GitHub Enterprise Server.",
  },
  GOOGLE_CLIENT_ID: {
    schema: text,
    default: "",
    meaning:
      "The client id of a web application at Google, whose redirect URI is `BASE_URL/auth/oauth/google/callback`. With this and its secret people log in with Google.",
  },
  GOOGLE_CLIENT_SECRET: { schema: text, default: "", meaning: "Its secret." },
  OIDC_ISSUER: {
    schema: webAddress.optional(),
    default: "",
    meaning:
      "The issuer of any OpenID Connect provider (Keycloak, Authentik, Okta, Entra …), as its `/.well-known/openid-configuration` calls itself. Its redirect URI is `BASE_URL/auth/oauth/oidc/callback`.",
  },
  OIDC_CLIENT_ID: { schema: text, default: "", meaning: "The client id there." },
  OIDC_CLIENT_SECRET: { schema: text, default: "", meaning: "Its secret." },
  OIDC_NAME: {
    schema: z.string().max(40).default("single sign-on"),
    default: "single sign-on",
    meaning: "What the button says: Continue with ….",
  },
  OIDC_TRUST_EMAIL: {
    schema: flag.default(false),
    default: "false",
    meaning:
      "The provider vouches for all of its addresses, also where it does not say `email_verified`. Only for one that gives out the addresses itself: an account is found by it.",
  },
};
