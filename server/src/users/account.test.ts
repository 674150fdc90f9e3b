// Accounts and the links in their emails. Each link works once, for one purpose and a limited time.
import { expect, test } from "vitest";
import * as account from "@postloft/contract/account.ts";
import * as contacts from "@postloft/contract/contacts.ts";
import * as users from "@postloft/contract/users.ts";
import * as v1 from "@postloft/contract/v1.ts";
import { LIMITS } from "@postloft/contract/limits/limits.ts";
import { holdRow } from "../testing/hold-row.ts";
import {
  cookieOf,
  faultsOf,
  errorOf,
  inOneWindow,
  useTestServer,
  type TestPerson,
} from "../testing/test-server.ts";
import { readPlatformEmails } from "../testing/platform-emails.ts";

const server = useTestServer({ ROLES: "api" });
const NEW_PASSWORD = "a quite new password";

const call = <Body>(method: string, path: string, caller: object = {}, body?: unknown) =>
  server.call<Body>(method, path, caller, body);
const logIn = (email: string, password: string) =>
  server.call(users.logIn, {}, { body: { email, password } });
const me = async ({ cookie }: { cookie: string }) => (await server.call(users.getMe, { cookie })).status;

/** Returns the emails to an address, newest first. */
const mailsTo = async (email: string) =>
  (await readPlatformEmails(server.pool, { to: email, subject: /./ })).toReversed();

/** Creates an account with a confirmed address. */
async function signUp(): Promise<TestPerson> {
  const person = await server.signUp();
  await server.prove(person);
  return person;
}

/** Returns the token of the link in the newest email. */
async function tokenTo(email: string): Promise<string> {
  const [mail] = await mailsTo(email);
  return /\/account\/[a-z-]+\/([A-Za-z0-9_-]+)/.exec(mail?.text ?? "")?.[1] ?? "";
}

const isVerified = async (email: string) =>
  (
    await server.rows<{ is: boolean }>(
      "select verified_at is not null as is from users where email = $1",
      email,
    )
  )[0]?.is;

async function askReset({ email }: { email: string }): Promise<string> {
  expect((await call("POST", "/auth/request-password-reset", {}, { email })).status).toBe(200);
  return tokenTo(email);
}

test("sends a new account an HTML and text email with a single-use confirmation link", async () => {
  const person = await server.signUp();
  const [mail] = await mailsTo(person.email);
  expect(mail?.subject).toBe("Confirm your email address");
  expect(mail?.html).toContain("<!doctype html>");
  const token = await tokenTo(person.email);
  expect(mail?.html).toContain(`/account/verify-email/${token}"`);
  expect(await isVerified(person.email)).toBe(false);
  const reply = await call("POST", "/auth/verify-email", {}, { token });
  expect(reply.body).toEqual({ success: true, data: { id: person.id, email: person.email } });
  expect(await isVerified(person.email)).toBe(true);
  expect(errorOf(await server.call(account.verifyEmail, {}, { body: { token } }))).toBe("400 TOKEN_INVALID");
});

test("sends the confirmation again, invalidates the previous link, and limits requests", async () => {
  await inOneWindow(server, 3_600, async () => {
    const person = await server.signUp();
    const first = await tokenTo(person.email);
    const again = () => server.call(account.requestVerification, { cookie: person.cookie });
    expect((await again()).status).toBe(200);
    const second = await tokenTo(person.email);
    expect(errorOf(await server.call(account.verifyEmail, {}, { body: { token: first } }))).toBe(
      "400 TOKEN_INVALID",
    );
    for (let number = 1; number < LIMITS.accountMails.value; number++)
      expect((await again()).status).toBe(200);
    expect(errorOf(await again())).toBe("429 RATE_LIMIT_EXCEEDED");
    expect(second).not.toBe(first);
  });
});

