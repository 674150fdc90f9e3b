// Tests sign-in through other services against a provider with real signatures: which account is opened, and which responses are rejected.
import { afterAll, beforeEach, expect, test } from "vitest";
import * as accountContract from "@postloft/contract/account.ts";
import * as instance from "@postloft/contract/instance.ts";
import * as members from "@postloft/contract/members.ts";
import * as oauth from "@postloft/contract/oauth.ts";
import * as passkeys from "@postloft/contract/passkeys.ts";
import * as secondFactor from "@postloft/contract/second-factor.ts";
import * as users from "@postloft/contract/users.ts";
import { FAKE_CLIENT, startIdentityFake, type FakePerson } from "../../testing/identity-fake.ts";
import { fromBase32 } from "../../testing/base32.ts";
import { cookieOf, errorOf, useTestServer, type OneServer, type Reply } from "../../testing/test-server.ts";
import { holdRow } from "../../testing/hold-row.ts";
import { readPlatformEmails } from "../../testing/platform-emails.ts";
import { createSoftPasskey, type SoftPasskey } from "../../testing/soft-authenticator.ts";
import { codeAt } from "../second-factor/totp.ts";

const fake = await startIdentityFake();
const SETTINGS = {
  ROLES: "api",
  OIDC_ISSUER: fake.url,
  OIDC_CLIENT_ID: FAKE_CLIENT.id,
  OIDC_CLIENT_SECRET: FAKE_CLIENT.secret,
  OIDC_NAME: "Our directory",
  GITHUB_URL: fake.url,
  GITHUB_CLIENT_ID: FAKE_CLIENT.id,
  GITHUB_CLIENT_SECRET: FAKE_CLIENT.secret,
};
const server = useTestServer(SETTINGS);
afterAll(() => fake.close());

let people = 0;
const newPerson = (): FakePerson => ({
  sub: String(1_000 + ++people),
  email: `visitor${people}@example.com`,
  email_verified: true,
});
beforeEach(async () => {
  Object.assign(fake, { person: newPerson(), lie: "none", hidesEmail: false });
  // Disables the per-network limit, which another test covers.
  await server.rows("delete from rate_windows where bucket like 'auth:%'");
});

interface Trip {
  provider?: string;
  query?: string;
  /** Cookies of a signed-in user. */
  session?: string;
  from?: OneServer;
  /** Changes the callback URL. */
  bend?: (back: URL) => void;
}

/** Goes to the service and back with the cookies of one browser. */
async function travel({ provider = "oidc", query = "", session = "", from = server, bend }: Trip = {}) {
  const out = await from.call("GET", `/auth/oauth/${provider}${query}`, { cookie: session });
  if (out.status !== 302) return { out, reply: out, cookie: "" };
  const back = fake.approve(out.headers.get("location") ?? "");
  bend?.(back);
  const cookie = cookieOf(out);
  const path = `${back.pathname}${back.search}`;
  const reply = await from.call("GET", path, { cookie: `${session}; ${cookie}` });
  return { out, reply, cookie, path };
}

const whoIs = async (reply: Reply<unknown>) =>
  (await server.call(users.getMe, { cookie: cookieOf(reply) })).body;
const identitiesOf = async (cookie: string) => (await server.call(oauth.listIdentities, { cookie })).body;
const subjectsTo = async (email: string) =>
  (await readPlatformEmails(server.pool, { to: email, subject: /./ })).map(({ subject }) => subject);

test("returns the configured services before signing in", async () => {
  const config = await server.call(oauth.getOauthConfig);
  expect(config.body).toEqual({
    success: true,
    data: { github: true, google: false, oidc: true, oidcName: "Our directory" },
  });
  const features = (await server.call(instance.getConfig)).body.features;
  expect(features).toMatchObject({ authProviders: { github: true, google: false, oidc: true } });
  expect((await travel({ provider: "google" })).reply.status).toBe(404);
});

