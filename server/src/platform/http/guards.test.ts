// Tests the first checks of a request, which are repeated headers, access to the installation's pages and untrusted proxies.
import { createHash } from "node:crypto";
import { connect } from "node:net";
import { text } from "node:stream/consumers";
import Fastify, { type FastifyRequest } from "fastify";
import { expect, test } from "vitest";
import * as instance from "@postloft/contract/instance.ts";
import { useTestServer } from "../../testing/test-server.ts";
import { createGuards, type Access } from "./guards.ts";
import { createLog } from "../log.ts";

const TOKEN = "a token for tests, long";
const server = useTestServer({
  DOCS_ACCESS: "anyone",
  METRICS_ACCESS: `token:${TOKEN.replaceAll(" ", "-")}`,
  BASE_URL: "https://mail.example.com",
});
const bearer = (token: string) => ({ headers: { authorization: `Bearer ${token}` } });
const basic = (token: string) => ({
  headers: { authorization: `Basic ${Buffer.from(`prometheus:${token}`).toString("base64")}` },
});

async function speak(...lines: readonly string[]): Promise<string> {
  const socket = connect(Number(new URL(server.url).port), "127.0.0.1");
  socket.end(`${lines.join("\r\n")}\r\n\r\n`);
  return text(socket);
}

test.each([
  ["Host: a.example", "host: b.example"],
  ["Host: a.example", "Authorization: Bearer sk_a", "AUTHORIZATION: Bearer sk_b"],
  ["Host: a.example", "Authorization: Bearer sk_a", "Authorization: Bearer sk_a"],
])("%s, %s: rejects a repeated header", async (...headers) => {
  const response = await speak("GET /contacts HTTP/1.1", ...headers, "Connection: close");
  expect(response).toMatch(/^HTTP\/1\.1 400 /);
  expect(response).toMatch(/The header (host|authorization) is repeated/);
});

test("accepts one of each header", async () => {
  const response = await speak(
    "GET /health HTTP/1.1",
    "Host: a.example",
    "X-Some: 1",
    "X-Some: 2",
    "Connection: close",
  );
  expect(response).toMatch(/^HTTP\/1\.1 200 /);
});

test("sends Strict-Transport-Security if BASE_URL uses https", async () => {
  const { headers } = await server.call(instance.getHealth);
  expect(headers.get("strict-transport-security")).toBe("max-age=31536000");
});

test("/metrics accepts its token as Bearer or password and otherwise returns 401", async () => {
  const token = TOKEN.replaceAll(" ", "-");
  expect((await server.call(instance.getMetrics, bearer(token))).status).toBe(200);
  expect((await server.call(instance.getMetrics, basic(token))).status).toBe(200);
  for (const caller of [{}, bearer("wrong"), basic("wrong"), basic(`${token}x`)]) {
    const { status, headers, body } = await server.call("GET", "/metrics", caller);
    expect([status, body.error.code]).toEqual([401, "UNAUTHORIZED"]);
    expect(headers.get("www-authenticate")).toContain("Basic");
    expect(body.message).toContain("METRICS_ACCESS");
  }
});

test("/docs runs only its own scripts", async () => {
  const { status, headers, text: page } = await server.call("GET", "/docs/");
  expect(status).toBe(200);
  const policy = headers.get("content-security-policy") ?? "";
  expect(policy).toContain("default-src 'none'; script-src 'self' 'sha256-");
  expect(policy).not.toMatch(/script-src[^;]*unsafe/);
  const scripts = [...page.matchAll(/<script([^>]*)>([\s\S]*?)<\/script>/g)];
  expect(scripts).toHaveLength(2);
  const [[, attributes = ""] = [], [, , inline = ""] = []] = scripts;
  expect(attributes).toContain('src="js/scalar.js"');
  expect(policy).toContain(createHash("sha256").update(inline).digest("base64"));
  expect((await server.call("GET", "/docs/js/scalar.js")).status).toBe(200);
});

/** Returns the guards' error for a request, and the logged warnings. */
async function guarded(
  access: Access,
  trusted: readonly string[],
  from: string,
  headers: Record<string, string>,
) {
  const log = createLog({ level: "silent" });
  const warnings: string[] = [];
  log.warn = (_fields: unknown, message?: string) => void warnings.push(message ?? "");
  const guard = createGuards({
    access: [{ path: "/metrics", setting: "METRICS_ACCESS", access }],
    trustsProxies: trusted.length > 0,
    log,
  });
  const app = Fastify({ trustProxy: trusted.length > 0 && [...trusted] });
  app.get("/metrics", async (request: FastifyRequest, reply) => ({
    code: guard(request, reply)?.code ?? "ok",
  }));
  const ask = async () =>
    (await app.inject({ url: "/metrics", remoteAddress: from, headers })).json<{ code: string }>().code;
  const code = await ask();
  await ask();
  return { code, warnings };
}

test.each([
  ["127.0.0.1", {}, [], "ok"],
  ["::1", {}, [], "ok"],
  ["10.0.0.7", {}, [], "FORBIDDEN"],
  // An unknown proxy on this machine forwards requests from other machines.
  ["127.0.0.1", { "x-forwarded-for": "203.0.113.5" }, [], "FORBIDDEN"],
  ["127.0.0.1", { forwarded: "for=203.0.113.5" }, [], "FORBIDDEN"],
  ["127.0.0.1", { "x-forwarded-for": "203.0.113.5" }, ["loopback"], "FORBIDDEN"],
  ["127.0.0.1", { "x-forwarded-for": "127.0.0.1" }, [], "FORBIDDEN"],
  ["127.0.0.1", { "x-forwarded-for": "127.0.0.1" }, ["loopback"], "FORBIDDEN"],
  ["127.0.0.1", { "x-forwarded-proto": "https" }, [], "FORBIDDEN"],
  ["127.0.0.1", { via: "1.1 proxy" }, [], "FORBIDDEN"],
  // A proxy that adds no header is indistinguishable from this machine.
  ["127.0.0.1", {}, ["10.0.0.1"], "FORBIDDEN"],
] as const)("/metrics for this machine only, from %s with %j: %s", async (from, headers, trusted, code) => {
  expect((await guarded("loopback", trusted, from, headers)).code).toBe(code);
});

test.each([
  ["10.0.0.7", { "x-forwarded-for": "203.0.113.5" }, [], "TRUST_PROXY=10.0.0.7"],
  ["::ffff:172.18.0.2", { "x-forwarded-for": "203.0.113.5" }, [], "TRUST_PROXY=172.18.0.2"],
  ["fd00::2", { "x-forwarded-for": "203.0.113.5" }, [], "TRUST_PROXY=fd00::2"],
  ["203.0.113.9", { "x-forwarded-for": "203.0.113.5" }, [], null],
  ["10.0.0.7", {}, [], null],
  ["10.0.0.7", { "x-forwarded-for": "203.0.113.5" }, ["10.0.0.7"], null],
] as const)(
  "warns at most once about a proxy at %s with %j that is trusted as %j",
  async (from, headers, trusted, reported) => {
    const { warnings } = await guarded("anyone", trusted, from, headers);
    expect(warnings.map((warning) => /TRUST_PROXY=\S+/.exec(warning)?.[0])).toEqual(
      reported === null ? [] : [reported],
    );
  },
);