test("resets a forgotten password by a single link once and ends all sessions", async () => {
  const person = await signUp();
  const other = { cookie: cookieOf(await logIn(person.email, person.password)) };
  const token = await askReset(person);
  expect(
    faultsOf(await server.call(account.resetPassword, {}, { body: { token, newPassword: "short" } })),
  ).toEqual(["newPassword too_small"]);
  const own = { token, newPassword: person.email };
  expect(faultsOf(await server.call(account.resetPassword, {}, { body: own }))).toEqual([
    "newPassword custom",
  ]);
  const set = () => server.call(account.resetPassword, {}, { body: { token, newPassword: NEW_PASSWORD } });
  expect((await set()).status).toBe(200);
  expect([await me(person), await me(other)]).toEqual([401, 401]);
  expect((await logIn(person.email, person.password)).status).toBe(401);
  expect((await logIn(person.email, NEW_PASSWORD)).status).toBe(200);
  expect(errorOf(await set())).toBe("400 TOKEN_INVALID");
  expect((await mailsTo(person.email))[1]?.subject).toBe("Your password was changed");
});

const timeReset = async (email: string) => {
  const startedMs = performance.now();
  const { status, body } = await call<{ data: object }>(
    "POST",
    "/auth/request-password-reset",
    {},
    { email },
  );
  return { status, data: body.data, ms: performance.now() - startedMs };
};

/** Other work in this process only adds time, so the minimum of three is the real cost. */
async function leastReset(email: string) {
  const runs = [await timeReset(email), await timeReset(email), await timeReset(email)];
  return runs.reduce((one, other) => (other.ms < one.ms ? other : one));
}

test("reveals neither in the response nor its time whether an address has an account", async () => {
  const person = await signUp();
  const known = await leastReset(person.email);
  const unknown = await leastReset("nobody@example.com");
  expect({ ...known, ms: 0 }).toEqual({ ...unknown, ms: 0 });
  expect(Math.abs(known.ms - unknown.ms)).toBeLessThan(200);
  expect(await mailsTo("nobody@example.com")).toEqual([]);
});

test.each(["", "x", "../../etc/passwd", "a".repeat(43), "é".repeat(43), "a".repeat(100), "null"])(
  "rejects the token %j",
  async (token) => {
    for (const [path, body] of [
      ["/auth/verify-email", { token }],
      ["/auth/reset-password", { token, newPassword: NEW_PASSWORD }],
    ] as const)
      expect([400, 422]).toContain((await call("POST", path, {}, body)).status);
  },
);

test("accepts a token only for its purpose, its lifetime and its account", async () => {
  const person = await server.signUp();
  const verification = await tokenTo(person.email);
  await server.prove(person);
  const reset = await askReset(person);
  const use = (token: string) =>
    server.call(account.resetPassword, {}, { body: { token, newPassword: NEW_PASSWORD } });
  expect(errorOf(await use(verification))).toBe("400 TOKEN_INVALID");
  expect(errorOf(await use(reset.slice(0, -1)))).toBe("400 TOKEN_INVALID");
  expect(errorOf(await server.call(account.verifyEmail, {}, { body: { token: reset } }))).toBe(
    "400 TOKEN_INVALID",
  );
  await server.rows(
    "update account_tokens set expires_at = now() - interval '1 second' where user_id = $1",
    person.id,
  );
  expect(errorOf(await use(reset))).toBe("400 TOKEN_INVALID");
  expect(errorOf(await server.call(account.verifyEmail, {}, { body: { token: verification } }))).toBe(
    "400 TOKEN_INVALID",
  );
  expect(
    await server.rows(
      "select 1 from account_tokens where encode(hash, 'escape') like '%' || $1 || '%'",
      reset,
    ),
  ).toEqual([]);
  expect(await me(person)).toBe(200);
});

test("sets the password once when the same link is opened twenty times concurrently", async () => {
  const token = await askReset(await signUp());
  const replies = await Promise.all(
    Array.from({ length: 20 }, (_, at) =>
      call("POST", "/auth/reset-password", {}, { token, newPassword: `${NEW_PASSWORD} ${at}` }),
    ),
  );
  expect(replies.filter(({ status }) => status === 200)).toHaveLength(1);
  expect(replies.filter(({ status }) => status !== 200 && status !== 400)).toEqual([]);
});

