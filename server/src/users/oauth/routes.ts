// HTTP for logging in through other services: out, back, and the code between. For browsers: what goes wrong is a page.
// Before it: ../account-routes.ts. After it: providers.ts speaks with the service; identities.ts finds the account.
import { parseCookie } from "cookie";
import type { IncomingHttpHeaders } from "node:http";
import * as contract from "@postloft/contract/oauth.ts";
import { nowMs } from "../../platform/clock.ts";
import type { Sealer } from "../../platform/crypto.ts";
import { transaction, type Database } from "../../platform/database.ts";
import { noContent, ok, route, type Answer, type Route } from "../../platform/http-route.ts";
import { takeOrRefuse, type RateLimiter, type Take } from "../../platform/rate-limit.ts";
import { Refusal } from "../../platform/refusal.ts";
import { networkOf } from "../../platform/visitor-network.ts";
import { listSessions } from "../account.ts";
import { asPage, codePage, problemPage, refusedPage } from "../account-pages.ts";
import { attemptsOf, codesOf } from "../attempts.ts";
import { passSecondFactor } from "../second-factor/second-factor.ts";
import type { SessionPlace, Sessions } from "../sessions.ts";
import { createFlowCookie, type FlowCookie, type Pending } from "./flow-cookie.ts";
import { connectIdentity, disconnectIdentity, enterAs, findUserOf, readIdentities } from "./identities.ts";
import { createProviders, type Person, type Provider } from "./providers.ts";
import type { OauthSettings } from "./settings.ts";

