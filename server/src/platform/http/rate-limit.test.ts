// Tests the limit of requests per minute and project from the caller's view.
import { expect, test } from "vitest";
import * as contacts from "@postloft/contract/contacts.ts";
import * as users from "@postloft/contract/users.ts";
import { sendBatch } from "@postloft/contract/send-batch.ts";
import * as v1 from "@postloft/contract/v1.ts";
import { LIMITS } from "@postloft/contract/limits/limits.ts";
import {
  inOneWindow,
  errorOf,
  useTestServer,
  type OneServer,
  type TestCaller,
  type TestProject,
} from "../../testing/test-server.ts";
import { createRateLimiter, sweepRateWindows } from "./rate-limit.ts";

const LIMIT = 10;
const server = useTestServer({ ROLES: "api", API_RATE_LIMIT_PER_MINUTE: String(LIMIT) });
const event = { email: "ada@example.com", event: "opened" };

/** Sends requests in sequence and returns their statuses. */
async function ask(times: number, caller: TestCaller, to: OneServer = server): Promise<number[]> {
  const statuses: number[] = [];
  for (let at = 0; at < times; at++) statuses.push((await to.call(v1.track, caller, { body: event })).status);
  return statuses;
}

const oks = (times: number) => Array<number>(times).fill(200);

test("returns 429 with Retry-After for the request after the limit, without any effect", async () => {
  await inOneWindow(server, 60, async () => {
    const { byKey, id } = await server.createProject();
    expect(await ask(LIMIT, byKey)).toEqual(oks(LIMIT));
    const reply = await server.call("POST", "/v1/track", byKey, event);
    expect(errorOf(reply)).toBe("429 RATE_LIMIT_EXCEEDED");
    expect(reply.body.error.requestId).toBe(reply.headers.get("x-request-id"));
    const seconds = Number(reply.headers.get("retry-after"));
    expect(seconds).toBeGreaterThan(0);
    expect(seconds).toBeLessThanOrEqual(60);
    expect(await server.rows("select 1 from events where project_id = $1", id)).toHaveLength(LIMIT);
  });
});

test("counts each email of a batch, and accepts none of a batch beyond the limit", async () => {
  await inOneWindow(server, 60, async () => {
    const { byKey, id } = await server.createProject();
    const email = { to: "a@example.com", from: "a@sandbox.localhost", subject: "Hello", body: "Hello" };
    const send = (emails: number) =>
      server.call(sendBatch, byKey, { body: { emails: Array.from({ length: emails }, () => email) } });
    expect((await send(6)).headers.get("ratelimit-remaining")).toBe("4");
    const refused = await send(5);
    expect(errorOf(refused)).toBe("429 RATE_LIMIT_EXCEEDED");
    expect(refused.body).toMatchObject({ message: expect.stringContaining("counts as 5 requests") });
    // The rejected batch counts as one request, so three remain.
    expect((await send(3)).headers.get("ratelimit-remaining")).toBe("0");
    expect(await server.rows("select 1 from emails where project_id = $1", id)).toHaveLength(9);
  });
});

test("counts RateLimit headers down for every response until the window ends", async () => {
  await inOneWindow(server, 60, async () => {
    const { byKey } = await server.createProject();
    const left: Array<string | null> = [];
    for (const path of ["/contacts", "/contacts?limit=0", "/nothing", "/contacts/x"]) {
      const { headers } = await server.call("GET", path, byKey);
      left.push(headers.get("ratelimit-remaining"));
    }
    // An unknown path belongs to no project.
    expect(left).toEqual(["9", "8", null, "7"]);
    const { headers } = await server.call(contacts.listContacts, byKey);
    expect(headers.get("ratelimit-limit")).toBe(String(LIMIT));
    const reset = Number(headers.get("ratelimit-reset"));
    const [now] = await server.rows<{ left: number }>(
      "select 60 - floor(extract(epoch from now()))::int % 60 as left",
    );
    expect(Math.abs(reset - (now?.left ?? 0))).toBeLessThanOrEqual(2);
  });
});