test("changing the password requires the old one and ends the other sessions", async () => {
  const person = await server.signUp();
  const other = { cookie: cookieOf(await logIn(person.email, person.password)) };
  const change = (currentPassword: string, newPassword: string) =>
    server.call(
      account.changePassword,
      { cookie: person.cookie },
      { body: { currentPassword, newPassword } },
    );
  expect(errorOf(await change("not my password", NEW_PASSWORD))).toBe("401 INVALID_CREDENTIALS");
  expect(faultsOf(await change(person.password, person.email))).toEqual(["newPassword custom"]);
  expect((await change(person.password, NEW_PASSWORD)).status).toBe(200);
  expect([await me(person), await me(other)]).toEqual([200, 401]);
  for (let number = 0; number <= LIMITS.loginFailures.value; number++) await change("guess", NEW_PASSWORD);
  expect((await change(NEW_PASSWORD, person.password)).status).toBe(200);
});

test("changes the address after confirmation and invalidates a reset link of the old one", async () => {
  const person = await signUp();
  const reset = await askReset(person);
  const newEmail = `new-${person.email}`;
  const ask = (email: string, currentPassword = person.password) =>
    server.call(
      account.changeEmail,
      { cookie: person.cookie },
      { body: { currentPassword, newEmail: email } },
    );
  expect(errorOf(await ask(newEmail, "not my password"))).toBe("401 INVALID_CREDENTIALS");
  expect((await ask(newEmail)).status).toBe(200);
  expect((await mailsTo(person.email))[0]?.subject).toBe("Your email address is about to change");
  expect((await logIn(newEmail, person.password)).status).toBe(401);
  const token = await tokenTo(newEmail);
  expect((await call("POST", "/auth/verify-email", {}, { token })).status).toBe(200);
  expect([
    (await logIn(newEmail, person.password)).status,
    (await logIn(person.email, person.password)).status,
  ]).toEqual([200, 401]);
  const { status } = await call(
    "POST",
    "/auth/reset-password",
    {},
    { token: reset, newPassword: NEW_PASSWORD },
  );
  expect(status).toBe(400);
});

/** Opens new windows of all rate limits. */
const nextHour = () => server.rows("delete from rate_windows");

const askForAddress = ({ cookie, password }: TestPerson, newEmail: string) =>
  call("POST", "/users/@me/email", { cookie }, { currentPassword: password, newEmail });

test("pending requests made with the old password change nothing once the sessions have ended", async () => {
  const person = await server.signUp();
  const known = { currentPassword: person.password };
  const ask = (path: string, body: object) =>
    server.call("POST", `/users/@me${path}`, { cookie: person.cookie }, { ...known, ...body });
  const replies = await holdRow(
    server.pool,
    ["select 1 from users where id = $1", person.id],
    () => [
      ask("/password", { newPassword: NEW_PASSWORD }),
      ask("/email", { newEmail: "thief@example.com" }),
      ask("/second-factor", {}),
    ],
    (client) => client.query("delete from sessions where user_id = $1", [person.id]),
  );
  expect(replies.map(errorOf)).toEqual(Array(3).fill("401 UNAUTHORIZED"));
  expect((await logIn(person.email, NEW_PASSWORD)).status).toBe(401);
  expect(await mailsTo("thief@example.com")).toEqual([]);
});

test("a confirmation requested during a change of address does not restore the old one", async () => {
  const person = await server.signUp();
  const first = await tokenTo(person.email);
  const moved = `moved-${person.email}`;
  const [reply] = await holdRow(
    server.pool,
    ["select 1 from users where id = $1", person.id],
    () => [call("POST", "/auth/request-verification", { cookie: person.cookie })],
    (client) =>
      client.query("update users set email = $2, verified_at = now() where id = $1", [person.id, moved]),
  );
  expect(reply?.status).toBe(200);
  expect(await tokenTo(person.email)).toBe(first);
});

