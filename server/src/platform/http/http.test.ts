// Tests what all HTTP responses have in common: ids, envelopes, headers, aliases and protection against pages of other sites.
import { once } from "node:events";
import { connect, type AddressInfo } from "node:net";
import { afterAll, beforeAll, expect, test } from "vitest";
import { z } from "zod";
import * as contacts from "@postloft/contract/contacts.ts";
import * as emails from "@postloft/contract/emails.ts";
import * as users from "@postloft/contract/users.ts";
import * as v1 from "@postloft/contract/v1.ts";
import { endpoint } from "@postloft/contract/endpoint.ts";
import { ENDPOINTS } from "@postloft/contract/endpoints.ts";
import { errorSchema } from "@postloft/contract/errors.ts";
import {
  responsesByName,
  cookieOf,
  faultsOf,
  errorOf,
  sameByName,
  useTestServer,
  type TestCaller,
} from "../../testing/test-server.ts";
import { readConfig } from "../settings/config.ts";
import { createDatabase } from "../database/database.ts";
import { createSealer } from "../crypto.ts";
import { closeHttp, createHttp } from "./http.ts";
import { route } from "./route.ts";
import { createLog } from "../log.ts";
import { createMetrics } from "../metrics.ts";
import { AppError } from "../app-error.ts";

const server = useTestServer({ ROLES: "api" });
const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;

test("keeps a valid X-Request-ID, replaces any other, and includes it in errors", async () => {
  for (const input of ["a", "Trace-1.2:3_4", "x".repeat(128)]) {
    const reply = await server.call("GET", "/nothing", { headers: { "x-request-id": input } });
    expect(reply.headers.get("x-request-id")).toBe(input);
    expect(reply.body.error.requestId).toBe(input);
  }
  const seen = new Set<string | null>();
  for (const input of ["", "x".repeat(129), "two words", 'a"b', "é", undefined, undefined]) {
    const headers: Record<string, string> = input === undefined ? {} : { "x-request-id": input };
    const reply = await server.call("GET", "/nothing", { headers });
    expect(reply.headers.get("x-request-id")).toMatch(UUID);
    expect(reply.body.error.requestId).toBe(reply.headers.get("x-request-id"));
    seen.add(reply.headers.get("x-request-id"));
  }
  expect(seen.size).toBe(7);
});

test("returns exactly the contract's envelope for an error", async () => {
  const replies = [
    await server.call("GET", "/nothing"),
    await server.call("GET", "/contacts"),
    await server.call("POST", "/contacts", server.project.byKey, {}),
    await server.call("POST", "/contacts", server.project.byKey, "{"),
    await server.call("GET", "/contacts?cursor=x", server.project.byKey),
  ];
  for (const reply of replies) {
    expect(z.strictObject(errorSchema.shape).parse(reply.body)).toEqual(reply.body);
    expect(reply.body.error.statusCode).toBe(reply.status);
    expect(reply.body.message).toBe(reply.body.error.message);
    expect(reply.headers.get("content-type")).toBe("application/json; charset=utf-8");
    expect(Math.abs(Date.parse(reply.body.timestamp) - Date.now())).toBeLessThan(60_000);
  }
});

const itself = (text: string) => text;

test("returns 404 for an unknown path and 405 with the allowed methods for a wrong method", async () => {
  const paths = ["/nothing", "/v2/send", "/V1/send", "/contacts/a/b", "/v1/send/x", "//", "/api/nothing"];
  expect(
    await responsesByName(paths, itself, async (path) =>
      errorOf(await server.call("POST", path, server.project.byKey, {})),
    ),
  ).toEqual(sameByName(paths, itself, () => "404 RESOURCE_NOT_FOUND"));
  for (const [method, path, allow] of [
    ["GET", "/v1/send", "POST"],
    ["PUT", "/contacts", "GET, HEAD, POST"],
    ["POST", "/contacts/x", "GET, HEAD, PATCH, DELETE"],
    ["PUT", "/contacts/lookup", "POST"],
    ["PUT", "/contacts/fields", "GET, HEAD"],
    ["DELETE", "/v1", "POST"],
  ] as const) {
    const reply = await server.call(method, path, server.project.byKey);
    expect(errorOf(reply)).toBe("405 METHOD_NOT_ALLOWED");
    expect(reply.headers.get("allow")).toBe(allow);
  }
});

