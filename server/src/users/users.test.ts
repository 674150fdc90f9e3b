// Tests accounts over HTTP: signing up, signing in and out, and limits on guesses.
import { randomFill } from "node:crypto";
import { promisify } from "node:util";
import { hashSync } from "@node-rs/argon2";
import { expect, test, vi } from "vitest";
import * as users from "@postloft/contract/users.ts";
import { LIMITS } from "@postloft/contract/limits/limits.ts";
import { startCpuTimer } from "../testing/cpu-timer.ts";
import { leastTime } from "../testing/least-time.ts";
import { readPlatformEmails } from "../testing/platform-emails.ts";
import {
  cookieOf,
  faultsOf,
  inOneWindow,
  errorOf,
  useTestServer,
  type Call,
} from "../testing/test-server.ts";
import type { BodyOf } from "../testing/typed-call.ts";

const server = useTestServer({ ROLES: "api" });

const password = "correct horse battery staple";
let made = 0;
const newAddress = () => `ada${++made}@example.com`;
const signUp = (body: unknown) =>
  server.call<{ data: { id: string; email: string } }>("POST", "/auth/signup", {}, body);
const logIn = (body: BodyOf<typeof users.logIn>, call: Call = server.call) => call(users.logIn, {}, { body });
const failedLogIn = (body: unknown) => server.call("POST", "/auth/login", {}, body);
const readMe = (cookie: string) => server.call(users.getMe, { cookie });

/** All cookies of a response, as a browser sends them. */
const cookiesOf = ({ headers }: { headers: Headers }) =>
  headers
    .getSetCookie()
    .map((cookie) => cookie.split(";")[0])
    .join("; ");
/** Calls that wait take at least this long. */
const DELAY_MS = 2_000;
/** Returns the status of a call and how long it took. */
async function timed(work: () => Promise<{ status: number }>): Promise<{ status: number; tookMs: number }> {
  const startedMs = performance.now();
  const { status } = await work();
  return { status, tookMs: performance.now() - startedMs };
}

test("signing up returns the account and signs in", async () => {
  const email = newAddress();
  const reply = await signUp({ email: ` ${email.toUpperCase()} `, password });
  expect(reply.status).toBe(200);
  expect(reply.body).toEqual({ success: true, data: { id: expect.any(String), email } });
  const me = await readMe(cookieOf(reply));
  expect(me.body).toEqual(reply.body.data);
});

test("hides the cookie from scripts, other sites and, with https, plain connections", async () => {
  const reply = await signUp({ email: newAddress(), password });
  const [cookie = ""] = reply.headers.getSetCookie();
  expect(cookie).toMatch(
    /^postloft_session=[\w-]+\.[\w-]+\.[\w-]+; Max-Age=7776000; Path=\/; HttpOnly; SameSite=Lax$/,
  );
  const secure = await server.startAnother({ BASE_URL: "https://mail.example.com" });
  const overHttps = await secure.call(users.signUp, {}, { body: { email: newAddress(), password } });
  expect(overHttps.headers.getSetCookie()[0]).toMatch(
    /^__Host-postloft_session=\S+; Max-Age=7776000; Path=\/; HttpOnly; SameSite=Lax; Secure$/,
  );
});

test("an address has one account in any spelling and with concurrent sign-ups", async () => {
  const first = await signUp({ email: "grace@bücher.example", password });
  const again = await server.call(
    users.signUp,
    {},
    { body: { email: "GRACE@xn--bcher-kva.example", password } },
  );
  expect([errorOf(again), cookieOf(again)]).toEqual(["409 CONFLICT", ""]);
  expect((await logIn({ email: "Grace@BÜCHER.example", password })).body).toEqual(first.body);
  const email = newAddress();
  const holder = await server.pool.connect();
  let replies: Array<ReturnType<typeof signUp>> = [];
  try {
    await holder.query("begin; lock table users in share mode");
    replies = Array.from({ length: 3 }, () => signUp({ email, password }));
    // Two have found no account before one of them can write. Waiting for the third could exceed the lock timeout of the first.
    await vi.waitUntil(async () => {
      const waiting = "select from pg_locks where not granted and locktype = 'relation'";
      return (await server.rows(waiting)).length >= 2;
    }, 30_000);
  } finally {
    await holder.query("commit");
    holder.release();
  }
  const statuses = (await Promise.all(replies)).map(({ status }) => status);
  expect(statuses.toSorted()).toEqual([200, 409, 409]);
  expect(await server.rows("select 1 from users where email = $1", email)).toHaveLength(1);
});