test("keeps an address with the account that took it in between", async () => {
  const [person, other, third] = [await server.signUp(), await server.signUp(), await server.signUp()];
  const newEmail = "wanted@example.com";
  await askForAddress(person, newEmail);
  const first = await tokenTo(newEmail);
  for (const who of [person, other]) expect((await askForAddress(who, newEmail)).status).toBe(429);
  expect(await mailsTo(newEmail)).toHaveLength(1);
  await nextHour();
  await askForAddress(other, newEmail);
  const second = await tokenTo(newEmail);
  const prove = async (token: string) =>
    errorOf(await server.call(account.verifyEmail, {}, { body: { token } }));
  const replies = await Promise.all([prove(first), prove(second)]);
  expect(replies.filter((reply) => reply === "409 CONFLICT")).toHaveLength(1);
  expect((await askForAddress(person, third.email)).status).toBe(200);
  expect(await mailsTo(third.email)).toHaveLength(1);
});

test("lists and ends only the user's own sessions", async () => {
  const [person, stranger] = [await server.signUp(), await server.signUp()];
  const second = { cookie: cookieOf(await logIn(person.email, person.password)) };
  const third = { cookie: cookieOf(await logIn(person.email, person.password)) };
  const { body } = await call<Array<{ id: string; isCurrent: boolean }>>("GET", "/users/@me/sessions", third);
  expect(body.map(({ isCurrent }) => isCurrent)).toEqual([true, false, false]);
  const end = (id: string | undefined, caller: object) =>
    server.call("DELETE", `/users/@me/sessions/${id}`, caller);
  expect(errorOf(await end(body[1]?.id, { cookie: stranger.cookie }))).toBe("404 SESSION_NOT_FOUND");
  expect((await end(body[1]?.id, third)).status).toBe(204);
  expect([await me(person), await me(second), await me(third)]).toEqual([200, 401, 200]);
  expect((await call("DELETE", "/users/@me/sessions", third)).body).toEqual({ ended: 1 });
  expect([await me(person), await me(third), await me(stranger)]).toEqual([401, 200, 200]);
});

test("link pages work without scripts: GET changes nothing, the button acts, errors are shown", async () => {
  const person = await server.signUp();
  const page = (method: string, path: string, form?: string) =>
    fetch(`${server.url}${path}`, {
      method,
      ...(form === undefined
        ? {}
        : { body: form, headers: { "content-type": "application/x-www-form-urlencoded" } }),
    });
  const verify = `/account/verify-email/${await tokenTo(person.email)}`;
  const shown = await page("GET", verify);
  expect([shown.status, shown.headers.get("content-security-policy")]).toEqual([
    200,
    expect.stringContaining("default-src 'none'"),
  ]);
  expect(await isVerified(person.email)).toBe(false);
  expect((await page("POST", verify, "")).status).toBe(200);
  expect(await isVerified(person.email)).toBe(true);
  const again = await page("POST", verify, "");
  expect([again.status, await again.text()]).toEqual([
    400,
    expect.stringContaining("This link is no longer valid."),
  ]);
  const reset = `/account/reset-password/${await askReset(person)}`;
  const short = await page("POST", reset, "newPassword=short");
  expect([short.status, await short.text()]).toEqual([422, expect.stringContaining('role="alert"')]);
  expect((await page("POST", reset, "newPassword=password123")).status).toBe(422);
  expect((await page("POST", reset, `newPassword=${encodeURIComponent(NEW_PASSWORD)}`)).status).toBe(200);
  expect((await logIn(person.email, NEW_PASSWORD)).status).toBe(200);
});

test("ends or rejects a sign-in with the old password during a password change", async () => {
  const person = await signUp();
  const token = await askReset(person);
  const [reset, ...logIns] = await Promise.all([
    call("POST", "/auth/reset-password", {}, { token, newPassword: NEW_PASSWORD }),
    ...Array.from({ length: 8 }, () => logIn(person.email, person.password)),
  ]);
  expect(reset.status).toBe(200);
  const cookies = logIns.flatMap((reply) => (reply.status === 200 ? [{ cookie: cookieOf(reply) }] : []));
  for (const one of cookies) expect(await me(one)).toBe(401);
  expect(await server.rows("select 1 from sessions where user_id = $1", person.id)).toEqual([]);
});

