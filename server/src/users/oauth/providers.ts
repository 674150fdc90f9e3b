// Sign-in services: the code flow with PKCE, state and nonce (RFC 6749 §4.1, RFC 7636, OpenID Connect Core §3.1).
import { parseAddress } from "@postloft/contract/address.ts";
import * as client from "openid-client";
import { AppError } from "../../platform/app-error.ts";
import { PageError } from "../page-error.ts";
import type { OauthSettings } from "./settings.ts";

const GOOGLE_ISSUER = "https://accounts.google.com";
const GITHUB_ADDRESS = "https://github.com";
const TIMEOUT_SECONDS = 8;
/** OpenID Connect Core §2. */
const SUBJECT = /^[\x20-\x7e]{1,255}$/;

export type ProviderName = "github" | "google" | "oidc";

/** Values kept between the redirect to the service and the callback. */
export interface Flow {
  state: string;
  nonce: string;
  verifier: string;
}

/** A person as identified by a service. */
export interface Person {
  issuer: string;
  subject: string;
  /** Verified by the service. */
  email: string;
}

export interface Provider {
  readonly name: ProviderName;
  /** The display name. */
  readonly title: string;
  /** Identifies the service in stored identities. */
  readonly issuer: string;
  /**
   * Returns the address to redirect the browser to.
   * @throws AppError SERVICE_UNAVAILABLE if the service cannot be reached
   */
  begin(redirectUri: string): Promise<{ url: URL; flow: Flow }>;
  /**
   * Returns the person who signed in.
   * @param url the full callback URL
   * @throws AppError BAD_REQUEST, FORBIDDEN, SERVICE_UNAVAILABLE
   */
  finish(url: URL, flow: Flow): Promise<Person>;
}

interface Kind {
  name: ProviderName;
  title: string;
  issuer: string;
  scope: string;
  /** Whether it supports OpenID Connect and returns an id token with the code. */
  hasIdToken: boolean;
  open: () => Promise<client.Configuration>;
  readPerson: (config: client.Configuration, tokens: Tokens) => Promise<{ subject: string; email: string }>;
}

type Tokens = client.TokenEndpointResponse & client.TokenEndpointResponseHelpers;

/** Returns the configured services in display order. */
export function createProviders({ github, google, oidc }: OauthSettings): Provider[] {
  return [
    ...(github === null ? [] : [createProvider(githubOf(github))]),
    ...(google === null
      ? []
      : [
          createProvider(
            oidcOf({ ...google, name: "google", title: "Google", issuer: GOOGLE_ISSUER, trustsEmail: false }),
          ),
        ]),
    ...(oidc === null ? [] : [createProvider(oidcOf({ ...oidc, name: "oidc" }))]),
  ];
}

function createProvider(kind: Kind): Provider {
  let opened: Promise<client.Configuration> | null = null;
  /** Caches the provider's metadata, but not a failure to fetch it. */
  function open(): Promise<client.Configuration> {
    opened ??= kind.open();
    opened.catch(() => (opened = null));
    return opened;
  }
  const { name, title, issuer, scope } = kind;
  return {
    name,
    title,
    issuer,
    begin: (redirectUri) =>
      explained(title, async () => {
        const config = await open();
        const flow = {
          state: client.randomState(),
          nonce: client.randomNonce(),
          verifier: client.randomPKCECodeVerifier(),
        };
        const url = client.buildAuthorizationUrl(config, {
          redirect_uri: redirectUri,
          scope,
          state: flow.state,
          code_challenge: await client.calculatePKCECodeChallenge(flow.verifier),
          code_challenge_method: "S256",
          ...(kind.hasIdToken ? { nonce: flow.nonce } : {}),
        });
        return { url, flow };
      }),
    finish: (url, { state, nonce, verifier }) =>
      explained(title, async () => {
        const config = await open();
        const tokens = await client.authorizationCodeGrant(config, url, {
          expectedState: state,
          pkceCodeVerifier: verifier,
          ...(kind.hasIdToken ? { expectedNonce: nonce, idTokenExpected: true } : {}),
        });
        const { subject, email } = await kind.readPerson(config, tokens);
        if (!SUBJECT.test(subject))
          throw new PageError("BAD_REQUEST", ({ oddId }) => oddId({ service: title }));
        return { issuer, subject, email: canonical(email, title) };
      }),
  };
}

function canonical(email: string, title: string): string {
  const parsed = parseAddress(email);
  if (!parsed.ok) throw unproved(title);
  return parsed.address;
}

