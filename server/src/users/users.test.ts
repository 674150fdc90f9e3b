// Accounts over HTTP: signing up, logging in and out, and what guessing meets.
import { randomFill } from "node:crypto";
import { promisify } from "node:util";
import { expect, test, vi } from "vitest";
import { LIMITS } from "@postloft/contract/limits.ts";
import { findPassword } from "./find-password.ts";
import type { Passwords } from "./passwords.ts";
import { findUserByCredentials } from "./users.ts";
import {
  cookieOf,
  faultsOf,
  inOneWindow,
  refusalOf,
  useTestServer,
  type Call,
} from "../testing/test-server.ts";

const server = useTestServer({ ROLES: "api" });

interface Account {
  success: boolean;
  data: { id: string; email: string };
}

const password = "correct horse battery staple";
let made = 0;
const newAddress = () => `ada${++made}@example.com`;
const signUp = (body: unknown) => server.call<Account>("POST", "/auth/signup", {}, body);
const logIn = (body: unknown, call: Call = server.call) => call<Account>("POST", "/auth/login", {}, body);
const failedLogIn = (body: unknown) => server.call("POST", "/auth/login", {}, body);
const readMe = (cookie: string) =>
  server.call<{ id: string; email: string }>("GET", "/users/@me", { cookie });

test("signing up answers the account and logs in", async () => {
  const email = newAddress();
  const reply = await signUp({ email: ` ${email.toUpperCase()} `, password });
  expect(reply.status).toBe(200);
  expect(reply.body).toEqual({ success: true, data: { id: expect.any(String), email } });
  const me = await readMe(cookieOf(reply));
  expect(me.body).toEqual(reply.body.data);
});

test("the cookie is kept from scripts, other sites and, with https, from plain connections", async () => {
  const reply = await signUp({ email: newAddress(), password });
  const [cookie = ""] = reply.headers.getSetCookie();
  expect(cookie).toMatch(
    /^postloft_session=[\w-]+\.[\w-]+\.[\w-]+; Max-Age=604800; Path=\/; HttpOnly; SameSite=Lax$/,
  );
  const secure = await server.startAnother({ BASE_URL: "https://mail.example.com" });
  const overHttps = await secure.call("POST", "/auth/signup", {}, { email: newAddress(), password });
  expect(overHttps.headers.getSetCookie()[0]).toMatch(
    /^__Host-postloft_session=\S+; Max-Age=604800; Path=\/; HttpOnly; SameSite=Lax; Secure$/,
  );
});

test("who signs up again with the same password has the same account, however the address is spelled", async () => {
  const first = await signUp({ email: "grace@bücher.example", password });
  const again = await signUp({ email: "GRACE@xn--bcher-kva.example", password });
  const back = await logIn({ email: "Grace@BÜCHER.example", password });
  expect([again.body, back.body]).toEqual(Array(2).fill(first.body));
  expect((await readMe(cookieOf(again))).body).toEqual(first.body.data);
});

test("of several sign-ups at once with one address and password one makes the account", async () => {
  const email = newAddress();
  // The thread that hashes has started: nobody waits for the lock longer than a statement may.
  await signUp({ email: newAddress(), password });
  const holder = await server.pool.connect();
  let replies: Array<ReturnType<typeof signUp>> = [];
  try {
    // All have looked for the account before one of them could write it.
    await holder.query("begin; lock table users in share mode");
    replies = Array.from({ length: 3 }, () => signUp({ email, password }));
    await vi.waitUntil(async () => {
      const waiting = "select from pg_locks where not granted and locktype in ('relation', 'advisory')";
      return (await server.rows(waiting)).length === 3;
    }, 30_000);
  } finally {
    await holder.query("commit");
    holder.release();
  }
  const ids = (await Promise.all(replies)).map(({ body }) => body.data.id);
  expect([ids.length, new Set(ids).size]).toEqual([3, 1]);
});