test.for(["oidc", "github"])(
  "%s: creates a confirmed account first and signs in to it later, also after its address changed",
  async (provider) => {
    const first = await travel({ provider, query: "?next=/app/account" });
    expect(first.reply.status).toBe(302);
    expect(first.reply.headers.get("location")).toBe("/app/account");
    const account = await whoIs(first.reply);
    expect(account.email).toBe(fake.person.email);
    expect(await identitiesOf(cookieOf(first.reply))).toMatchObject({
      hasPassword: false,
      identities: [{ provider }],
    });
    const rows = await server.rows(
      "select verified_at is not null as v from users where id = $1",
      account.id,
    );
    expect(rows).toEqual([{ v: true }]);
    fake.person = { ...fake.person, email: `moved-${provider}@example.com` };
    const second = await travel({ provider });
    expect(await whoIs(second.reply)).toEqual(account);
    expect(second.reply.headers.get("location")).toBe("/app");
  },
);

test("finds and notifies a confirmed account by its address, but rejects an unconfirmed one", async () => {
  const owner = await server.signUp();
  fake.person = { ...newPerson(), email: owner.email.toUpperCase() };
  const early = await travel();
  expect(early.reply.status).toBe(409);
  expect(early.reply.text).toContain("never confirmed");
  await server.rows("update users set verified_at = now() where id = $1", owner.id);
  expect((await whoIs((await travel()).reply)).id).toBe(owner.id);
  expect(await subjectsTo(owner.email)).toContain("Your account is connected to Our directory");
  expect((await server.call(users.getMe, { cookie: owner.cookie })).status).toBe(200);
});

test.for(["nobody", "somebody"])(
  "signs in on two devices concurrently with the address of %s",
  async (owner) => {
    const { email = "" } = fake.person;
    if (owner === "somebody")
      await server.rows(
        "insert into users (id, email, password_hash, verified_at) values (new_id(), $1, 'x', now())",
        email,
      );
    const trips = await Promise.all(Array.from({ length: 4 }, () => travel()));
    expect(trips.map(({ reply }) => reply.status)).toEqual(Array(4).fill(302));
    const ids = await Promise.all(trips.map(async ({ reply }) => (await whoIs(reply)).id));
    expect(new Set(ids).size).toBe(1);
    expect(await server.rows("select 1 from identities where email = $1", email)).toHaveLength(1);
  },
);

test("rejects an address the service has not verified unless the admin trusts the service", async () => {
  for (const verified of [false, undefined, "false"]) {
    fake.person = {
      sub: newPerson().sub,
      email: "nobody@example.com",
      ...(verified !== undefined && { email_verified: verified }),
    };
    const { reply } = await travel();
    expect([reply.status, reply.headers.get("set-cookie")]).toEqual([403, null]);
  }
  fake.person = { ...newPerson(), email_verified: "true" };
  expect((await travel()).reply.status).toBe(302);
  fake.person = { ...newPerson(), email_verified: false };
  expect((await travel({ provider: "github" })).reply.status).toBe(403);
  const trusting = await server.startAnother({ ...SETTINGS, OIDC_TRUST_EMAIL: "true" });
  const { email_verified: _, ...unsaid } = newPerson();
  fake.person = unsaid;
  expect((await travel({ from: trusting })).reply.status).toBe(302);
  fake.person = { ...newPerson(), email_verified: false };
  expect((await travel({ from: trusting })).reply.status).toBe(403);
});

test("reads an address that only the userinfo endpoint returns", async () => {
  fake.hidesEmail = true;
  expect((await whoIs((await travel()).reply)).email).toBe(fake.person.email);
});

test.for(["unsigned", "wrong key", "wrong audience", "wrong nonce", "late"] as const)(
  "rejects a forged id token (%s)",
  async (lie) => {
    const before = await server.countRows();
    fake.lie = lie;
    const { reply } = await travel();
    expect([400, 503]).toContain(reply.status);
    expect(reply.headers.get("set-cookie")).toBeNull();
    const { rate_windows: _, ...after } = await server.countRows();
    expect(before).toMatchObject(after);
  },
);

