// Single calls to real servers on this machine: the request, the treatment of each response, and forbidden targets.
import {
  createServer,
  type IncomingMessage,
  type RequestListener,
  type Server,
  type ServerResponse,
} from "node:http";
import { createServer as createTlsServer } from "node:https";
import type { AddressInfo } from "node:net";
import { gzipSync } from "node:zlib";
import { afterEach, expect, test } from "vitest";
import { LIMITS } from "@postloft/contract/limits/limits.ts";
import { createSelfSignedCertificate } from "../testing/self-signed-certificate.ts";
import { createWebhookCaller, type CallerOptions, type WebhookRequest } from "./call-webhook.ts";
import { parseNetworks, type CallTargets } from "./networks.ts";

const targets: CallTargets = { networks: parseNetworks(["127.0.0.1/32"]), ports: [[1, 65_535]] };
const servers: Server[] = [];
afterEach(() => servers.splice(0).forEach((server) => server.close().closeAllConnections()));

async function listen(server: Server): Promise<number> {
  servers.push(server);
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return (server.address() as AddressInfo).port;
}

async function serve(listener: RequestListener): Promise<string> {
  return `http://127.0.0.1:${await listen(createServer(listener))}`;
}

type Names = Record<string, string[]>;

/** A resolver that knows these names and counts the queries. */
function resolver(names: Names) {
  const asked: string[] = [];
  const records: CallerOptions["dns"]["records"] = async (name, type) => {
    asked.push(`${name} ${type}`);
    const found = (names[name] ?? []).filter((address) => address.includes(":") === (type === "AAAA"));
    return found.length > 0 ? { kind: "records", records: found } : { kind: "none" };
  };
  return { asked, records };
}

function call(request: Partial<WebhookRequest> & { url: string }, options: Partial<CallerOptions> = {}) {
  const caller = createWebhookCaller({ dns: resolver({}), targets, ...options });
  return caller({ method: "POST", headers: {}, body: '{"a":"ü"}', ...request });
}

async function bodyOf(request: IncomingMessage): Promise<string> {
  const parts: Buffer[] = [];
  for await (const part of request) parts.push(part as Buffer);
  return Buffer.concat(parts).toString("utf8");
}

test("sends method, path, headers and body unchanged and returns the response", async () => {
  let seen: unknown;
  const url = await serve(async (request, response) => {
    seen = {
      method: request.method,
      url: request.url,
      headers: request.headers,
      body: await bodyOf(request),
    };
    response.writeHead(201, { "content-type": "application/json" }).end('{"ok":true}');
  });
  const result = await call({ url: `${url}/hook?a=b`, method: "PUT", headers: { "X-Token": "t" } });
  expect(result).toEqual({ status: 201, body: '{"ok":true}', isCut: false, askedSeconds: null, error: null });
  expect(seen).toMatchObject({
    method: "PUT",
    url: "/hook?a=b",
    body: '{"a":"ü"}',
    headers: {
      host: new URL(url).host,
      connection: "close",
      "user-agent": "Postloft",
      "content-type": "application/json",
      "content-length": "10",
      "x-token": "t",
    },
  });
});

test("sends GET without a body", async () => {
  const url = await serve(async (request, response) =>
    response.end(`${await bodyOf(request)}|${request.headers["content-type"]}`),
  );
  expect((await call({ url, method: "GET" })).body).toBe("|undefined");
});

test("reports a redirect without following it", async () => {
  let calls = 0;
  const url = await serve((_request, response) => {
    calls++;
    response.writeHead(302, { location: "http://169.254.169.254/" }).end();
  });
  expect(await call({ url })).toMatchObject({ status: 302, error: expect.stringContaining("not followed") });
  expect(calls).toBe(1);
});

test("keeps a response that is not 2xx, with its Retry-After", async () => {
  const url = await serve((_request, response) =>
    response.writeHead(503, { "retry-after": "120" }).end("busy"),
  );
  expect(await call({ url })).toEqual({
    status: 503,
    body: "busy",
    isCut: false,
    askedSeconds: 120,
    error: "The endpoint responded with 503.",
  });
});

test("cuts an endless response at 64 KB and closes its connection", async () => {
  const closed = Promise.withResolvers<void>();
  const url = await serve((_request, response) => {
    response.on("close", closed.resolve);
    pour(response, "x".repeat(16_384));
  });
  const result = await call({ url });
  expect(result).toMatchObject({ status: 200, isCut: true, error: null });
  expect(result.body).toHaveLength(LIMITS.webhookAnswerBytes.value);
  await closed.promise;
});

/** Writes until the client stops reading. */
function pour(response: ServerResponse, part: string): void {
  if (response.destroyed) return;
  response.write(part, () => pour(response, part));
}

test("does not cut a response of exactly 64 KB", async () => {
  const url = await serve((_request, response) => response.end("x".repeat(LIMITS.webhookAnswerBytes.value)));
  expect((await call({ url })).isCut).toBe(false);
});

test("decompresses up to 64 KB of a response, and keeps the status of a corrupt one", async () => {
  const bodies = [gzipSync("hello"), gzipSync("0".repeat(50_000_000)), Buffer.from("no gzip")];
  const results = [];
  for (const body of bodies) {
    const url = await serve((_request, response) =>
      response.writeHead(200, { "content-encoding": "gzip" }).end(body),
    );
    results.push(await call({ url }));
  }
  expect(results.map(({ body, isCut, error }) => [body?.length, isCut, error])).toEqual([
    [5, false, null],
    [LIMITS.webhookAnswerBytes.value, true, null],
    [0, true, null],
  ]);
});

