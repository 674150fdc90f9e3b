// Simulates signing in with an OpenID Connect provider and GitHub, with real HTTP, real signatures and errors on request.
import { createHash } from "node:crypto";
import { createServer, type IncomingMessage } from "node:http";
import type { AddressInfo } from "node:net";
import { exportJWK, generateKeyPair, SignJWT, UnsecuredJWT } from "jose";

/** The user of the browser, as the provider knows them. */
export interface FakePerson {
  sub: string;
  email?: string;
  email_verified?: boolean | string;
}

export interface IdentityFake {
  readonly url: string;
  /** The user who approves. */
  person: FakePerson;
  /** The fault of the next id tokens. */
  lie: "none" | "unsigned" | "wrong key" | "wrong audience" | "wrong nonce" | "late" | "down";
  /** Returns the email address only from the separate endpoint. */
  hidesEmail: boolean;
  /** Follows the redirect like the user's browser, approves, and returns the callback URL. */
  approve(location: string): URL;
  close(): Promise<void>;
}

interface Grant {
  nonce: string | null;
  challenge: string;
  redirectUri: string;
}

export const FAKE_CLIENT = { id: "the-client", secret: "the-secret" };

export async function startIdentityFake(): Promise<IdentityFake> {
  const [keys, others] = await Promise.all([generateKeyPair("RS256"), generateKeyPair("RS256")]);
  const jwk = { ...(await exportJWK(keys.publicKey)), kid: "one", alg: "RS256", use: "sig" };
  const grants = new Map<string, Grant>();

  async function idToken({ nonce }: Grant): Promise<string> {
    const { email, email_verified, sub } = fake.person;
    const claims = {
      sub,
      nonce: fake.lie === "wrong nonce" ? "another" : nonce,
      ...(fake.hidesEmail ? {} : { email, email_verified }),
    };
    const times = { issued: fake.lie === "late" ? "-2h" : "0s", over: fake.lie === "late" ? "-1h" : "5m" };
    const audience = fake.lie === "wrong audience" ? "somebody-else" : FAKE_CLIENT.id;
    if (fake.lie === "unsigned")
      return new UnsecuredJWT(claims)
        .setIssuer(fake.url)
        .setAudience(audience)
        .setIssuedAt()
        .setExpirationTime("5m")
        .encode();
    return new SignJWT(claims)
      .setProtectedHeader({ alg: "RS256", kid: "one" })
      .setIssuer(fake.url)
      .setAudience(audience)
      .setIssuedAt(times.issued)
      .setExpirationTime(times.over)
      .sign(fake.lie === "wrong key" ? others.privateKey : keys.privateKey);
  }

  /** Redeems a code once, for the client that started and the redirect URI it was issued for. */
  async function exchange(request: IncomingMessage, body: URLSearchParams, isGithub: boolean) {
    const grant = grants.get(body.get("code") ?? "");
    grants.delete(body.get("code") ?? "");
    const proof = createHash("sha256")
      .update(body.get("code_verifier") ?? "")
      .digest("base64url");
    const basic = Buffer.from(`${FAKE_CLIENT.id}:${FAKE_CLIENT.secret}`).toString("base64");
    const isClient =
      body.get("client_secret") === FAKE_CLIENT.secret || request.headers.authorization === `Basic ${basic}`;
    const isRight = grant?.challenge === proof && grant.redirectUri === body.get("redirect_uri") && isClient;
    if (grant === undefined || !isRight)
      return { status: isGithub ? 200 : 400, body: { error: "invalid_grant" } };
    const tokens = { access_token: "the-access-token", token_type: "bearer" };
    return { status: 200, body: isGithub ? tokens : { ...tokens, id_token: await idToken(grant) } };
  }

  async function respond(request: IncomingMessage, path: string, body: URLSearchParams) {
    const { person, url } = fake;
    if (fake.lie === "down") return { status: 503, body: {} };
    if (path === "/.well-known/openid-configuration")
      return {
        status: 200,
        body: {
          issuer: url,
          authorization_endpoint: `${url}/authorize`,
          token_endpoint: `${url}/token`,
          userinfo_endpoint: `${url}/userinfo`,
          jwks_uri: `${url}/keys`,
          response_types_supported: ["code"],
          id_token_signing_alg_values_supported: ["RS256"],
        },
      };
    if (path === "/keys") return { status: 200, body: { keys: [jwk] } };
    if (path === "/token") return exchange(request, body, false);
    if (path === "/login/oauth/access_token") return exchange(request, body, true);
    if (request.headers.authorization?.toLowerCase() !== "bearer the-access-token")
      return { status: 401, body: {} };
    if (path === "/userinfo") return { status: 200, body: person };
    if (path === "/api/v3/user") return { status: 200, body: { id: Number(person.sub), login: "ada" } };
    return {
      status: 200,
      body: [
        { email: "other@example.com", primary: false, verified: true },
        { email: person.email, primary: true, verified: person.email_verified },
      ],
    };
  }

  const server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on("data", (chunk: Buffer) => chunks.push(chunk));
    request.on("end", () => {
      const { pathname, href } = new URL(request.url ?? "/", fake.url);
      if (pathname.endsWith("/authorize"))
        return response.writeHead(302, { location: fake.approve(href).href }).end();
      return void respond(request, pathname, new URLSearchParams(Buffer.concat(chunks).toString())).then(
        ({ status, body }) =>
          response.writeHead(status, { "content-type": "application/json" }).end(JSON.stringify(body)),
      );
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const fake: IdentityFake = {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    person: { sub: "1", email: "ada@example.com", email_verified: true },
    lie: "none",
    hidesEmail: false,
    approve(location) {
      const { searchParams } = new URL(location);
      const code = `code-${grants.size}-${Math.random()}`;
      const redirectUri = searchParams.get("redirect_uri") ?? "";
      grants.set(code, {
        nonce: searchParams.get("nonce"),
        challenge: searchParams.get("code_challenge") ?? "",
        redirectUri,
      });
      const back = new URL(redirectUri);
      back.searchParams.set("code", code);
      back.searchParams.set("state", searchParams.get("state") ?? "");
      return back;
    },
    close: () => new Promise((resolve) => server.close(() => resolve())),
  };
  return fake;
}
