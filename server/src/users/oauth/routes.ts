// HTTP routes for signing in through other services. Browsers open these, so errors are pages.
import { parseCookie } from "cookie";
import type { IncomingHttpHeaders } from "node:http";
import * as contract from "@postloft/contract/oauth.ts";
import { passkeyAssertion } from "@postloft/contract/passkeys.ts";
import type { Sealer } from "../../platform/crypto.ts";
import { transaction, type Database, type Tx } from "../../platform/database/database.ts";
import { noContent, ok, route, type HttpResponse, type Route } from "../../platform/http/route.ts";
import { takeOrThrow, type RateLimiter, type Take } from "../../platform/http/rate-limit.ts";
import { AppError } from "../../platform/app-error.ts";
import { networkOf } from "../../platform/http/visitor-network.ts";
import { acceptedLanguage } from "../../emails/platform-email/mail-language.ts";
import { asCodePage, errorPage } from "../account-pages.ts";
import { PageError, problemOf, wordsFor } from "../page-error.ts";
import { attemptsOf } from "../attempts.ts";
import { isRecentSession, type OwnSession } from "../recent-session.ts";
import { readAssertion, usePasskey, type Shown } from "../passkeys/passkeys.ts";
import type { Assertion, PasskeyVerifier } from "../passkeys/verifier.ts";
import { guardCode } from "../second-factor/guard-code.ts";
import { passSecondFactor } from "../second-factor/second-factor.ts";
import type { SessionPlace } from "../place.ts";
import type { Sessions } from "../sessions.ts";
import { createFlowCookie, type FlowCookie, type Pending } from "./flow-cookie.ts";
import { connectIdentity, disconnectIdentity, enterAs, findUserOf, readIdentities } from "./identities.ts";
import { createProviders, type Person, type Provider } from "./providers.ts";
import type { OauthSettings } from "./settings.ts";