test("replaces bytes that are not valid text", async () => {
  const url = await serve((_request, response) => response.end(Buffer.from([0x61, 0, 0xff])));
  expect((await call({ url })).body).toBe("a\uFFFD\uFFFD");
});

test("fails when an endpoint does not respond or complete its response in time", async () => {
  const hanging = await serve(() => undefined);
  const dripping = await serve((_request, response) => {
    const timer = setInterval(() => response.write("x"), 20);
    response.on("close", () => clearInterval(timer));
  });
  const slowDns = { records: () => new Promise<never>(() => undefined) };
  const timeoutMs = 300;
  expect(await call({ url: hanging }, { timeoutMs })).toMatchObject({
    status: null,
    error: "The endpoint did not respond within 0.3 s.",
  });
  expect(await call({ url: dripping }, { timeoutMs })).toMatchObject({
    status: 200,
    body: null,
    error: "The response (200) did not end within 0.3 s.",
  });
  expect(await call({ url: "http://slow.example" }, { timeoutMs, dns: slowDns })).toMatchObject({
    status: null,
    error: "The endpoint did not respond within 0.3 s.",
  });
});

test("reports a refused or broken connection or invalid HTTP as a reason without throwing", async () => {
  const url = await serve((request) => request.socket.destroy());
  const half = await serve((request, response) => {
    response.writeHead(200, { "content-length": "100" }).write("half");
    setTimeout(() => request.socket.destroy(), 20);
  });
  const noise = await serve((request) => request.socket.end("SSH-2.0-OpenSSH\r\n"));
  for (const one of [url, half, noise])
    expect((await call({ url: one })).error).toMatch(/^The call failed: /);
  servers.splice(0).forEach((server) => server.close().closeAllConnections());
  expect((await call({ url })).error).toContain("ECONNREFUSED");
});

test("connects to the checked address after a single lookup, with the name as Host", async () => {
  const url = new URL(await serve((request, response) => response.end(request.headers.host)));
  // A DNS rebinding attack returns another address the second time.
  const responses = [["127.0.0.1"], ["127.0.0.2"]];
  const asked: string[] = [];
  const dns: CallerOptions["dns"] = {
    async records(name, type) {
      if (type === "AAAA") return { kind: "none" };
      asked.push(name);
      return { kind: "records", records: responses[asked.length - 1] ?? [] };
    },
  };
  const result = await call({ url: `http://rebind.example:${url.port}/` }, { dns });
  expect(result).toMatchObject({ status: 200, body: `rebind.example:${url.port}` });
  expect(asked).toEqual(["rebind.example"]);
});

test("calls no address of a name that has a forbidden one", async () => {
  let calls = 0;
  const url = new URL(await serve((_request, response) => response.end(String(calls++))));
  const names: Names = {
    "private.example": ["10.0.0.1"],
    "mixed.example": ["127.0.0.1", "169.254.169.254"],
    "six.example": ["127.0.0.1", "fd00:ec2::254"],
    "mapped.example": ["::ffff:10.0.0.1"],
  };
  for (const name of Object.keys(names)) {
    const result = await call({ url: `http://${name}:${url.port}/` }, { dns: resolver(names) });
    expect(result).toMatchObject({
      status: null,
      error: `${name} resolves to an address outside the public internet.`,
    });
  }
  expect(calls).toBe(0);
});

test("rejects calls by the rules for saving, without a DNS query", async () => {
  const dns = resolver({});
  for (const url of [
    "http://127.0.0.2",
    "http://0x7f.2",
    "http://[::1]",
    "ftp://example.com",
    "http://a:b@example.com",
  ])
    expect((await call({ url }, { dns })).error).toMatch(/^Must /);
  expect((await call({ url: "http://127.0.0.1", headers: { "x-a": "b\r\nc: d" } }, { dns })).error).toMatch(
    /^Must /,
  );
  expect(dns.asked).toEqual([]);
});

test("reports a name that DNS does not know or does not answer", async () => {
  expect((await call({ url: "http://nowhere.example" })).error).toBe(
    "DNS has no address for nowhere.example.",
  );
  const dns: CallerOptions["dns"] = { records: async () => ({ kind: "unanswered", reason: "ETIMEOUT" }) };
  expect((await call({ url: "http://nowhere.example" }, { dns })).error).toBe(
    "DNS did not respond for nowhere.example.",
  );
});

test("requires a TLS certificate for the name from a known authority", async () => {
  const certificate = createSelfSignedCertificate({ hostNames: ["hook.example"], addresses: ["127.0.0.1"] });
  const port = await listen(createTlsServer(certificate, (_request, response) => response.end("safe")));
  const dns = resolver({ "hook.example": ["127.0.0.1"], "other.example": ["127.0.0.1"] });
  const trusting = { dns, authorities: certificate.cert };
  expect((await call({ url: `https://hook.example:${port}` }, trusting)).body).toBe("safe");
  expect((await call({ url: `https://other.example:${port}` }, trusting)).error).toContain("other.example");
  expect((await call({ url: `https://hook.example:${port}` }, { dns })).error).toMatch(/self.signed/);
});