test("shows an error page when the service is unavailable", async () => {
  fake.lie = "down";
  const another = await server.startAnother(SETTINGS);
  const { reply } = await travel({ from: another });
  expect(reply.status).toBe(503);
  expect(reply.text).toContain("Our directory can");
  const german = { "accept-language": "de" };
  const { text } = await another.call("GET", "/auth/oauth/oidc", { headers: german });
  expect(text).toContain("Our directory ist nicht erreichbar");
  fake.lie = "none";
  expect((await travel({ from: another })).reply.status).toBe(302);
});

test("accepts an unmodified callback once, in the browser and for the service that began it", async () => {
  const { path = "", cookie } = await travel();
  const again = await server.call("GET", path, { cookie });
  expect(again.status).toBe(400);
  const bends: Array<(back: URL) => void> = [
    (back) => back.searchParams.set("state", "another"),
    (back) => back.searchParams.delete("state"),
    (back) => back.searchParams.set("code", "another"),
    (back) => back.searchParams.delete("code"),
    (back) => back.searchParams.set("iss", "https://evil.example"),
    (back) => (back.pathname = "/auth/oauth/github/callback"),
    (back) => {
      back.searchParams.delete("code");
      back.searchParams.set("error", "server_error");
    },
  ];
  for (const bend of bends) {
    const { reply } = await travel({ bend });
    expect([reply.status, reply.headers.get("set-cookie")]).toEqual([400, null]);
  }
  const declined = await travel({
    bend: (back) => {
      back.searchParams.delete("code");
      back.searchParams.set("error", "access_denied");
    },
  });
  expect(declined.reply.status).toBe(403);
  // Another browser has another cookie, none, or a forged one.
  const victim = await travel({ bend: (back) => back.searchParams.set("state", "kept back") });
  for (const foreign of ["", "postloft_oauth=AAAA", `${victim.cookie.slice(0, -4)}AAAA`]) {
    const reply = await server.call("GET", victim.path ?? "", { cookie: foreign });
    expect([reply.status, reply.headers.get("set-cookie")]).toEqual([400, null]);
  }
});

test.for(["https://evil.example", "//evil.example", "/app@evil.example", "/app\\evil", "/docs", "/app/\n"])(
  "never redirects to %j",
  async (next) => {
    const { reply } = await travel({ query: `?next=${encodeURIComponent(next)}` });
    expect(reply.headers.get("location")).toBe("/app");
  },
);

test("rejects new people but admits known ones with DISABLE_SIGNUPS", async () => {
  const known = fake.person;
  await travel();
  const closed = await server.startAnother({ ...SETTINGS, DISABLE_SIGNUPS: "true" });
  expect((await travel({ from: closed })).reply.status).toBe(302);
  fake.person = newPerson();
  expect((await travel({ from: closed })).reply.status).toBe(403);
  expect(await server.rows("select 1 from users where email = $1", fake.person.email)).toEqual([]);
  expect(known.email).not.toBe(fake.person.email);
});

test("admits invited people through another service when sign-ups are off", async () => {
  const closed = await server.startAnother({ ...SETTINGS, DISABLE_SIGNUPS: "true" });
  const { id, bySession } = await server.createProject();
  const body = { email: fake.person.email, role: "MEMBER" };
  const invited = await server.call(members.addMember, bySession, {
    params: { projectId: id },
    anyBody: body,
  });
  const token = invited.body.data.invitation?.link?.split("/").at(-1) ?? "";
  const accept = (cookie: string) => closed.call(members.acceptInvitation, { cookie }, { params: { token } });
  const { reply } = await travel({ from: closed, query: `?next=/app/invitations/${token}` });
  expect(reply.headers.get("location")).toBe(`/app/invitations/${token}`);
  expect((await accept(cookieOf(reply))).status).toBe(200);
  expect(await server.rows("select role from memberships where project_id = $1 order by role", id)).toEqual([
    { role: "MEMBER" },
    { role: "OWNER" },
  ]);
  // The invitation was for that address only and is now used.
  fake.person = newPerson();
  expect((await travel({ from: closed })).reply.status).toBe(403);
});