test("an address takes so many sign-ups in a day, whether it has an account or not", async () => {
  await inOneWindow(server, 86_400, async () => {
    const known = (await server.signUp()).email;
    await server.rows("delete from rate_windows");
    for (const email of [known, newAddress()]) {
      const statuses = [];
      for (let at = 0; at <= LIMITS.signUpsAs.value; at++)
        statuses.push((await signUp({ email, password })).status);
      expect(statuses).toEqual([...Array(LIMITS.signUpsAs.value).fill(200), 429]);
    }
  });
});

test("an address of somebody looks like one of nobody to whoever signs up with it, then and later", async () => {
  const known = await server.signUp();
  await server.rows("update users set verified_at = now() where id = $1", known.id);
  const unproved = newAddress();
  const own = await signUp({ email: unproved, password });
  /** All that a stranger sees of an account they sign up for, without what differs anyway. */
  const seen = async (email: string) => {
    const first = await signUp({ email, password: "a password of a stranger" });
    const cookie = cookieOf(first);
    const call = (method: "GET" | "POST", path: string, body?: object) =>
      server.call(method, path, { cookie }, body);
    const replies = [
      first,
      await signUp({ email, password: "a password of a stranger" }),
      await signUp({ email, password: "another of a stranger" }),
      await logIn({ email, password: "a password of a stranger" }),
      await logIn({ email, password: "another of a stranger" }),
      await failedLogIn({ email, password: "one that nobody has" }),
      await call("GET", "/users/@me"),
      await call("GET", "/users/@me/identities"),
      await call("POST", "/auth/request-verification"),
      await call("POST", "/auth/request-password-reset", { email }),
      await call("POST", "/users/@me/projects", { name: "A project" }),
    ];
    const text = replies.map((reply) => `${reply.status} ${reply.text}`).join("\n");
    const names = new Map<string, string>();
    const nameOf = (one: string) => names.set(one, names.get(one) ?? `id ${names.size}`).get(one) ?? "";
    return text
      .replaceAll(email, "address")
      .replaceAll(/[0-9a-f]{8}-[0-9a-f-]{27}/g, nameOf)
      .replaceAll(/[ps]k_\w+|req_\w+|\d{4}-\d\d-\d\dT[\d:.]+Z/g, "");
  };
  const nobodys = await seen(newAddress());
  expect(await seen(known.email)).toBe(nobodys);
  expect(await seen(unproved)).toBe(nobodys);
  expect(nobodys).toMatch(/^200 .*\n200 .*\n200 .*\n200 .*\n200 .*\n401 /);
  // Those who were there before have what they had.
  expect((await logIn({ email: known.email, password: known.password })).body.data.id).toBe(known.id);
  expect((await logIn({ email: unproved, password })).body.data.id).toBe(own.body.data.id);
});

test("a sign-up with the password of an account that has a second factor opens nothing without a code", async () => {
  const person = { email: newAddress(), password };
  const first = await signUp(person);
  await server.rows(
    "insert into second_factors (user_id, sealed_secret, confirmed_at) values ($1, '', now())",
    first.body.data.id,
  );
  const again = await server.call("POST", "/auth/signup", {}, person);
  expect([refusalOf(again), cookieOf(again)]).toEqual(["401 SECOND_FACTOR_REQUIRED", ""]);
});

test.for([
  [{}, ["email required", "password required"]],
  [{ email: "nobody", password: "1234567" }, ["email invalid_string", "password too_small"]],
  [{ email: "a@example.com", password: "x".repeat(257) }, ["password too_big"]],
  [{ email: 1, password: ["x"] }, ["email invalid_type", "password invalid_type"]],
  [{ email: "a@example.com,b@example.com", password }, ["email invalid_string"]],
  [{ email: "a@example.com\r\nBcc: b@example.com", password }, ["email invalid_string"]],
] as Array<[unknown, string[]]>)("signing up with %j is refused and tells %j", async ([body, faults]) => {
  const reply = await server.call("POST", "/auth/signup", {}, body);
  expect(reply.status).toBe(422);
  expect(faultsOf(reply)).toEqual(faults);
});