test.for(["%zz", "%", "%00", "%ff", "x".repeat(101), "x".repeat(5_000), "..%2f..", "'%20or%201=1"])(
  "returns 404 with the envelope for an invalid id (%.20s)",
  async (id) => {
    for (const method of ["GET", "PATCH", "DELETE"]) {
      const body = method === "PATCH" ? {} : undefined;
      const reply = await server.call(method, `/contacts/${id}`, server.project.byKey, body);
      expect(errorOf(reply)).toMatch(/^404 (RESOURCE|CONTACT)_NOT_FOUND$/);
      expect(reply.body.error.requestId).toBe(reply.headers.get("x-request-id"));
    }
  },
);

/** Returns the server's response to raw bytes. */
async function responseTo(bytes: string): Promise<string> {
  const { hostname, port } = new URL(server.url);
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = [];
    const socket = connect(Number(port), hostname, () => socket.write(bytes));
    socket.on("data", (chunk) => chunks.push(chunk));
    socket.on("error", reject);
    socket.on("close", () => resolve(Buffer.concat(chunks).toString()));
  });
}

test("returns the envelope and closes the connection for invalid HTTP or endless headers", async () => {
  for (const bytes of [
    "nonsense\r\n\r\n",
    "GET /health HTTP/1.1\r\nHost: a\r\nbad header\r\n\r\n",
    `GET /health HTTP/1.1\r\nHost: a\r\nX: ${"x".repeat(20_000)}\r\n\r\n`,
    "POST /v1/track HTTP/1.1\r\nHost: a\r\nContent-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n",
  ]) {
    const [head = "", body = ""] = (await responseTo(bytes)).split("\r\n\r\n");
    expect(head).toMatch(/^HTTP\/1\.1 400 /);
    const answer = errorSchema.parse(JSON.parse(body));
    expect(answer.error).toMatchObject({ code: "BAD_REQUEST", statusCode: 400 });
    expect(head.toLowerCase()).toContain(`x-request-id: ${answer.error.requestId}`);
  }
});

test("stops reading a body of unknown length at its limit with 413", async () => {
  const chunk = "x".repeat(100_000);
  const head = `POST /contacts HTTP/1.1\r\nHost: a\r\nConnection: close\r\nAuthorization: Bearer ${server.project.secretKey}\r\n`;
  const body = `${chunk.length.toString(16)}\r\n${chunk}\r\n`.repeat(15);
  const answer = await responseTo(
    `${head}Content-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n${body}0\r\n\r\n`,
  );
  expect(answer).toMatch(/^HTTP\/1\.1 413 /);
  expect(answer).toContain('"code":"PAYLOAD_TOO_LARGE"');
});

test.for(["/health", "/contacts", "/nothing", "/contacts/%zz", "/config"])(
  "forbids caching, sniffing and referrers in the response to GET %s",
  async (path) => {
    const { headers } = await server.call("GET", path);
    expect(headers.get("cache-control")).toBe("no-store");
    expect(headers.get("x-content-type-options")).toBe("nosniff");
    expect(headers.get("referrer-policy")).toBe("no-referrer");
  },
);

const track = { email: "ada@example.com", event: "signed-up" };