test("limits the sessions of an account like keys, without affecting other accounts", async () => {
  await inOneWindow(server, 60, async () => {
    const [mine, other] = [await server.createProject(), await server.createProject()];
    // Creating the project was the first request.
    const statuses = async ({ bySession }: TestProject, times: number) => {
      const responses: number[] = [];
      for (let at = 0; at < times; at++)
        responses.push((await server.call(contacts.listContacts, bySession)).status);
      return responses;
    };
    expect(await statuses(mine, LIMIT)).toEqual([...oks(LIMIT - 1), 429]);
    expect(await statuses(other, 1)).toEqual([200]);
    expect(await ask(1, mine.byKey)).toEqual([200]);
  });
});

test("counts invalid keys by address without affecting valid keys", async () => {
  await inOneWindow(server, 60, async () => {
    const { byKey } = await server.createProject();
    const wrong = { key: `sk_${"x".repeat(48)}` };
    expect(await ask(1, wrong)).toEqual([401]);
    await server.rows(
      "update rate_windows set taken = $1 where bucket = 'failed:127.0.0.1'",
      LIMITS.failedKeys.value - 1,
    );
    expect(await ask(2, wrong)).toEqual([401, 429]);
    expect(await ask(1, { cookie: "postloft_session=x" })).toEqual([401]);
    expect((await server.call(users.getMe, { cookie: "postloft_session=x" })).status).toBe(429);
    expect(await ask(1, byKey)).toEqual([200]);
    await server.rows("delete from rate_windows where bucket = 'failed:127.0.0.1'");
  });
});

const withWrongKey = (ip: string) => ({
  key: `sk_${"x".repeat(48)}`,
  headers: { "x-forwarded-for": ip },
});

test("counts invalid keys from all addresses of an IPv6 network together", async () => {
  const another = await server.startAnother({ TRUST_PROXY: "loopback" });
  await inOneWindow(server, 60, async () => {
    expect(await ask(1, withWrongKey("2001:db8::1"), another)).toEqual([401]);
    await server.rows(
      "update rate_windows set taken = $1 where bucket = 'failed:2001:db8:0:0::/64'",
      LIMITS.failedKeys.value,
    );
    expect(await ask(1, withWrongKey("2001:db8::2"), another)).toEqual([429]);
    expect(await ask(1, withWrongKey("2001:db8:0:1::1"), another)).toEqual([401]);
  });
});

test("shares one limit between both keys of a project, for every spelling of a path", async () => {
  await inOneWindow(server, 60, async () => {
    const { publicKey, byKey } = await server.createProject();
    expect(await ask(LIMIT / 2, { key: publicKey })).toEqual(oks(LIMIT / 2));
    expect(await ask(LIMIT / 2, byKey)).toEqual(oks(LIMIT / 2));
    for (const path of ["/v1/track", "/track", "/api/v1/track", "//v1/track", "/v1/track/", "/v1/%74rack"])
      for (const caller of [{ key: publicKey }, byKey])
        expect((await server.call("POST", path, caller, event)).status).toBe(429);
  });
});

test("does not count one project's requests for another", async () => {
  await inOneWindow(server, 60, async () => {
    const { byKey } = await server.createProject();
    const other = await server.createProject();
    expect((await ask(LIMIT + 1, byKey)).at(-1)).toBe(429);
    expect(await ask(1, other.byKey)).toEqual([200]);
  });
});

test("shares the limit between two servers with one database", async () => {
  const another = await server.startAnother();
  await inOneWindow(server, 60, async () => {
    const { byKey } = await server.createProject();
    expect(await ask(LIMIT / 2, byKey)).toEqual(oks(LIMIT / 2));
    expect(await ask(LIMIT / 2, byKey, another)).toEqual(oks(LIMIT / 2));
    expect(await ask(1, byKey)).toEqual([429]);
    expect(await ask(1, byKey, another)).toEqual([429]);
  });
});

