// Tests passkeys with real keys and signatures: adding, signing in alone and with a password, renaming, removing, and invalid ones.
import { expect, test } from "vitest";
import * as account from "@postloft/contract/account.ts";
import * as passkeys from "@postloft/contract/passkeys.ts";
import * as users from "@postloft/contract/users.ts";
import { LIMITS } from "@postloft/contract/limits/limits.ts";
import type { ErrorEnvelope } from "../../platform/http/errors.ts";
import { holdRow } from "../../testing/hold-row.ts";
import { fromBase32 } from "../../testing/base32.ts";
import {
  createSoftPasskey,
  type Said,
  type Shown,
  type SoftPasskey,
} from "../../testing/soft-authenticator.ts";
import {
  responsesByName,
  cookieOf,
  faultsOf,
  errorOf,
  sameByName,
  inOneWindow,
  useTestServer,
  type Reply,
  type TestPerson,
} from "../../testing/test-server.ts";
import { codeAt } from "../second-factor/totp.ts";
import { readPlatformEmails } from "../../testing/platform-emails.ts";

const HERE = { origin: "https://post.example.com", rpId: "post.example.com" };
const server = useTestServer({ ROLES: "api", BASE_URL: HERE.origin });
const STEP_MS = 30_000;

interface Listed {
  id: string;
  name: string;
  lastUsedAt: string | null;
}

const call = <Body = ErrorEnvelope>(person: TestPerson, method: string, path: string, body?: object) =>
  server.call<Body>(method, `/users/@me/passkeys${path}`, { cookie: person.cookie }, body);
const listOf = async (person: TestPerson) => (await call<Listed[]>(person, "GET", "")).body;

interface Creation {
  challenge: string;
  rp: { id: string };
  user: { id: string };
  excludeCredentials: Array<{ id: string }>;
}

async function begin(person: TestPerson): Promise<Creation> {
  const { status, body } = await call<Creation>(person, "POST", "/options");
  expect(status).toBe(200);
  return body;
}

/** Creates a passkey that the server knows. */
async function withPasskey(person: TestPerson, name = "Laptop") {
  const { challenge, user, rp } = await begin(person);
  expect(rp.id).toBe(HERE.rpId);
  const passkey = createSoftPasskey(user.id);
  const added = await call<Listed>(person, "POST", "", {
    name,
    passkey: passkey.register({ ...HERE, challenge }),
  });
  expect(added.status).toBe(200);
  return { ...added.body, passkey, handle: user.id };
}

async function challengeToShow(): Promise<string> {
  const { body } = await server.call(passkeys.askPasskey);
  expect(body.data).toMatchObject({ rpId: HERE.rpId, userVerification: "required" });
  return body.data.challenge;
}

const show = async (passkey: SoftPasskey, lie: Partial<Said> = {}) =>
  passkey.show({ ...HERE, challenge: await challengeToShow(), ...lie });
const enter = (shown: unknown) => server.call("POST", "/auth/passkey-login", {}, { passkey: shown });
const whoIs = async (reply: Reply<unknown>) =>
  (await server.call(users.getMe, { cookie: cookieOf(reply) })).body.id;
const mailsTo = async ({ email }: TestPerson) =>
  (await readPlatformEmails(server.pool, { to: email, subject: /./ })).map(({ subject }) => subject);

/** Sets a new password with the link in the email. */
async function resetPassword({ email }: TestPerson) {
  await server.call(account.requestPasswordReset, {}, { body: { email } });
  const mails = await readPlatformEmails(server.pool, { to: email, subject: /password/ });
  const token = /reset-password\/([A-Za-z0-9_-]+)/.exec(mails.at(-1)?.text ?? "")?.[1];
  const body = { token, newPassword: "a quite new password" };
  expect((await server.call(account.resetPassword, {}, { anyBody: body })).status).toBe(200);
}

test("keeps passkeys when the password is reset by email", async () => {
  const person = await server.signUp();
  await server.prove(person);
  const { passkey } = await withPasskey(person);
  await resetPassword(person);
  expect((await enter(await show(passkey))).status).toBe(200);
});