test.for(["/v1/track", "/track", "/api/v1/track", "/api/track", "/v1", "/v1/", "/api/v1", "/v1/track/"])(
  "POST %s tracks an event with either key",
  async (path) => {
    for (const key of [server.project.publicKey, server.project.secretKey]) {
      const { status, body } = await server.call<Record<string, unknown>>("POST", path, { key }, track);
      expect(status).toBe(200);
      const data = body["data"] as Record<string, string>;
      expect(Object.keys(data).toSorted()).toEqual(["contact", "event", "timestamp"]);
      const isAlias = !path.startsWith("/v1/track");
      expect(body).toEqual({ success: true, data, ...(isAlias ? data : {}) });
      expect(await server.rows("select name from events where id = $1", data["event"])).toEqual([
        { name: "signed-up" },
      ]);
    }
  },
);

test.for(["/v1/send", "/send", "/api/v1/send", "/api/send"])("POST %s sends an email", async (path) => {
  const mail = { to: "ada@example.com", from: "a@sandbox.localhost", subject: "Hello", body: "<p>Hello</p>" };
  const { status, body } = await server.call<Record<string, unknown>>(
    "POST",
    path,
    server.project.byKey,
    mail,
  );
  expect(status).toBe(200);
  const data = body["data"] as object;
  expect(body).toEqual({ success: true, data, ...(path === "/v1/send" ? {} : data) });
});

test("serves resources identically under /api, /v1 and both, with every method", async () => {
  const { byKey, id } = server.project;
  const { body: contact } = await server.call(contacts.upsertContact, byKey, {
    body: {
      email: "alias@example.com",
    },
  });
  const paths = [
    "/contacts?limit=5",
    `/contacts/${contact.id}`,
    "/events?limit=2",
    `/events/contact/${contact.id}`,
    `/domains/project/${id}`,
    "/emails",
  ];
  for (const path of paths) {
    const plain = await server.call("GET", path, byKey);
    expect(plain.status).toBe(200);
    for (const prefix of ["/api", "/v1", "/api/v1"])
      expect((await server.call("GET", prefix + path, byKey)).text).toBe(plain.text);
  }
  const patched = await server.call<{ subscribed: boolean }>("PATCH", `/v1/contacts/${contact.id}`, byKey, {
    subscribed: false,
  });
  expect(patched.body.subscribed).toBe(false);
  expect((await server.call("DELETE", `/api/v1/contacts/${contact.id}`, byKey)).status).toBe(204);
  expect((await server.call("GET", "/api/health")).status).toBe(200);
  expect((await server.call("GET", "/api/users/@me", { cookie: server.project.owner.cookie })).status).toBe(
    200,
  );
  const others = ["/v1/users/@me", "/v1/auth/login", "/v1/health", "/v1/contactsx", "/apis/contacts"];
  expect(
    await responsesByName(others, itself, async (path) => errorOf(await server.call("GET", path))),
  ).toEqual(sameByName(others, itself, () => "404 RESOURCE_NOT_FOUND"));
});

const nameOf = ({ name }: { name: string }) => name;

test("allows other origins only for track, and never with cookies", async () => {
  const headers = { origin: "https://shop.example" };
  const responses = await responsesByName(ENDPOINTS, nameOf, async (one) => {
    const path = one.path.replace(/:[a-zA-Z]+/g, "x");
    const preflight = await server.call("OPTIONS", path, {
      headers: { ...headers, "access-control-request-method": one.method },
    });
    const reply = await server.call(one.method, path, { headers }, one.takesBody ? {} : undefined);
    return [preflight, reply].map((answer) => [
      answer.headers.get("access-control-allow-origin"),
      answer.headers.get("access-control-allow-credentials"),
    ]);
  });
  expect(responses).toEqual(
    sameByName(ENDPOINTS, nameOf, ({ path }) => {
      const allowed = [path === "/v1/track" ? "*" : null, null];
      return [allowed, allowed];
    }),
  );
});