test("accepts exactly the limit of many concurrent requests", async () => {
  const another = await server.startAnother();
  await inOneWindow(server, 60, async () => {
    const { byKey } = await server.createProject();
    const replies = await Promise.all(
      Array.from({ length: 40 }, (_, at) =>
        (at % 2 === 0 ? server : another).call(contacts.listContacts, byKey),
      ),
    );
    expect(replies.filter(({ status }) => status === 200)).toHaveLength(LIMIT);
    expect(replies.filter(({ status }) => status === 429)).toHaveLength(40 - LIMIT);
    const left = replies.map(({ headers }) => Number(headers.get("ratelimit-remaining")));
    expect(left.filter((remaining) => remaining > 0).toSorted((a, b) => a - b)).toEqual([
      1, 2, 3, 4, 5, 6, 7, 8, 9,
    ]);
  });
});

test("counts a wrong key for no project", async () => {
  await inOneWindow(server, 60, async () => {
    const project = await server.createProject();
    for (let at = 0; at <= LIMIT; at++)
      expect((await server.call(contacts.listContacts, { key: `${project.secretKey}x` })).status).toBe(401);
    const { headers } = await server.call(contacts.listContacts, project.byKey);
    expect(headers.get("ratelimit-remaining")).toBe(String(LIMIT - 1));
  });
});

test("turns the limit and its headers off with 0", async () => {
  const open = await server.startAnother({ API_RATE_LIMIT_PER_MINUTE: "0" });
  const { byKey } = await server.createProject();
  expect(await ask(LIMIT + 5, byKey, open)).toEqual(oks(LIMIT + 5));
  const { headers } = await open.call(contacts.listContacts, byKey);
  expect([...headers.keys()].filter((name) => name.startsWith("ratelimit"))).toEqual([]);
});

test("starts a new window at zero and sweeps old ones", async () => {
  const limiter = createRateLimiter(server.database);
  const take = { bucket: "test:window", limit: 1, windowSeconds: 60 };
  await inOneWindow(server, 60, async () => {
    await server.rows("delete from rate_windows where bucket = 'test:window'");
    expect([await limiter.take(take), await limiter.take(take)].map(({ allowed }) => allowed)).toEqual([
      true,
      false,
    ]);
    await server.rows(
      "update rate_windows set started_at = started_at - interval '2 hours' where bucket = 'test:window'",
    );
    expect((await limiter.take(take)).allowed).toBe(true);
  });
  await sweepRateWindows(server.database);
  expect(await server.rows("select 1 from rate_windows where bucket = 'test:window'")).toHaveLength(1);
});

test("keeps the window of a day for the whole day", async () => {
  const limiter = createRateLimiter(server.database);
  const take = { bucket: "test:day", limit: 1, windowSeconds: 86_400 };
  const sweepAfter = async (hours: number) => {
    const [row] = await server.rows<{ startedAt: Date }>(
      "select started_at from rate_windows where bucket = 'test:day'",
    );
    await sweepRateWindows(server.database, new Date((row?.startedAt.getTime() ?? 0) + hours * 3_600_000));
    return server.rows("select taken from rate_windows where bucket = 'test:day'");
  };
  await limiter.take(take);
  expect(await sweepAfter(23.9)).toEqual([{ taken: 1 }]);
  expect(await sweepAfter(24.1)).toEqual([]);
});

test("allows a returned count to be taken again and never goes below zero", async () => {
  const limiter = createRateLimiter(server.database);
  const take = { bucket: "test:back", limit: 1, windowSeconds: 3_600 };
  await inOneWindow(server, 3_600, async () => {
    await server.rows("delete from rate_windows where bucket = 'test:back'");
    await limiter.giveBack(take);
    await limiter.take(take);
    await limiter.giveBack(take);
    await limiter.giveBack(take);
    expect([await limiter.take(take), await limiter.take(take)].map(({ allowed }) => allowed)).toEqual([
      true,
      false,
    ]);
  });
});