test("signs in with a passkey, lists its name and use, and rejects it once removed", async () => {
  const person = await server.signUp();
  const { id, passkey } = await withPasskey(person);
  expect(await listOf(person)).toEqual([
    { id, name: "Laptop", createdAt: expect.any(String), lastUsedAt: null },
  ]);
  const entered = await enter(await show(passkey));
  expect([entered.status, await whoIs(entered)]).toEqual([200, person.id]);
  expect((await call(person, "PATCH", `/${id}`, { name: "Old laptop" })).status).toBe(200);
  expect(await listOf(person)).toMatchObject([{ name: "Old laptop", lastUsedAt: expect.any(String) }]);
  // The browser excludes authenticators that already have a passkey.
  expect((await begin(person)).excludeCredentials).toMatchObject([{ id: passkey.id }]);
  expect((await call(person, "DELETE", `/${id}`)).status).toBe(204);
  expect(errorOf(await enter(await show(passkey)))).toBe("401 INVALID_CREDENTIALS");
  expect(await mailsTo(person)).toEqual([
    "Confirm your email address",
    "A passkey was added to your account",
    "New sign-in to your account",
    "A passkey was removed from your account",
  ]);
});

test("adds no passkey when the session ended during its verification", async () => {
  const person = await server.signUp();
  const { challenge, user } = await begin(person);
  const passkey = createSoftPasskey(user.id).register({ ...HERE, challenge });
  const [reply] = await holdRow(
    server.pool,
    ["select 1 from users where id = $1", person.id],
    () => [call(person, "POST", "", { name: "Late", passkey })],
    (client) => client.query("delete from sessions where user_id = $1", [person.id]),
  );
  expect(reply === undefined ? "" : errorOf(reply)).toBe("401 UNAUTHORIZED");
  expect(await server.rows("select 1 from passkeys where user_id = $1", person.id)).toEqual([]);
});

test("a passkey counts as second factor, alone or instead of a code after the password", async () => {
  const person = await server.signUp();
  const { passkey } = await withPasskey(person);
  const stranger = await server.signUp();
  const { passkey: foreign } = await withPasskey(stranger);
  const factor = "/users/@me/second-factor";
  const begun = await server.call<{ secret: string }>(
    "POST",
    factor,
    { cookie: person.cookie },
    { currentPassword: person.password },
  );
  const code = codeAt(fromBase32(begun.body.secret), Math.floor(Date.now() / STEP_MS));
  const confirmed = await server.call<{ recoveryCodes: string[] }>(
    "POST",
    `${factor}/confirm`,
    { cookie: person.cookie },
    { code },
  );
  const logIn = (more: object) =>
    server.call(users.logIn, {}, { body: { email: person.email, password: person.password, ...more } });
  expect(errorOf(await logIn({}))).toBe("401 SECOND_FACTOR_REQUIRED");
  expect((await enter(await show(passkey))).status).toBe(200);
  const beside = await logIn({ passkey: await show(passkey) });
  expect([beside.status, await whoIs(beside)]).toEqual([200, person.id]);
  expect(errorOf(await logIn({ passkey: await show(foreign) }))).toBe("401 INVALID_CREDENTIALS");
  expect(errorOf(await logIn({ password: "wrong password", passkey: await show(passkey) }))).toBe(
    "401 INVALID_CREDENTIALS",
  );
  // Recovery codes are unchanged and still work.
  expect((await logIn({ code: confirmed.body.recoveryCodes[0] })).status).toBe(200);
});

const truncated = (shown: Shown, part: keyof Shown["response"]): unknown => ({
  ...shown,
  response: { ...shown.response, [part]: shown.response[part].slice(0, 20) },
});