test.for(["/v1/track", "/track", "/api/v1/track", "/v1"])(
  "allows a browser to preflight %s",
  async (path) => {
    const reply = await server.call("OPTIONS", path, {
      headers: {
        origin: "null",
        "access-control-request-method": "POST",
        "access-control-request-headers": "authorization,content-type",
      },
    });
    expect(reply.status).toBe(204);
    expect(reply.headers.get("access-control-allow-methods")).toBe("POST");
    const allowed = (reply.headers.get("access-control-allow-headers") ?? "").toLowerCase().split(", ");
    expect(allowed).toEqual(expect.arrayContaining(["authorization", "content-type", "idempotency-key"]));
  },
);

test("lets browsers of other origins read why track failed", async () => {
  const { publicKey: key } = server.project;
  const origin = "https://shop.example";
  for (const [caller, body] of [
    [{ headers: { origin } }, track],
    [{ key, headers: { origin } }, {}],
    [{ key, headers: { origin } }, "{"],
    [{ key, headers: { origin, "content-type": "text/plain" } }, "x"],
    [{ key, headers: { origin } }, "x".repeat(1024 * 1024 + 1)],
  ] as Array<[TestCaller, unknown]>) {
    const reply = await server.call(v1.track, caller, { anyBody: body });
    expect(reply.status).toBeGreaterThanOrEqual(400);
    expect(reply.headers.get("access-control-allow-origin")).toBe("*");
  }
});

const FOREIGN: Array<Record<string, string>> = [
  { origin: "https://evil.example" },
  { origin: "null" },
  { origin: "http://localhost.evil.example" },
  { "sec-fetch-site": "cross-site" },
  { "sec-fetch-site": "same-site" },
  { origin: "https://evil.example", "sec-fetch-site": "same-origin" },
];

type CallToMake = [method: string, path: string, body?: unknown];
const nameOfCall = ([method, path]: CallToMake) => `${method} ${path}`;

test("returns 403 for a change by another site's page with a session, and nothing changes", async () => {
  const { bySession, owner, id } = server.project;
  const before = await server.countRows();
  const calls: CallToMake[] = [
    ["POST", "/contacts", { email: "evil@example.com" }],
    ["POST", "/v1/track", track],
    ["DELETE", "/mailbox/messages"],
    ["PATCH", `/users/@me/projects/${id}`, { name: "Owned" }],
    ["POST", `/users/@me/projects/${id}/regenerate-keys`],
    ["POST", `/users/@me/projects/${id}/regenerate-inbound-address`],
    ["POST", "/users/@me/projects", { name: "Owned" }],
    ["GET", "/auth/logout"],
    ["HEAD", "/auth/logout"],
    ["GET", `/domains/${id}/verify`],
  ];
  for (const headers of FOREIGN) {
    const responses = await responsesByName(calls, nameOfCall, async ([method, path, body]) =>
      errorOf(await server.call(method, path, { ...bySession, headers }, body)),
    );
    expect(responses).toEqual(
      sameByName(calls, nameOfCall, ([method]) => (method === "HEAD" ? "403 undefined" : "403 FORBIDDEN")),
    );
  }
  expect((await server.call(users.getMe, { cookie: owner.cookie })).status).toBe(200);
  expect(await server.countRows()).toEqual(before);
});

test("accepts sessions from our own pages and keys from any origin", async () => {
  const { bySession, byKey } = server.project;
  const port = new URL(server.url).port;
  for (const headers of [
    {},
    { "sec-fetch-site": "same-origin" },
    { "sec-fetch-site": "none" },
    { origin: server.url },
    { origin: `http://localhost:${port}` },
  ] as Array<Record<string, string>>) {
    const caller = { ...bySession, headers };
    expect((await server.call(v1.track, caller, { body: track })).status).toBe(200);
  }
  for (const headers of FOREIGN)
    expect((await server.call(v1.track, { ...byKey, headers }, { body: track })).status).toBe(200);
});