/** The default public address. */
const here = () => ({ origin: `http://localhost:${new URL(server.url).port}`, rpId: "localhost" });
async function challengeToShow(): Promise<string> {
  const { body } = await server.call(passkeys.askPasskey);
  return body.data.challenge;
}
/** Adds a passkey to a signed-in user. */
async function passkeyOf(cookie: string): Promise<SoftPasskey> {
  const { body } = await server.call(passkeys.beginPasskey, { cookie });
  const passkey = createSoftPasskey(body.user.id);
  const made = passkey.register({ ...here(), challenge: body.challenge });
  const { status } = await server.call(
    "POST",
    "/users/@me/passkeys",
    { cookie },
    { name: "Laptop", passkey: made },
  );
  expect(status).toBe(200);
  return passkey;
}

/** In the format of the form. */
const show = async (passkey: SoftPasskey) =>
  encodeURIComponent(JSON.stringify(passkey.show({ ...here(), challenge: await challengeToShow() })));

test("requires the second factor: each code once, a passkey instead, and few guesses", async () => {
  const first = await travel();
  const cookie = cookieOf(first.reply);
  // A password is needed to enable the second factor.
  const { id } = await whoIs(first.reply);
  const donor = await server.signUp();
  await server.rows(
    "update users set password_hash = (select password_hash from users where id = $1) where id = $2",
    donor.id,
    id,
  );
  const begun = await server.call(
    secondFactor.beginSecondFactor,
    { cookie },
    { body: { currentPassword: donor.password } },
  );
  const secret = fromBase32(begun.body.secret);
  const step = Math.floor(Date.now() / 30_000);
  await server.call(secondFactor.confirmSecondFactor, { cookie }, { body: { code: codeAt(secret, step) } });

  const { reply } = await travel({ query: "?next=/app/account" });
  expect(reply.status).toBe(200);
  expect(reply.text).toContain('name="code"');
  const half = cookieOf(reply);
  expect((await server.call(users.getMe, { cookie: half })).status).toBe(401);
  const give = (code: string, held = half) =>
    server.call(
      "POST",
      "/auth/oauth/code",
      { cookie: held, headers: { "content-type": "application/x-www-form-urlencoded" } },
      `code=${code}`,
    );
  expect((await give("000000")).status).toBe(401);
  expect((await give("")).status).toBe(401);
  expect((await give(codeAt(secret, step + 1), "")).status).toBe(400);
  const passed = await give(codeAt(secret, step + 1));
  expect([passed.status, passed.headers.get("location")]).toEqual([303, "/app/account"]);
  expect((await whoIs(passed)).id).toBe(id);
  // The wrong code counts, and the right one does not.
  expect(
    await server.rows("select sum(taken)::integer as taken from rate_windows where bucket like 'codes:%'"),
  ).toEqual([{ taken: 1 }]);
  expect((await give(codeAt(secret, step + 1))).status).toBe(401);

  // Accepts a passkey of the account instead of a code, but not another account's, a forged or a used one.
  const own = await passkeyOf(cookieOf(passed));
  const strange = await passkeyOf((await server.signUp()).cookie);
  await server.rows("delete from rate_windows where bucket like 'codes:%'");
  const shown = await show(own);
  const refused = await Promise.all([
    give(`&passkey=${await show(strange)}`),
    give("&passkey=%7B%7D"),
    give("&passkey=x"),
    give(`&passkey=${shown}`, ""),
  ]);
  expect(refused.map(({ status }) => status)).toEqual([401, 401, 401, 400]);
  expect(refused[0]?.text).toContain("belongs to another account");
  const entered = await give(`&passkey=${shown}`);
  expect([entered.status, entered.headers.get("location")]).toEqual([303, "/app/account"]);
  expect((await whoIs(entered)).id).toBe(id);
  expect((await give(`&passkey=${shown}`)).status).toBe(401);
});