/** Where somebody lands who came for nothing else. */
const DASHBOARD = "/app";
/** A path of the dashboard, and of no other site: no second slash, no backslash, nothing a browser would mend. */
const NEXT = /^\/app(?:[/?#][\x21-\x5b\x5d-\x7e]*)?$/;
const MAX_NEXT_LENGTH = 1_000;
const RECENT_MS = 3_600_000;

interface OauthParts {
  database: Database;
  sealer: Sealer;
  sessions: Sessions;
  rateLimiter: RateLimiter;
  oauth: OauthSettings;
  signupsDisabled: boolean;
  baseUrl: () => string;
  wakeSender: () => void;
}

interface Desk extends OauthParts {
  providers: readonly Provider[];
  flowCookie: FlowCookie;
}

export function oauthRoutes(parts: OauthParts): Route[] {
  const desk: Desk = {
    ...parts,
    providers: createProviders(parts.oauth),
    flowCookie: createFlowCookie(parts.sealer, parts.baseUrl),
  };
  return [...browserRoutes(desk), ...ownRoutes(desk)];
}

const redirect = (status: 302 | 303, location: string, cookie: string): Answer => ({
  status,
  body: null,
  headers: { location, "set-cookie": cookie, "cache-control": "no-store" },
});

const staleFlow = () =>
  new Refusal("BAD_REQUEST", {
    message: "This log-in was begun in another browser, or too long ago. Begin again.",
  });

function browserRoutes(desk: Desk): Route[] {
  const { providers, flowCookie, baseUrl } = desk;
  const limit = (take: Take) => takeOrRefuse(desk.rateLimiter, take);
  const urlOf = ({ name }: Provider) => `${baseUrl()}/auth/oauth/${name}/callback`;
  function requireProvider(name: string): Provider {
    const found = providers.find((one) => one.name === name);
    if (found === undefined)
      throw new Refusal("RESOURCE_NOT_FOUND", { message: "Nobody logs in through this service here." });
    return found;
  }
  return [
    route(contract.beginOauth, async ({ params, query, ip, headers }) => {
      try {
        const provider = requireProvider(params.provider);
        await limit(attemptsOf(networkOf(ip)));
        const userId = query.connect === "true" ? await whoIsLoggedIn(desk, headers) : null;
        const { url, flow } = await provider.begin(urlOf(provider));
        const next = pathOf(query.next);
        return redirect(
          302,
          url.href,
          flowCookie.write({ step: "provider", provider: provider.name, flow, userId, next }),
        );
      } catch (error) {
        return refusedPage(error);
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
        return await arrive(desk, { provider, person, pending, place: { ip, headers } });
      } catch (error) {
        return refusedPage(error);
      }
    }),
    route(contract.submitOauthCode, async ({ body, ip, headers }) => {
      const pending = flowCookie.read(headers);
      try {
        await limit(attemptsOf(networkOf(ip)));
        if (pending?.step !== "code") throw staleFlow();
        return await passWithCode(desk, pending, { code: body.code ?? "", place: { ip, headers } });
      } catch (error) {
        const isAboutCode = error instanceof Refusal && error.code === "INVALID_CREDENTIALS";
        return refusedPage(error, isAboutCode ? codePage : problemPage);
      }
    }),
  ];
}

const pathOf = (given: string | undefined): string =>
  given !== undefined && given.length <= MAX_NEXT_LENGTH && NEXT.test(given) ? given : DASHBOARD;

/** A session that was stolen must not open a door of its own: only one that began lately may. */
async function whoIsLoggedIn({ sessions, database }: Desk, headers: IncomingHttpHeaders): Promise<string> {
  const token = parseCookie(headers.cookie ?? "")[sessions.cookie];
  const session = token === undefined ? null : await sessions.find(token);
  if (session === null) throw new Refusal("UNAUTHORIZED");
  const all = await listSessions(database, session.userId, session.sessionId);
  const began = Date.parse(all.find(({ isCurrent }) => isCurrent)?.createdAt ?? "");
  if (!(nowMs() - began < RECENT_MS))
    throw new Refusal("UNAUTHORIZED", {
      message:
        "Log out and in again, then connect within an hour: a service that is connected opens your account.",
    });
  return session.userId;
}

interface Arrival {
  provider: Provider;
  person: Person;
  pending: Pending & { step: "provider" };
  place: SessionPlace & { headers: IncomingHttpHeaders };
}

/** The service said who it is: they are connected with the account that began, logged in, or asked for their code. */
async function arrive(desk: Desk, { provider, person, pending, place }: Arrival): Promise<Answer> {
  const { database, flowCookie, wakeSender } = desk;
  const { next, userId } = pending;
  if (userId !== null) {
    if ((await whoIsLoggedIn(desk, place.headers)) !== userId) throw staleFlow();
    await transaction(database, (tx) => connectIdentity(tx, userId, { person, title: provider.title }));
    wakeSender();
    return redirect(302, next, flowCookie.write(pending));
  }
  try {
    return redirect(302, next, await logIn(desk, { person, title: provider.title, place }));
  } catch (error) {
    if (!(error instanceof Refusal) || error.code !== "SECOND_FACTOR_REQUIRED") throw error;
    const page = asPage(codePage(null));
    const cookie = flowCookie.write({ step: "code", provider: provider.name, person, next });
    return { ...page, headers: { ...page.headers, "set-cookie": cookie } };
  }
}

/** The Set-Cookie header of a new session. Account, connection, code and session are there together, or none. */
async function logIn(
  desk: Desk,
  given: { person: Person; title: string; code?: string; place: SessionPlace },
): Promise<string> {
  const { person, title, code, place } = given;
  const { database, sealer, sessions, signupsDisabled } = desk;
  const cookie = await transaction(database, async (tx) => {
    const user = await enterAs(tx, { person, title, signupsDisabled });
    await passSecondFactor(tx, sealer, user.id, code);
    return sessions.start(tx, user.id, place);
  });
  desk.wakeSender();
  return cookie;
}

async function passWithCode(
  desk: Desk,
  { person, provider, next }: Pending & { step: "code" },
  { code, place }: { code: string; place: SessionPlace },
): Promise<Answer> {
  const user = await findUserOf(desk.database, person);
  const title = desk.providers.find(({ name }) => name === provider)?.title;
  if (user === undefined || title === undefined) throw staleFlow();
  // Counted before the code is looked at, so that guesses in parallel cannot slip through; a right one is not counted.
  await takeOrRefuse(desk.rateLimiter, codesOf(user.id));
  const cookie = await logIn(desk, { person, title, code, place });
  await desk.rateLimiter.giveBack(codesOf(user.id));
  return redirect(303, next, cookie);
}

function ownRoutes({ database, providers, oauth, wakeSender }: Desk): Route[] {
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
    route(contract.removeIdentity, async ({ userId, params, commit }) => {
      const answer = await commit(async (tx) => {
        await disconnectIdentity(tx, { userId, id: params.identityId, providers });
        return noContent();
      });
      wakeSender();
      return answer;
    }),
  ];
}