test("passwords of 8 to 256 characters of any kind work, and every character counts", async () => {
  for (const good of ["1234567y", "x".repeat(256), "pässwörter mit Leerzeichen 🦀", " ".repeat(8)]) {
    const email = newAddress();
    await signUp({ email, password: good });
    expect((await logIn({ email, password: good })).status).toBe(200);
    expect((await failedLogIn({ email, password: `y${good.slice(1)}` })).status).toBe(401);
  }
  const email = newAddress();
  await signUp({ email, password: `${"x".repeat(100)}a` });
  expect((await failedLogIn({ email, password: `${"x".repeat(100)}b` })).status).toBe(401);
});

test.for([
  ["Password1", "one of the 10,000 most common"],
  ["12345678", "one of the 10,000 most common"],
  ["Countess.Of.Lovelace@example.com", "Must not be the e-mail address"],
  ["countess.of.lovelace", "Must not be the e-mail address"],
])("%s is no password", async ([bad, reason]) => {
  const body = { email: "countess.of.lovelace@example.com", password: bad };
  const reply = await server.call("POST", "/auth/signup", {}, body);
  expect(faultsOf(reply)).toEqual(["password custom"]);
  expect(reply.text).toContain(reason);
});

test("from one network so many accounts are made in an hour, and one that is refused is not counted", async () => {
  await inOneWindow(server, 3_600, async () => {
    await signUp({ email: newAddress(), password });
    const bucket = "signups:127.0.0.1";
    const taken = async () => server.rows("select taken from rate_windows where bucket = $1", bucket);
    await server.rows(
      "update rate_windows set taken = $1 where bucket = $2",
      LIMITS.signUps.value - 1,
      bucket,
    );
    const email = newAddress();
    expect((await signUp({ email, password })).status).toBe(200);
    const refused = await signUp({ email: newAddress(), password });
    expect([refused.status, Number(refused.headers.get("retry-after")) > 0]).toEqual([429, true]);
    await server.rows("update rate_windows set taken = 5 where bucket = $1", bucket);
    expect((await server.call("POST", "/auth/signup", {}, { email, password: "password" })).status).toBe(422);
    expect(await taken()).toEqual([{ taken: 5 }]);
  });
});

test("passwords are stored as argon2id at OWASP's cost, and nowhere in the clear", async () => {
  const hashes = await server.rows<{ passwordHash: string }>("select password_hash from users");
  expect(hashes.length).toBeGreaterThan(0);
  for (const row of hashes) expect(row.passwordHash).toMatch(/^\$argon2id\$v=19\$m=19456,t=2,p=1\$/);
});

test("fields of a sign-up that nobody may set are ignored", async () => {
  const id = "00000000-0000-4000-8000-000000000000";
  const reply = await signUp({ email: newAddress(), password, id, role: "OWNER", isAdmin: true });
  expect(reply.status).toBe(200);
  expect(reply.body.data.id).not.toBe(id);
});

test("a wrong password and an unknown address get the same answer after the same work", async () => {
  const addresses = { known: newAddress(), unknown: newAddress(), several: newAddress() };
  await signUp({ email: addresses.known, password });
  for (const at of [1, 2, 3, 4]) await signUp({ email: addresses.several, password: `${password} ${at}` });
  const answers = [];
  for (const email of Object.values(addresses)) {
    const reply = await failedLogIn({ email, password: "not this one" });
    expect(refusalOf(reply)).toBe("401 INVALID_CREDENTIALS");
    answers.push({ ...reply.body.error, requestId: "" });
  }
  expect(answers).toEqual(Array(3).fill(answers[0]));
  for (const [email, count] of [
    [addresses.known, 1],
    [addresses.unknown, 0],
    [addresses.several, 4],
  ] as const) {
    const find = vi.fn<Passwords["find"]>(async () => ({ index: -1, hash: "" }));
    const asked = { database: server.database, passwords: { find } };
    expect(await findUserByCredentials(asked, { email, password: "not this one" }, "192.0.2.1")).toBeNull();
    const hashes = Array(count).fill(expect.stringMatching(/^\$argon2id/));
    const known = { hashes, hasOldSalts: false };
    expect(find.mock.calls).toEqual([["192.0.2.1", { email, password: "not this one" }, known]]);
  }
});