const unproved = (title: string) =>
  new PageError("FORBIDDEN", (problems) => problems.unproved({ service: title }));

/** Converts errors of the service to messages for the user. */
async function explained<T>(title: string, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (error instanceof AppError) throw error;
    const service = title;
    if (error instanceof client.AuthorizationResponseError)
      throw error.error === "access_denied"
        ? new PageError("FORBIDDEN", ({ denied }) => denied({ service }))
        : new PageError("BAD_REQUEST", ({ refused }) => refused({ service }));
    // The code was used or has expired, or parts of the response don't match.
    if (error instanceof client.ResponseBodyError || isAboutResponse(error))
      throw new PageError("BAD_REQUEST", ({ staleAnswer }) => staleAnswer({ service }));
    throw new PageError("SERVICE_UNAVAILABLE", ({ unreachable }) => unreachable({ service }));
  }
}

const RESPONSE_FAULTS = new Set([
  "OAUTH_INVALID_RESPONSE",
  "OAUTH_JWT_CLAIM_COMPARISON_FAILED",
  "OAUTH_JWT_TIMESTAMP_CHECK_FAILED",
]);

function isAboutResponse(error: unknown): boolean {
  return error instanceof client.ClientError && RESPONSE_FAULTS.has(error.code ?? "");
}

interface OidcSettings {
  name: ProviderName;
  title: string;
  issuer: string;
  clientId: string;
  clientSecret: string;
  trustsEmail: boolean;
}

function oidcOf({ name, title, issuer, clientId, clientSecret, trustsEmail }: OidcSettings): Kind {
  return {
    name,
    title,
    issuer,
    scope: "openid email",
    hasIdToken: true,
    open: () =>
      client.discovery(new URL(issuer), clientId, clientSecret, undefined, {
        timeout: TIMEOUT_SECONDS,
        execute: [
          client.enableNonRepudiationChecks,
          // A provider without TLS is on the instance admin's own machine or network.
          ...(issuer.startsWith("http:") ? [client.allowInsecureRequests] : []),
        ],
      }),
    async readPerson(config, tokens) {
      const claims = tokens.claims();
      if (claims === undefined) throw unproved(title);
      const { userinfo_endpoint: endpoint } = config.serverMetadata();
      // Some services return the address only from the userinfo endpoint.
      const said =
        claims["email"] === undefined && endpoint !== undefined
          ? await client.fetchUserInfo(config, tokens.access_token, claims.sub)
          : claims;
      const { email, email_verified: verified } = said;
      // Some services send the word instead of the boolean.
      const isVerified = verified === true || String(verified) === "true";
      const isTrusted = isVerified || (trustsEmail && verified === undefined);
      if (typeof email !== "string" || !isTrusted) throw unproved(title);
      return { subject: claims.sub, email };
    },
  };
}

/** GitHub has OAuth without an id token, so the person comes from its API. */
function githubOf({ url, clientId, clientSecret }: NonNullable<OauthSettings["github"]>): Kind {
  const title = "GitHub";
  const api = url === GITHUB_ADDRESS ? "https://api.github.com" : `${url}/api/v3`;
  const issuer = `${url}/login/oauth`;
  return {
    name: "github",
    title,
    issuer,
    scope: "read:user user:email",
    hasIdToken: false,
    async open() {
      const metadata = {
        issuer,
        authorization_endpoint: `${issuer}/authorize`,
        token_endpoint: `${issuer}/access_token`,
      };
      const config = new client.Configuration(
        metadata,
        clientId,
        undefined,
        client.ClientSecretPost(clientSecret),
      );
      config.timeout = TIMEOUT_SECONDS;
      if (url.startsWith("http:")) client.allowInsecureRequests(config);
      return config;
    },
    async readPerson(config, { access_token: token }) {
      const read = async (path: string): Promise<unknown> => {
        const headers = new Headers({ accept: "application/vnd.github+json", "user-agent": "postloft" });
        const reply = await client.fetchProtectedResource(
          config,
          token,
          new URL(`${api}${path}`),
          "GET",
          null,
          headers,
        );
        return reply.json();
      };
      const { id } = (await read("/user")) as { id?: unknown };
      const emails = (await read("/user/emails")) as Array<Record<string, unknown>>;
      const primary = Array.isArray(emails) ? emails.find((one) => one["primary"] === true) : undefined;
      const email = primary?.["email"];
      if (typeof id !== "number" || typeof email !== "string" || primary?.["verified"] !== true)
        throw unproved(title);
      return { subject: String(id), email };
    },
  };
}