test("rejects every invalid passkey with the error of an unknown one", async () => {
  const person = await server.signUp();
  const { passkey, handle } = await withPasskey(person);
  const stranger = await withPasskey(await server.signUp());
  const creation = (await begin(person)).challenge;
  const bad: Record<string, () => Promise<unknown>> = {
    "another origin": () => show(passkey, { origin: "https://evil.example" }),
    "another port": () => show(passkey, { origin: `https://${HERE.rpId}:8443` }),
    "another relying party": () => show(passkey, { rpId: "evil.example" }),
    "a challenge nobody gave": () => show(passkey, { challenge: "bm90IG91cnM" }),
    "a challenge to add a passkey": () => show(passkey, { challenge: creation }),
    "signed to be added": () => show(passkey, { type: "webauthn.create" }),
    "nobody verified": () => show(passkey, { isVerified: false }),
    "somebody else's handle": () => show(passkey, { userHandle: stranger.handle }),
    "an unknown passkey": () => show(createSoftPasskey(handle)),
    "the signature of another key": async () => ({ ...(await show(stranger.passkey)), id: passkey.id }),
    "a short signature": async () => truncated(await show(passkey), "signature"),
    "short authenticator data": async () => truncated(await show(passkey), "authenticatorData"),
    "short client data": async () => truncated(await show(passkey), "clientDataJSON"),
  };
  const names = Object.keys(bad);
  const texts = new Set<string>();
  const responses = await responsesByName(names, String, async (name) => {
    const reply = await enter(await bad[name]?.());
    texts.add(reply.body.error.message);
    // Disables the failure limit per passkey, which another test covers.
    await server.rows("delete from rate_windows where bucket like 'passkey:%'");
    return errorOf(reply);
  });
  expect(responses).toEqual(sameByName(names, String, () => "401 INVALID_CREDENTIALS"));
  expect(texts.size).toBe(1);
  const malformed = await enter({ ...(await show(passkey)), id: "not base64url!" });
  expect([errorOf(malformed), faultsOf(malformed)]).toEqual([
    "422 VALIDATION_ERROR",
    ["passkey.id invalid_string"],
  ]);
});

test("accepts a challenge once across all processes and not when expired", async () => {
  const person = await server.signUp();
  const { passkey } = await withPasskey(person);
  const shown = await show(passkey);
  const another = await server.startAnother();
  const both = await Promise.all(
    [server, another].map((one) => one.call(passkeys.logInByPasskey, {}, { body: { passkey: shown } })),
  );
  expect(both.map(({ status }) => status).toSorted()).toEqual([200, 401]);
  const late = await show(passkey);
  await server.rows("update passkey_challenges set expires_at = now() - interval '1 second'");
  expect(errorOf(await enter(late))).toBe("401 INVALID_CREDENTIALS");
  const { challenge, user } = await begin(person);
  await server.rows("update passkey_challenges set expires_at = now() - interval '1 second'");
  const registered = createSoftPasskey(user.id).register({ ...HERE, challenge });
  const added = await call(person, "POST", "", { name: "Late", passkey: registered });
  expect([errorOf(added), faultsOf(added)]).toEqual(["422 VALIDATION_ERROR", ["passkey custom"]]);
});

test("rejects a counter that went back unless the passkey never counts", async () => {
  const { passkey } = await withPasskey(await server.signUp());
  const statusAt = async (count: number) => (await enter(await show(passkey, { count }))).status;
  expect([await statusAt(0), await statusAt(0)]).toEqual([200, 200]);
  expect([
    await statusAt(7),
    await statusAt(7),
    await statusAt(6),
    await statusAt(0),
    await statusAt(8),
  ]).toEqual([200, 401, 401, 401, 200]);
  const twice = await Promise.all([show(passkey, { count: 9 }), show(passkey, { count: 9 })]);
  const both = await Promise.all(twice.map(enter));
  expect(both.map(({ status }) => status).toSorted()).toEqual([200, 401]);
});