test.for([
  [{}, ["email required"]],
  [{ email: "a@example.com" }, ["password required"]],
  [{ email: "nobody", password: "123456789" }, ["email invalid_string", "password too_small"]],
  [{ email: "a@example.com", password: "x".repeat(257) }, ["password too_big"]],
  [{ email: 1, password: ["x"] }, ["email invalid_type", "password invalid_type"]],
  [{ email: "a@example.com,b@example.com", password }, ["email invalid_string"]],
  [{ email: "a@example.com\r\nBcc: b@example.com", password }, ["email invalid_string"]],
] as Array<[unknown, string[]]>)("rejects a sign-up with %j and reports %j", async ([body, faults]) => {
  const reply = await server.call(users.signUp, {}, { anyBody: body });
  expect(reply.status).toBe(422);
  expect(faultsOf(reply)).toEqual(faults);
});

test("accepts passwords of 10 to 256 characters of any kind and compares every character", async () => {
  for (const good of ["1x2y3z4u5v", "x".repeat(256), "pässwörter mit Leerzeichen 🦀", " ".repeat(10)]) {
    const email = newAddress();
    await signUp({ email, password: good });
    expect((await logIn({ email, password: good })).status).toBe(200);
    expect((await failedLogIn({ email, password: `y${good.slice(1)}` })).status).toBe(401);
  }
  const email = newAddress();
  await signUp({ email, password: `${"x".repeat(100)}a` });
  expect((await failedLogIn({ email, password: `${"x".repeat(100)}b` })).status).toBe(401);
});

test("accepts a password in composed and decomposed letters, and an old short one", async () => {
  const email = newAddress();
  await signUp({ email, password: "Ångström über" });
  expect((await logIn({ email, password: "Ångström über".normalize("NFD") })).status).toBe(200);
  await server.rows("update users set password_hash = $1 where email = $2", hashSync("8letters"), email);
  expect((await logIn({ email, password: "8letters" })).status).toBe(200);
});

test.for([
  ["Password123", "one of the 100,000 most common"],
  ["1234567890", "one of the 100,000 most common"],
  ["Countess.Of.Lovelace@example.com", "Must not be your email address"],
  ["countess.of.lovelace", "Must not be your email address"],
  ["countess.of.lovelace1!", "Must not be your email address"],
  ["Postloft2026", "Must not be your email address"],
])("rejects %s as a password", async ([bad, reason]) => {
  const body = { email: "countess.of.lovelace@example.com", password: bad };
  const reply = await server.call(users.signUp, {}, { body });
  expect(faultsOf(reply)).toEqual(["password custom"]);
  expect(reply.text).toContain(reason);
});

test("limits accounts per network and hour without counting rejected sign-ups", async () => {
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
    expect((await server.call(users.signUp, {}, { body: { email, password: "password" } })).status).toBe(422);
    expect(await taken()).toEqual([{ taken: 5 }]);
  });
});

test("stores passwords as argon2id at OWASP's cost and never in plain text", async () => {
  const hashes = await server.rows<{ passwordHash: string }>("select password_hash from users");
  expect(hashes.length).toBeGreaterThan(0);
  for (const row of hashes) expect(row.passwordHash).toMatch(/^\$argon2id\$v=19\$m=19456,t=2,p=1\$/);
});

test("ignores protected fields in a sign-up", async () => {
  const id = "00000000-0000-4000-8000-000000000000";
  const reply = await signUp({ email: newAddress(), password, id, role: "OWNER", isAdmin: true });
  expect(reply.status).toBe(200);
  expect(reply.body.data.id).not.toBe(id);
});