/** The landing page without another target. */
const DASHBOARD = "/app";
/** A path of the dashboard on this site: no second slash, no backslash, nothing a browser would rewrite. */
const NEXT = /^\/app(?:[/?#][\x21-\x5b\x5d-\x7e]*)?$/;
const MAX_NEXT_LENGTH = 1_000;

interface OauthOptions {
  database: Database;
  sealer: Sealer;
  sessions: Sessions;
  rateLimiter: RateLimiter;
  verifier: PasskeyVerifier;
  oauth: OauthSettings;
  signupsDisabled: boolean;
  /** Returns whether an address has a pending invitation. */
  isInvited: (database: Database, email: string) => Promise<boolean>;
  baseUrl: () => string;
}

interface OauthDependencies extends OauthOptions {
  providers: readonly Provider[];
  flowCookie: FlowCookie;
}

export function oauthRoutes(options: OauthOptions): Route[] {
  const deps: OauthDependencies = {
    ...options,
    providers: createProviders(options.oauth),
    flowCookie: createFlowCookie(options.sealer, options.baseUrl),
  };
  return [...browserRoutes(deps), ...ownRoutes(deps)];
}

const redirect = <Status extends 302 | 303>(
  status: Status,
  location: string,
  cookies: string[],
): HttpResponse<Status, null> => ({
  status,
  body: null,
  headers: { location, "set-cookie": cookies, "cache-control": "no-store" },
});

const staleFlow = () => new PageError("BAD_REQUEST", (problems) => problems.staleFlow);
const notThisPasskey = () => new PageError("INVALID_CREDENTIALS", (problems) => problems.notThisPasskey);

function browserRoutes(deps: OauthDependencies): Route[] {
  const { providers, flowCookie, baseUrl } = deps;
  const limit = (take: Take) => takeOrThrow(deps.rateLimiter, take);
  const urlOf = ({ name }: Provider) => `${baseUrl()}/auth/oauth/${name}/callback`;
  function requireProvider(name: string): Provider {
    const found = providers.find((one) => one.name === name);
    if (found === undefined) throw new PageError("RESOURCE_NOT_FOUND", ({ noSuchService }) => noSuchService);
    return found;
  }
  return [
    route(contract.beginOauth, async ({ params, query, ip, headers }) => {
      try {
        const provider = requireProvider(params.provider);
        await limit(attemptsOf(networkOf(ip)));
        const userId = query.connect === "true" ? (await requireRecentSignIn(deps, headers)).userId : null;
        const { url, flow } = await provider.begin(urlOf(provider));
        const next = pathOf(query.next);
        const pending = { step: "provider", provider: provider.name, flow, userId, next } as const;
        return redirect(302, url.href, [flowCookie.write(pending)]);
      } catch (error) {
        return errorPage(wordsFor(headers), contract.beginOauth, error);
      }
    }),
    route(contract.finishOauth, async ({ params, query, ip, headers }) => {
      try {
        const provider = requireProvider(params.provider);
        await limit(attemptsOf(networkOf(ip)));
        const pending = flowCookie.read(headers);
        if (pending?.step !== "provider" || pending.provider !== provider.name) throw staleFlow();
        const url = new URL(urlOf(provider));
        for (const [name, value] of Object.entries(query)) url.searchParams.set(name, String(value));
        const person = await provider.finish(url, pending.flow);
        return await arrive(deps, { provider, person, pending, place: { ip, headers } });
      } catch (error) {
        return errorPage(wordsFor(headers), contract.finishOauth, error);
      }
    }),
    route(contract.submitOauthCode, async ({ body, ip, headers }) => {
      const pending = flowCookie.read(headers);
      const words = wordsFor(headers);
      try {
        await limit(attemptsOf(networkOf(ip)));
        if (pending?.step !== "code") throw staleFlow();
        return await passSecond(deps, pending, { ...body, place: { ip, headers } });
      } catch (error) {
        if (error instanceof AppError && error.code === "INVALID_CREDENTIALS")
          return asCodePage(words, problemOf(error, words), 401);
        return errorPage(words, contract.submitOauthCode, error);
      }
    }),
  ];
}

const pathOf = (input: string | undefined): string =>
  input !== undefined && input.length <= MAX_NEXT_LENGTH && NEXT.test(input) ? input : DASHBOARD;

/** Returns the signed-in user if the session is recent, because a stolen session must not add another sign-in method. */
async function requireRecentSignIn(
  { sessions, database }: OauthDependencies,
  headers: IncomingHttpHeaders,
): Promise<OwnSession> {
  const token = parseCookie(headers.cookie ?? "")[sessions.cookie];
  const session = token === undefined ? null : await sessions.find(token);
  if (session === null) throw new AppError("UNAUTHORIZED");
  if (!(await isRecentSession(database, session.sessionId)))
    throw new PageError("UNAUTHORIZED", ({ oldSession }) => oldSession);
  return session;
}

type BrowserPlace = SessionPlace & { headers: IncomingHttpHeaders };

interface Arrival {
  provider: Provider;
  person: Person;
  pending: Pending & { step: "provider" };
  place: BrowserPlace;
}

/** Continues after the service identified the person: connects the signed-in account, signs in, or asks for the second factor. */
async function arrive(
  deps: OauthDependencies,
  { provider, person, pending, place }: Arrival,
): Promise<HttpResponse<302, null> | HttpResponse<200, string>> {
  const { database, flowCookie } = deps;
  const { next, userId } = pending;
  if (userId !== null) {
    const session = await requireRecentSignIn(deps, place.headers);
    if (session.userId !== userId) throw staleFlow();
    await transaction(database, (tx) => connectIdentity(tx, session, { person, title: provider.title }));
    return redirect(302, next, [flowCookie.write(pending)]);
  }
  try {
    return redirect(302, next, await logIn(deps, { person, title: provider.title, place }));
  } catch (error) {
    if (!(error instanceof AppError) || error.code !== "SECOND_FACTOR_REQUIRED") throw error;
    const page = asCodePage(wordsFor(place.headers), null, 200);
    const cookie = flowCookie.write({ step: "code", provider: provider.name, person, next });
    return { ...page, headers: { ...page.headers, "set-cookie": cookie } };
  }
}

/** Signs in and returns the Set-Cookie headers. Account, connection, code and session commit together. */
async function logIn(
  deps: OauthDependencies,
  input: { person: Person; title: string; code?: string; shown?: Shown | undefined; place: BrowserPlace },
): Promise<string[]> {
  const { person, title, code, shown, place } = input;
  const { database, sealer, sessions, signupsDisabled, isInvited } = deps;
  const mayBeNew = async (tx: Tx, email: string) => !signupsDisabled || isInvited(tx, email);
  const language = acceptedLanguage(place.headers["accept-language"]);
  return transaction(database, async (tx) => {
    const user = await enterAs(tx, { person, title, mayBeNew, language });
    if (shown === undefined) await passSecondFactor(tx, sealer, user.id, code);
    else if (shown.user.id === user.id) await usePasskey(tx, shown);
    else throw notThisPasskey();
    return sessions.start(tx, user.id, place);
  });
}

/**
 * Reads the passkey of a form.
 * @throws AppError INVALID_CREDENTIALS if it is malformed
 */
function passkeyIn(text: string): Assertion {
  try {
    return passkeyAssertion.parse(JSON.parse(text));
  } catch {
    throw notThisPasskey();
  }
}

/** Checks the second factor, by a code or a passkey, as after a password. */
async function passSecond(
  deps: OauthDependencies,
  { person, provider, next }: Pending & { step: "code" },
  {
    code = "",
    passkey,
    place,
  }: { code?: string | undefined; passkey?: string | undefined; place: BrowserPlace },
): Promise<HttpResponse<303, null>> {
  const user = await findUserOf(deps.database, person);
  const title = deps.providers.find(({ name }) => name === provider)?.title;
  if (user === undefined || title === undefined) throw staleFlow();
  const isKnownDevice = deps.sessions.isKnownDevice(place.headers, user.id);
  const cookies = await guardCode(deps.rateLimiter, { userId: user.id, code, isKnownDevice }, async () => {
    const shown =
      passkey === undefined ? undefined : await readAssertion(deps, networkOf(place.ip), passkeyIn(passkey));
    return logIn(deps, { person, title, code, shown, place });
  });
  return redirect(303, next, cookies);
}

function ownRoutes({ database, providers, oauth }: OauthDependencies): Route[] {
  return [
    route(contract.getOauthConfig, async () =>
      ok({
        github: oauth.github !== null,
        google: oauth.google !== null,
        oidc: oauth.oidc !== null,
        oidcName: oauth.oidc?.title ?? null,
      }),
    ),
    route(contract.listIdentities, async ({ userId }) =>
      ok(await readIdentities(database, userId, providers)),
    ),
    route(contract.removeIdentity, async ({ userId, params, commit }) =>
      commit(async (tx) => {
        await disconnectIdentity(tx, { userId, id: params.identityId, providers });
        return noContent();
      }),
    ),
  ];
}