const alike = (own: string) => `$argon2id$v=19$m=19456,t=2,p=1$salt of the address$${own}`;

test("as many hashes are made for none, one and many accounts of an address", () => {
  const old = "$argon2id$v=19$m=19456,t=2,p=1$another salt$old";
  const work = (hashes: string[], hasOldSalts: boolean) => {
    const hashing = {
      hash: vi.fn<() => string>(() => alike("wrong")),
      verify: vi.fn<() => boolean>(() => false),
    };
    expect(findPassword(hashes, hasOldSalts, hashing)).toEqual({ index: -1, hash: alike("wrong") });
    return [hashing.hash.mock.calls.length, hashing.verify.mock.calls.length];
  };
  for (const hashes of [[], [alike("a")], [alike("a"), alike("b"), alike("c")]]) {
    expect(work(hashes, false)).toEqual([1, 0]);
    expect(work(hashes, true)).toEqual([1, 1]);
  }
  expect(work([old], true)).toEqual([1, 1]);
  expect(work([alike("a"), old], true)).toEqual([1, 1]);
});

test("whoever logs in has a hash with the salt of their address from then on", async () => {
  const { email } = await server.signUp();
  const hashes = () =>
    server.rows<{ passwordHash: string; hasOldSalt: boolean }>(
      "select password_hash, has_old_salt from users where email = $1",
      email,
    );
  const other = newAddress();
  await signUp({ email: other, password });
  await server.rows(
    `update users set has_old_salt = true, password_hash = (select password_hash from users where email = $1) where email = $2`,
    other,
    email,
  );
  const [old] = await hashes();
  expect((await logIn({ email, password: "not this one" })).status).toBe(401);
  expect(await hashes()).toEqual([{ passwordHash: old?.passwordHash, hasOldSalt: true }]);
  for (let at = 0; at < 2; at++) expect((await logIn({ email, password })).status).toBe(200);
  const [renewed] = await hashes();
  expect(renewed?.passwordHash).not.toBe(old?.passwordHash);
  expect(renewed?.hasOldSalt).toBe(false);
});

test("after ten wrong passwords an account is closed for a while, on every server, also for the right one", async () => {
  const another = await server.startAnother();
  await inOneWindow(server, 600, async () => {
    const email = newAddress();
    const other = newAddress();
    await signUp({ email, password });
    await signUp({ email: other, password });
    for (let at = 0; at < 12; at++) expect((await logIn({ email, password })).status).toBe(200);
    const wrong = { email, password: "not this one" };
    const statuses = [];
    for (let at = 0; at < 10; at++)
      statuses.push((await logIn(wrong, at % 2 === 0 ? server.call : another.call)).status);
    expect(statuses).toEqual(Array(10).fill(401));
    for (const call of [server.call, another.call]) {
      const headers = { "x-forwarded-for": "203.0.113.9" };
      const reply = await call("POST", "/auth/login", { headers }, { email, password });
      expect(refusalOf(reply)).toBe("429 RATE_LIMIT_EXCEEDED");
      expect(Number(reply.headers.get("retry-after"))).toBeGreaterThan(0);
      expect(Number(reply.headers.get("retry-after"))).toBeLessThanOrEqual(600);
    }
    expect((await logIn({ email: other, password })).status).toBe(200);
  });
});