test("connects and disconnects a service of a signed-in user but keeps the last sign-in method", async () => {
  const person = await server.signUp();
  expect((await travel({ query: "?connect=true" })).reply.status).toBe(401);
  const { reply } = await travel({ query: "?connect=true&next=/app/account", session: person.cookie });
  expect([reply.status, reply.headers.get("location")]).toEqual([302, "/app/account"]);
  const { identities, hasPassword } = await identitiesOf(person.cookie);
  expect([identities.length, hasPassword]).toEqual([1, true]);
  // A person connected with one account can't be connected with another.
  const other = await server.signUp();
  expect((await travel({ query: "?connect=true", session: other.cookie })).reply.status).toBe(409);
  const path = `/users/@me/identities/${identities[0]?.id}`;
  expect(errorOf(await server.call("DELETE", path, { cookie: other.cookie }))).toBe("404 RESOURCE_NOT_FOUND");
  expect((await server.call("DELETE", path, { cookie: person.cookie })).status).toBe(204);
  expect(await subjectsTo(person.email)).toContain("Your account is no longer connected to Our directory");

  fake.person = newPerson();
  const alone = cookieOf((await travel()).reply);
  const [only] = (await identitiesOf(alone)).identities;
  const refused = await server.call("DELETE", `/users/@me/identities/${only?.id}`, { cookie: alone });
  expect(errorOf(refused)).toBe("409 CONFLICT");
  const noPassword = await server.call(
    accountContract.changePassword,
    { cookie: alone },
    { body: { currentPassword: "x", newPassword: "correct horse battery" } },
  );
  expect(errorOf(noPassword)).toBe("401 INVALID_CREDENTIALS");
});

test("a connection started in one session does not finish in another", async () => {
  const [one, two] = [await server.signUp(), await server.signUp()];
  const out = await server.call("GET", "/auth/oauth/oidc?connect=true", { cookie: one.cookie });
  const back = fake.approve(out.headers.get("location") ?? "");
  const reply = await server.call("GET", `${back.pathname}${back.search}`, {
    cookie: `${two.cookie}; ${cookieOf(out)}`,
  });
  expect(reply.status).toBe(400);
  expect((await identitiesOf(two.cookie)).identities).toEqual([]);
});

/** Pauses a callback on the account's lock and changes the account before it continues. */
async function comeBack(userId: string, { query = "", session = "" }: Trip, change: string) {
  const out = await server.call("GET", `/auth/oauth/oidc${query}`, { cookie: session });
  const { pathname, search } = fake.approve(out.headers.get("location") ?? "");
  const [reply] = await holdRow(
    server.pool,
    ["select 1 from users where id = $1", userId],
    () => [server.call("GET", `${pathname}${search}`, { cookie: `${session}; ${cookieOf(out)}` })],
    (client) => client.query(change, [userId]),
  );
  if (reply === undefined) throw new Error("One request has one reply.");
  return reply;
}

test("connects nothing after the session ended, and signs in to nothing after a disconnect", async () => {
  const person = await server.signUp();
  const trip = { query: "?connect=true", session: person.cookie };
  const late = await comeBack(person.id, trip, "delete from sessions where user_id = $1");
  expect(late.status).toBe(401);
  const connected = "select 1 from identities where user_id = $1";
  expect(await server.rows(connected, person.id)).toEqual([]);

  const { id } = await whoIs((await travel()).reply);
  fake.person = { ...newPerson(), sub: fake.person.sub };
  const other = await comeBack(id, {}, "delete from identities where user_id = $1");
  expect((await whoIs(other)).id).not.toBe(id);
});

test("rejects a connection in a session that began more than an hour ago", async () => {
  const person = await server.signUp();
  await server.rows(
    "update sessions set created_at = now() - interval '61 minutes' where user_id = $1",
    person.id,
  );
  const { reply } = await travel({ query: "?connect=true", session: person.cookie });
  expect(reply.status).toBe(401);
  expect(reply.text).toContain("Sign out and in again");
  expect((await server.call(users.getMe, { cookie: person.cookie })).status).toBe(200);
});

test("requires settings that belong together", async () => {
  const { readConfig } = await import("../../platform/settings/config.ts");
  const { SETTING_CHECKS } = await import("../../instance/setting-checks.ts");
  expect(() =>
    readConfig({ GITHUB_CLIENT_ID: "a", OIDC_ISSUER: "https://id.example" }, SETTING_CHECKS),
  ).toThrow(
    /GITHUB_CLIENT_SECRET: required with GITHUB_CLIENT_ID\n.*OIDC_CLIENT_ID: required[^]*OIDC_CLIENT_SECRET/,
  );
});