test("returns 415 for another site's form and sets no cookie", async () => {
  const { owner, bySession } = server.project;
  const before = await server.countRows();
  const login = JSON.stringify({ email: owner.email, password: owner.password });
  for (const type of [
    "text/plain",
    "application/x-www-form-urlencoded",
    "multipart/form-data; boundary=x",
    "application/jsonx",
    "text/json",
    "",
    "*/*",
  ]) {
    const headers = { "content-type": type };
    const reply = await server.call(users.logIn, { headers }, { anyBody: login });
    expect(errorOf(reply)).toBe("415 UNSUPPORTED_MEDIA_TYPE");
    expect(cookieOf(reply)).toBe("");
    const posted = await server.call(
      "POST",
      "/contacts",
      { ...bySession, headers },
      `{"email":"a@b.example"}`,
    );
    expect(errorOf(posted)).toBe("415 UNSUPPORTED_MEDIA_TYPE");
  }
  for (const type of ["application/json;charset=UTF-8", "Application/JSON", "application/json ; x=y"])
    expect(
      (await server.call(users.logIn, { headers: { "content-type": type } }, { anyBody: login })).status,
    ).toBe(200);
  expect((await server.countRows())["contacts"]).toBe(before["contacts"]);
});

test("ignores an unknown query parameter and reports all invalid ones together", async () => {
  const { byKey } = server.project;
  expect((await server.call(contacts.listContacts, byKey, { anyQuery: "?nothing=1&x[]=2" })).status).toBe(
    200,
  );
  const reply = await server.call(emails.listEmails, byKey, {
    anyQuery: "?limit=0&status=LOST&contactId=x&since=yesterday",
  });
  expect(reply.status).toBe(422);
  expect(faultsOf(reply)).toEqual([
    "contactId invalid_string",
    "limit too_small",
    "since invalid_date",
    "status invalid_enum_value",
  ]);
});

const boom = endpoint({
  name: "test.boom",
  method: "POST",
  path: "/boom",
  summary: "Fails",
  description: "In every way there is.",
  caller: "anyone",
  body: z.object({ as: z.string() }),
  responses: { 200: z.object({}) },
});

/** Starts the HTTP side with one route that can fail in every way. */
async function startFailing(trustedProxies: readonly string[] = []) {
  const lines: string[] = [];
  const held = { entered: Promise.withResolvers<void>(), released: Promise.withResolvers<void>() };
  const log = createLog({ level: "silent" });
  log.error = ((fields: object, text: string) => lines.push(JSON.stringify({ ...fields, text }))) as never;
  const app = await createHttp(
    {
      database: createDatabase(server.pool),
      sealer: createSealer("a secret for tests"),
      credentials: {
        findKey: async () => null,
        findSession: async () => null,
        findMembership: async () => null,
      },
      rateLimiter: { take: () => Promise.reject(new Error("never asked")), giveBack: async () => undefined },
      requestsPerMinute: 0,
      trustedProxies,
      sessionCookie: "session",
      origin: () => null,
      log,
      metrics: createMetrics(),
    },
    [
      route(boom, async ({ body }) => {
        if (body.as === "text") throw "select password from users";
        if (body.as === "null") throw null;
        if (body.as === "away") throw Object.assign(new Error("gone"), { code: "57P01" });
        if (body.as === "held") {
          held.entered.resolve();
          await held.released.promise;
        }
        if (body.as === "refusal" || body.as === "held")
          throw new AppError("CONFLICT", { message: "Already there." });
        throw Object.assign(new TypeError("select password from users /srv/main.ts"), { code: "42601" });
      }),
    ],
  );
  return { app, lines, held };
}

let failing: Awaited<ReturnType<typeof startFailing>>;
beforeAll(async () => {
  failing = await startFailing();
});
afterAll(async () => failing.app.close());