test("however many log in at once, the threads that the database driver needs stay free", async () => {
  const email = newAddress();
  await signUp({ email, password });
  let answered = 0;
  const replies = Array.from({ length: 60 }, async () => {
    const reply = await logIn({ email: newAddress(), password });
    if (reply.status === 401) answered += 1;
    return reply.status;
  });
  await vi.waitUntil(() => answered > 0, { timeout: 30_000 });
  const before = answered;
  for (let at = 0; at < 8; at++) await promisify(randomFill)(Buffer.alloc(8));
  expect(answered - before).toBeLessThan(8);
  const statuses = new Set(await Promise.all(replies));
  // Beyond the queue it is 429, and never 503.
  expect(statuses).toEqual(new Set([401, 429]));
});

test("guesses in parallel do not slip through", async () => {
  await inOneWindow(server, 600, async () => {
    const email = newAddress();
    await signUp({ email, password });
    const replies = await Promise.all(
      Array.from({ length: 30 }, () => failedLogIn({ email, password: "not this one" })),
    );
    const refused = replies.filter(({ status }) => status === 429);
    expect(replies.filter(({ status }) => status === 401)).toHaveLength(10);
    expect(refused).toHaveLength(20);
  });
});

test("one machine may sign up and log in 300 times a minute, then it waits", async () => {
  await inOneWindow(server, 60, async () => {
    await server.rows(
      `insert into rate_windows values ('auth:127.0.0.1', date_bin('60 seconds', now(), 'epoch'), 299)
       on conflict (bucket, started_at) do update set taken = 299`,
    );
    const email = newAddress();
    const first = await signUp({ email, password });
    const next = await server.call("POST", "/auth/signup", {}, { email: newAddress(), password });
    const login = await failedLogIn({ email, password });
    await server.rows("delete from rate_windows");
    expect(first.status).toBe(200);
    expect([refusalOf(next), refusalOf(login)]).toEqual(Array(2).fill("429 RATE_LIMIT_EXCEEDED"));
    expect(Number(next.headers.get("retry-after"))).toBeGreaterThan(0);
  });
});

test("logging out ends the session everywhere, and only this one", async () => {
  const another = await server.startAnother();
  const email = newAddress();
  await signUp({ email, password });
  const ended = cookieOf(await logIn({ email, password }));
  const kept = cookieOf(await logIn({ email, password }));
  const reply = await server.call("GET", "/auth/logout", { cookie: ended });
  expect(reply.status).toBe(200);
  expect(reply.body).toEqual({ success: true, data: {} });
  expect(reply.headers.getSetCookie()[0]).toMatch(
    /^postloft_session=; Max-Age=0; Path=\/; HttpOnly; SameSite=Lax$/,
  );
  for (const call of [server.call, another.call]) {
    expect(refusalOf(await call("GET", "/users/@me", { cookie: ended }))).toBe("401 UNAUTHORIZED");
    expect(refusalOf(await call("GET", "/auth/logout", { cookie: ended }))).toBe("401 UNAUTHORIZED");
    expect((await call("GET", "/users/@me", { cookie: kept })).status).toBe(200);
  }
});

test("a session that has expired is nobody's, whatever its cookie says", async () => {
  const { cookie, id } = await server.signUp();
  await server.rows("update sessions set expires_at = now() - interval '1 second' where user_id = $1", id);
  expect(refusalOf(await server.call("GET", "/users/@me", { cookie }))).toBe("401 UNAUTHORIZED");
});

test("with DISABLE_SIGNUPS nobody can sign up, and who has an account can log in", async () => {
  const closed = await server.startAnother({ DISABLE_SIGNUPS: "true" });
  const { email } = await server.signUp();
  const before = await server.countRows();
  const reply = await closed.call("POST", "/auth/signup", {}, { email: newAddress(), password });
  expect(refusalOf(reply)).toBe("403 SIGNUPS_DISABLED");
  expect(await server.countRows()).toEqual(before);
  expect((await logIn({ email, password }, closed.call)).status).toBe(200);
});