test("a new password invalidates links requested with the old one, except the own confirmation", async () => {
  const person = await server.signUp();
  const own = await tokenTo(person.email);
  await server.prove(person);
  const reset = await askReset(person);
  await server.rows("update users set verified_at = null where id = $1", person.id);
  const stolen = "thief@example.com";
  await askForAddress(person, stolen);
  const theft = await tokenTo(stolen);
  await server.call(account.requestVerification, { cookie: person.cookie });
  const again = await tokenTo(person.email);
  await nextHour();
  await askForAddress(person, stolen);
  const change = { currentPassword: person.password, newPassword: NEW_PASSWORD };
  expect((await call("POST", "/users/@me/password", { cookie: person.cookie }, change)).status).toBe(200);
  for (const token of [own, theft, again, await tokenTo(stolen)])
    expect((await call("POST", "/auth/verify-email", {}, { token })).status).toBe(400);
  expect(
    (await call("POST", "/auth/reset-password", {}, { token: reset, newPassword: NEW_PASSWORD })).status,
  ).toBe(400);
  expect((await server.call(account.requestVerification, { cookie: person.cookie })).status).toBe(200);
  const proof = await tokenTo(person.email);
  const other = { currentPassword: NEW_PASSWORD, newPassword: person.password };
  expect((await call("POST", "/users/@me/password", { cookie: person.cookie }, other)).status).toBe(200);
  expect((await call("POST", "/auth/verify-email", {}, { token: proof })).status).toBe(200);
});

test("blocks sending in a session until the address is confirmed, if required, but not by key", async () => {
  const strict = await server.startAnother({ REQUIRE_EMAIL_VERIFICATION: "true" });
  const project = await server.createProject(await server.signUp());
  const mail = {
    to: "ada@example.com",
    from: "hello@sandbox.localhost",
    subject: "Hello",
    body: "<p>Hello</p>",
  };
  const headers = { "x-project-id": project.id };
  const send = (one: typeof strict | typeof server, caller: object) =>
    one.call(v1.send, caller, { body: mail });
  const person = { cookie: project.owner.cookie, headers };
  expect((await send(server, person)).status).toBe(200);
  const refused = await strict.call(v1.send, person, { body: mail });
  expect(errorOf(refused)).toBe("403 EMAIL_VERIFICATION_REQUIRED");
  expect((await strict.call(contacts.listContacts, person)).status).toBe(200);
  expect((await send(strict, project.byKey)).status).toBe(200);
  const token = await tokenTo(project.owner.email);
  expect((await call("POST", "/auth/verify-email", {}, { token })).status).toBe(200);
  expect((await send(strict, person)).status).toBe(200);
});

test.for([
  [
    "de-AT,de;q=0.9,en;q=0.5",
    "de",
    "Neues Passwort setzen",
    "Wählen Sie ein anderes Passwort: 10 bis ",
    "Dieser Link gilt nicht mehr.",
  ],
  [
    "fr",
    "fr",
    "Définir un nouveau mot de passe",
    "Choisissez un autre mot de passe : de 10 à ",
    "Ce lien n’est plus valable.",
  ],
  [
    "es-MX",
    "es",
    "Establecer una contraseña nueva",
    "Elija otra contraseña: de 10 a ",
    "Este enlace ya no es válido",
  ],
  ["ja, nl", "en", "Set a new password", "Choose another password: 10 to ", "This link is no longer valid."],
] as const)(
  "shows link pages and their errors in the browser's language (%s)",
  async ([wish, language, title, password, token]) => {
    const headers = { "accept-language": wish, "content-type": "application/x-www-form-urlencoded" };
    const path = "/account/reset-password/none";
    const post = (newPassword: string) =>
      fetch(`${server.url}${path}`, { method: "POST", headers, body: new URLSearchParams({ newPassword }) });
    const asked = await fetch(`${server.url}${path}`, { headers });
    const html = await asked.text();
    expect(html).toContain(`<html lang="${language}"`);
    expect(html).toContain(`<h1>${title}</h1>`);
    const short = await post("short");
    expect([short.status, await short.text()]).toEqual([422, expect.stringContaining(password)]);
    const foreign = await post(NEW_PASSWORD);
    expect([foreign.status, await foreign.text()]).toEqual([400, expect.stringContaining(token)]);
  },
);