test("rejects passkeys of another site, another user or with a certificate", async () => {
  const [person, stranger] = [await server.signUp(), await server.signUp()];
  const foreign = (await begin(stranger)).challenge;
  const { passkey: known } = await withPasskey(stranger);
  const bad: Record<string, (said: Said, passkey: SoftPasskey) => object> = {
    "another origin": (said, passkey) => passkey.register({ ...said, origin: "https://evil.example" }),
    "another relying party": (said, passkey) => passkey.register({ ...said, rpId: "evil.example" }),
    "somebody else's challenge": (said, passkey) => passkey.register({ ...said, challenge: foreign }),
    "signed to log in": (said, passkey) => passkey.register({ ...said, type: "webauthn.get" }),
    "nobody verified": (said, passkey) => passkey.register({ ...said, isVerified: false }),
    "a certificate": (said, passkey) =>
      passkey.register(said, { alg: -7, sig: Buffer.from("signed"), x5c: [Buffer.from("certificate")] }),
    "another id": (said, passkey) => ({ ...passkey.register(said), id: known.id }),
  };
  const names = Object.keys(bad);
  const responses = await responsesByName(names, String, async (name) => {
    const { challenge, user } = await begin(person);
    const passkey = bad[name]?.({ ...HERE, challenge }, createSoftPasskey(user.id));
    const reply = await call(person, "POST", "", { name, passkey });
    return [errorOf(reply), ...faultsOf(reply)].join(" ");
  });
  expect(responses).toEqual(sameByName(names, String, () => "422 VALIDATION_ERROR passkey custom"));
  const { challenge } = await begin(person);
  const taken = await call(person, "POST", "", {
    name: "Taken",
    passkey: known.register({ ...HERE, challenge }),
  });
  expect(errorOf(taken)).toBe("409 CONFLICT");
  expect(await listOf(person)).toEqual([]);
});

test("rejects changes in sessions older than an hour and hides other users' passkeys", async () => {
  const [person, stranger] = [await server.signUp(), await server.signUp()];
  const { id } = await withPasskey(person);
  const { challenge, user } = await begin(person);
  expect(errorOf(await call(stranger, "DELETE", `/${id}`))).toBe("404 RESOURCE_NOT_FOUND");
  expect(errorOf(await call(stranger, "PATCH", `/${id}`, { name: "Mine" }))).toBe("404 RESOURCE_NOT_FOUND");
  await server.rows(
    "update sessions set created_at = now() - interval '61 minutes' where user_id = $1",
    person.id,
  );
  const registered = createSoftPasskey(user.id).register({ ...HERE, challenge });
  for (const reply of [
    await call(person, "POST", "/options"),
    await call(person, "POST", "", { name: "Late", passkey: registered }),
    await call(person, "DELETE", `/${id}`),
  ])
    expect(errorOf(reply)).toBe("403 SESSION_TOO_OLD");
  expect((await call(person, "PATCH", `/${id}`, { name: "Renamed" })).status).toBe(200);
});

test("keeps the only passkey of an account without a password", async () => {
  const person = await server.signUp();
  const [first, second] = [await withPasskey(person), await withPasskey(person, "Telephone")];
  await server.rows("update users set password_hash = null where id = $1", person.id);
  const both = await Promise.all([first, second].map(({ id }) => call(person, "DELETE", `/${id}`)));
  expect(both.map(({ status }) => status).toSorted()).toEqual([204, 409]);
  expect(await listOf(person)).toHaveLength(1);
});

test("limits passkeys per account and failures per passkey and network", async () => {
  await inOneWindow(server, 600, async () => {
    const person = await server.signUp();
    const { passkey } = await withPasskey(person);
    for (let failure = 0; failure < LIMITS.loginFailures.value; failure++)
      expect(errorOf(await enter(await show(passkey, { isVerified: false })))).toBe(
        "401 INVALID_CREDENTIALS",
      );
    expect(errorOf(await enter(await show(passkey)))).toBe("429 RATE_LIMIT_EXCEEDED");
    await server.rows(
      `insert into passkeys (id, user_id, credential_id, public_key, sign_count, transports, name)
       select gen_random_uuid(), $1::uuid, sha256(($1::uuid || ' ' || n)::bytea), '\\x00', 0, '{}', 'more' from generate_series(2, $2) n`,
      person.id,
      LIMITS.passkeys.value,
    );
    expect(errorOf(await call(person, "POST", "/options"))).toBe("409 CONFLICT");
  });
});