test("rejects a wrong password and an unknown address alike after the same work", async () => {
  const [known, without] = [newAddress(), newAddress()];
  await signUp({ email: known, password });
  await signUp({ email: without, password });
  await server.rows("update users set password_hash = null where email = $1", without);
  const responses = [];
  const times: Record<string, number[]> = {};
  for (let round = 0; round < 4; round++)
    for (const email of [known, "nobody@example.com", without]) {
      const cpuMs = startCpuTimer();
      const reply = await failedLogIn({ email, password: "not this one" });
      (times[email] ??= []).push(cpuMs());
      expect(errorOf(reply)).toBe("401 INVALID_CREDENTIALS");
      responses.push({ ...reply.body.error, requestId: "" });
    }
  expect(responses).toEqual(Array(responses.length).fill(responses[0]));
  // A hash takes tens of milliseconds, and other work in this process only adds to the minimum.
  const shortest = Object.values(times).map((ofAddress) => Math.min(...ofAddress));
  expect(Math.min(...shortest)).toBeGreaterThan(Math.max(...shortest) / 3);
});

test("two accounts with the same password have different hashes", async () => {
  const emails = [newAddress(), newAddress()];
  for (const email of emails) await signUp({ email, password });
  const hashes = await server.rows("select distinct password_hash from users where email = any($1)", emails);
  expect(hashes).toHaveLength(2);
});

test("wrong passwords per account slow each other down on all servers, the right one never waits", async () => {
  const another = await server.startAnother({ TRUST_PROXY: "127.0.0.1" });
  const from = (ip: string, body: BodyOf<typeof users.logIn>, cookie = "") =>
    another.call(users.logIn, { headers: { "x-forwarded-for": ip, ...(cookie && { cookie }) } }, { body });
  await inOneWindow(server, 600, async () => {
    const [email, other] = [newAddress(), newAddress()];
    const known = cookiesOf(await signUp({ email, password }));
    await signUp({ email: other, password });
    const wrong = { email, password: "not this one" };
    const guesses = Array.from({ length: 40 }, (_, at) =>
      from(at % 2 === 0 ? "192.0.2.1" : "198.51.100.1", wrong),
    );
    const statuses = (await Promise.all(guesses)).map(({ status }) => status);
    // Over the budget each of the two networks has one guess at a time.
    expect(statuses.filter((status) => status === 401).length).toBeLessThanOrEqual(
      LIMITS.loginFailures.value + 2,
    );
    expect(new Set(statuses)).toEqual(new Set([401, 429]));
    const timeQuick = async () => {
      const [slow, ...quick] = await Promise.all([
        timed(() => from("192.0.2.1", wrong)),
        timed(() => from("203.0.113.9", { email, password })),
        timed(() => from("192.0.2.1", wrong, known)),
        timed(() => logIn({ email: other, password })),
      ]);
      expect([slow, ...quick].map(({ status }) => status)).toEqual([401, 200, 401, 200]);
      expect(slow.tookMs).toBeGreaterThan(DELAY_MS);
      return Math.max(...quick.map(({ tookMs }) => tookMs));
    };
    expect(await leastTime(DELAY_MS, timeQuick)).toBeLessThan(DELAY_MS);
    // The network of the guesser is not locked out either.
    expect((await from("192.0.2.1", { email, password })).status).toBe(200);
  });
});

test("notifies the owner about a sign-in on a new device but not on a known one", async () => {
  const email = newAddress();
  const own = await signUp({ email, password });
  const enter = (cookie: string, agent: string) =>
    server.call(users.logIn, { headers: { cookie, "user-agent": agent } }, { body: { email, password } });
  const reports = () => readPlatformEmails(server.pool, { to: email, subject: /^New sign-in/ });
  await enter(cookiesOf(own), "Mozilla/5.0 (X11; Linux x86_64) Firefox/140.0");
  expect(await reports()).toEqual([]);
  const first = await enter("", "Mozilla/5.0 (X11; Linux x86_64) Firefox/140.0");
  await enter(cookiesOf(first), "Mozilla/5.0 (X11; Linux x86_64) Firefox/140.0");
  await enter("postloft_devices=AAAA", "Call +1 555 0100 now");
  const texts = (await reports()).map(({ text }) => text);
  expect(texts).toEqual([
    expect.stringContaining("Firefox, Linux, IP address 127.0.0.1"),
    expect.stringContaining("an unknown device, IP address 127.0.0.1"),
  ]);
  expect(texts.join("")).not.toContain("555");
  // A device known to one account is unknown to another.
  const other = newAddress();
  await signUp({ email: other, password });
  await server.call(
    users.logIn,
    { headers: { cookie: cookiesOf(first) } },
    { body: { email: other, password } },
  );
  expect(await readPlatformEmails(server.pool, { to: other, subject: /^New sign-in/ })).toHaveLength(1);
});