test.for(["error", "text", "null"])(
  "returns 500 with only the logged request id when a bug throws %s",
  async (as) => {
    const response = await failing.app.inject({ method: "POST", url: "/boom", payload: { as } });
    expect(response.statusCode).toBe(500);
    const answer = errorSchema.parse(response.json());
    expect(answer.error.code).toBe("INTERNAL_SERVER_ERROR");
    expect(response.body).not.toMatch(/select|users|srv|TypeError|42601|at /);
    expect(failing.lines.at(-1)).toContain(answer.error.requestId);
    const after = await failing.app.inject({ method: "POST", url: "/boom", payload: { as: "refusal" } });
    expect(after.statusCode).toBe(409);
  },
);

test("returns 503 with Retry-After while the database is away", async () => {
  const response = await failing.app.inject({ method: "POST", url: "/boom", payload: { as: "away" } });
  expect(response.statusCode).toBe(503);
  expect(errorSchema.parse(response.json()).error.code).toBe("SERVICE_UNAVAILABLE");
  expect(Number(response.headers["retry-after"])).toBeGreaterThan(0);
});

test("serves a request on an open connection while the server stops, then closes it", async () => {
  const { app, held } = await startFailing();
  await app.listen({ port: 0, host: "127.0.0.1" });
  const { port } = app.server.address() as AddressInfo;
  const socket = connect(port, "127.0.0.1");
  let received = "";
  socket.on("data", (chunk) => (received += chunk.toString()));
  const ask = (as: string) => {
    const body = JSON.stringify({ as });
    socket.write(
      `POST /boom HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: ${body.length}\r\n\r\n${body}`,
    );
  };
  ask("held");
  await held.entered.promise;
  const closed = app.close();
  while (app.server.listening) await new Promise(setImmediate);
  // It arrives before the response to the first.
  const second = once(app.server, "request");
  ask("refusal");
  await second;
  held.released.resolve();
  await Promise.all([closed, once(socket, "close")]);
  expect(received.match(/HTTP\/1\.1 \d+/g)).toEqual(["HTTP/1.1 409", "HTTP/1.1 409"]);
  expect(received).toMatch(/^connection: close/im);
});

test("idle connections and those without a request do not delay the stop", async () => {
  const { app, held } = await startFailing();
  await app.listen({ port: 0, host: "127.0.0.1" });
  const { port } = app.server.address() as AddressInfo;
  const [silent, busy] = [connect(port, "127.0.0.1"), connect(port, "127.0.0.1")];
  await Promise.all([once(silent, "connect"), once(busy, "connect")]);
  const body = JSON.stringify({ as: "held" });
  busy.write(
    `POST /boom HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: ${body.length}\r\n\r\n${body}`,
  );
  await held.entered.promise;
  const ends = [once(silent, "close"), once(busy, "close")];
  const closed = closeHttp(app, { patienceMs: 500, pollMs: 20 });
  let answer = "";
  busy.on("data", (chunk) => (answer += chunk.toString()));
  silent.resume();
  held.released.resolve();
  await Promise.all([closed, ...ends]);
  expect(answer).toMatch(/^HTTP\/1\.1 409/);
});

test("TRUST_PROXY accepts addresses, ranges and their names", async () => {
  const text = "loopback,linklocal, uniquelocal,192.0.2.7,10.0.0.0/8,2001:db8::/32,fe80::1/128";
  const { TRUST_PROXY } = readConfig({ TRUST_PROXY: text });
  expect(TRUST_PROXY).toHaveLength(7);
  const { app } = await startFailing(TRUST_PROXY);
  await app.close();
});

test.for([
  "true",
  "1",
  "proxy.example.com",
  "10.0.0.0/33",
  "10.0.0.0/0",
  "::/129",
  "10.0.0.1/8/8",
  "10.0.0/8",
  "/8",
])("names the setting when it rejects TRUST_PROXY=%s", (text) => {
  expect(() => readConfig({ TRUST_PROXY: text })).toThrow("TRUST_PROXY: must be addresses or ranges");
});