test("keeps the database driver's threads free however many people sign in concurrently", async () => {
  const email = newAddress();
  await signUp({ email, password });
  let responded = 0;
  const replies = Array.from({ length: 60 }, async () => {
    const reply = await logIn({ email: newAddress(), password });
    if (reply.status === 401) responded += 1;
    return reply.status;
  });
  await vi.waitUntil(() => responded > 0, { timeout: 30_000 });
  const before = responded;
  for (let at = 0; at < 8; at++) await promisify(randomFill)(Buffer.alloc(8));
  expect(responded - before).toBeLessThan(8);
  const statuses = new Set(await Promise.all(replies));
  // Beyond the queue the response is 429, never 503.
  expect(statuses).toEqual(new Set([401, 429]));
});

test("limits a machine to 300 sign-ups and sign-ins a minute", async () => {
  await inOneWindow(server, 60, async () => {
    await server.rows(
      `insert into rate_windows values ('auth:127.0.0.1', date_bin('60 seconds', now(), 'epoch'), 299)
       on conflict (bucket, started_at) do update set taken = 299`,
    );
    const email = newAddress();
    const first = await signUp({ email, password });
    const next = await server.call(users.signUp, {}, { body: { email: newAddress(), password } });
    const login = await failedLogIn({ email, password });
    await server.rows("delete from rate_windows");
    expect(first.status).toBe(200);
    expect([errorOf(next), errorOf(login)]).toEqual(Array(2).fill("429 RATE_LIMIT_EXCEEDED"));
    expect(Number(next.headers.get("retry-after"))).toBeGreaterThan(0);
  });
});

test("signing out ends only this session, everywhere", async () => {
  const another = await server.startAnother();
  const email = newAddress();
  await signUp({ email, password });
  const ended = cookieOf(await logIn({ email, password }));
  const kept = cookieOf(await logIn({ email, password }));
  const reply = await server.call(users.logOut, { cookie: ended });
  expect(reply.status).toBe(200);
  expect(reply.body).toEqual({ success: true, data: {} });
  expect(reply.headers.getSetCookie()[0]).toMatch(
    /^postloft_session=; Max-Age=0; Path=\/; HttpOnly; SameSite=Lax$/,
  );
  for (const call of [server.call, another.call]) {
    expect(errorOf(await call(users.getMe, { cookie: ended }))).toBe("401 UNAUTHORIZED");
    expect(errorOf(await call(users.logOut, { cookie: ended }))).toBe("401 UNAUTHORIZED");
    expect((await call(users.getMe, { cookie: kept })).status).toBe(200);
  }
});

test.for([
  [
    "unused for 7 days",
    "last_used_at = now() - interval '7 days', created_at = now() - interval '8 days'",
    false,
  ],
  ["never used and begun 7 days ago", "last_used_at = null, created_at = now() - interval '7 days'", false],
  ["begun 90 days ago and just used", "last_used_at = now(), expires_at = now()", false],
  [
    "begun 80 days ago and used 6 days ago",
    "last_used_at = now() - interval '6 days', created_at = now() - interval '80 days'",
    true,
  ],
] as const)(
  "decides by the row, not the cookie, whether a session %s is live",
  async ([, change, isLive]) => {
    const { cookie, id } = await server.signUp();
    await server.rows(`update sessions set ${change} where user_id = $1`, id);
    const reply = await server.call(users.getMe, { cookie });
    expect(reply.status).toBe(isLive ? 200 : 401);
  },
);

test("rejects sign-ups but allows sign-ins with DISABLE_SIGNUPS", async () => {
  const closed = await server.startAnother({ DISABLE_SIGNUPS: "true" });
  const { email } = await server.signUp();
  const before = await server.countRows();
  const reply = await closed.call(users.signUp, {}, { body: { email: newAddress(), password } });
  expect(errorOf(reply)).toBe("403 SIGNUPS_DISABLED");
  expect(await server.countRows()).toEqual(before);
  expect((await logIn({ email, password }, closed.call)).status).toBe(200);
});
