// Tests what the installation reports about itself, and the first account in an empty database.
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, onTestFinished, test } from "vitest";
import * as contacts from "@postloft/contract/contacts.ts";
import * as instance from "@postloft/contract/instance.ts";
import { DESCRIBED_ENDPOINTS } from "@postloft/contract/openapi/openapi.ts";
import * as contract from "@postloft/contract/instance.ts";
import { readConfig } from "../platform/settings/config.ts";
import { createSealer } from "../platform/crypto.ts";
import { createDatabase, type Database } from "../platform/database/database.ts";
import { createTestDatabase, type TestDatabase } from "../platform/database/test-database.ts";
import { createSelfSignedCertificate } from "../testing/self-signed-certificate.ts";
import { connectRaw } from "../testing/submission.ts";
import { APP_SECRET, useTestServer } from "../testing/test-server.ts";
import { bootstrap, explainIgnored } from "./bootstrap.ts";
import { readReadiness } from "./health.ts";

const server = useTestServer();

test("GET /config returns the features in the contract's shape without secrets", async () => {
  const { status, body, text } = await server.call(instance.getConfig);
  expect(status).toBe(200);
  expect(contract.getConfig.responses[200]?.parse(body)).toEqual(body);
  const port = new URL(server.url).port;
  expect(body.urls).toEqual({
    api: `http://localhost:${port}`,
    dashboard: `http://localhost:${port}/app`,
    docs: `http://localhost:${port}/docs`,
  });
  expect(body.features).toMatchObject({ signups: true, email: { provider: "mailbox" } });
  expect(text).not.toMatch(/postgres:|secret|version/i);
});

test("GET /config reports disabled sign-ups, the transport, and the public address", async () => {
  const closed = await server.startAnother({
    DISABLE_SIGNUPS: "true",
    MAIL_TRANSPORT: "smtp://user:hunter2@127.0.0.1:1",
    BASE_URL: "https://mail.example.com/",
    ROLES: "api",
  });
  const { body, text } = await closed.call(instance.getConfig);
  expect(body.features).toMatchObject({ signups: false, email: { provider: "smtp" } });
  expect(body.urls.api).toBe("https://mail.example.com");
  expect(text).not.toContain("hunter2");
});

test("GET /config returns where programs submit over SMTP", async () => {
  const { body } = await server.call(instance.getConfig);
  expect(body.features.smtp).toEqual({ enabled: false, domain: null, ports: null, tls: false });
  const own = await server.startAnother({ ROLES: "api", SUBMISSION_PORT: "0" });
  const { smtp } = (await own.call(instance.getConfig)).body.features;
  expect(smtp).toMatchObject({ enabled: true, domain: "127.0.0.1", ports: { secure: null }, tls: false });
  const client = await connectRaw(smtp.ports?.submission ?? 0);
  expect(await client.say("EHLO app.example")).toMatch(/^250/);
  client.close();
});

test("GET /config returns the public host if other machines may submit", async () => {
  const folder = await mkdtemp(join(tmpdir(), "postloft-config-"));
  onTestFinished(() => rm(folder, { recursive: true }));
  const files = {
    SUBMISSION_TLS_CERT: join(folder, "cert.pem"),
    SUBMISSION_TLS_KEY: join(folder, "key.pem"),
  };
  const { cert, key } = createSelfSignedCertificate({ hostNames: ["mail.example.com"] });
  await writeFile(files.SUBMISSION_TLS_CERT, cert);
  await writeFile(files.SUBMISSION_TLS_KEY, key);
  const open = await server.startAnother({
    ROLES: "api",
    BASE_URL: "https://mail.example.com",
    SUBMISSION_HOST: "0.0.0.0",
    SUBMISSION_TLS_PORT: "0",
    ...files,
  });
  const { smtp } = (await open.call(instance.getConfig)).body.features;
  expect(smtp).toMatchObject({
    enabled: true,
    domain: "mail.example.com",
    ports: { submission: null, secure: expect.any(Number) },
    tls: true,
  });
});

test("GET /health answers while the process is alive, GET /ready when it can work", async () => {
  const health = await server.call(instance.getHealth);
  expect(health.status).toBe(200);
  expect(contract.getHealth.responses[200]?.parse(health.body)).toEqual(health.body);
  const ready = await server.call(instance.getReadiness);
  expect([ready.status, ready.body]).toEqual([
    200,
    { status: "ready", checks: { database: "ok", migrations: "ok", queue: "ok", disk: "ok" }, warnings: [] },
  ]);
});

test("every process reports an unreachable mail server but stays in service", async () => {
  const worker = await server.startAnother({
    MAIL_TRANSPORT: "smtp://user:hunter2@127.0.0.1:1",
    ROLES: "worker",
  });
  const outage = async () => {
    const { status, body } = await server.call(instance.getReadiness);
    expect(status).toBe(200);
    return body.warnings[0];
  };
  await expect.poll(outage, { timeout: 30_000 }).toMatchObject({
    code: "TRANSPORT_OUTAGE",
    message: expect.stringMatching(/^The transport smtp has been out of service since \d{4}-/),
  });
  const ready = await server.call(instance.getReadiness);
  expect(contract.getReadiness.responses[200]?.parse(ready.body)).toEqual(ready.body);
  expect(ready.text).not.toMatch(/127\.0\.0\.1|hunter2/);
  const page = await server.call("GET", "/");
  expect(page.text).toContain("needs attention");
  expect(page.text).toContain("The transport smtp has been out of service since");
  await worker.stop();
  expect(await outage()).toBeUndefined();
});

test("GET /metrics returns Prometheus text with routes instead of paths", async () => {
  await server.call(contacts.getContact, server.project.byKey, { params: { id: "a-very-special-id" } });
  const { status, headers, text } = await server.call(instance.getMetrics);
  expect(status).toBe(200);
  expect(headers.get("content-type")).toMatch(/^text\/plain; version=/);
  expect(text).toContain(
    'postloft_http_request_seconds_count{method="GET",route="/contacts/:id",status="404"} 1',
  );
  expect(text).not.toContain("a-very-special-id");
});

test("GET /openapi.json describes every endpoint for API clients, each by its name", async () => {
  const { status, headers, body } = await server.call<{
    openapi: string;
    paths: Record<string, Record<string, { operationId?: string }>>;
  }>("GET", "/openapi.json");
  expect(status).toBe(200);
  expect(headers.get("content-type")).toBe("application/json; charset=utf-8");
  expect(body.openapi).toMatch(/^3\.1/);
  const described = Object.values(body.paths).flatMap((path) =>
    Object.values(path).map(({ operationId }) => operationId),
  );
  expect(described.toSorted()).toEqual(DESCRIBED_ENDPOINTS.map(({ name }) => name).toSorted());
});

test("serves a home page and documentation that contact no other server", async () => {
  const page = await server.call("GET", "/");
  expect(page.headers.get("content-type")).toBe("text/html; charset=utf-8");
  expect(page.headers.get("content-security-policy")).toContain("default-src 'none'");
  expect(page.text).toContain("All systems OK");
  expect(page.text).not.toMatch(/(src|href)="https?:/);
  const docs = await server.call("GET", "/docs/");
  expect(docs.status).toBe(200);
  expect(docs.text).not.toMatch(/<(script|link)[^>]+(src|href)="(https?:)?\/\//);
});

let empty: TestDatabase;
let emptyDatabase: Database;
beforeAll(async () => {
  empty = await createTestDatabase();
  emptyDatabase = createDatabase(empty.pool);
});
afterAll(async () => empty.drop());

const SETTINGS = {
  BOOTSTRAP_EMAIL: "First@Example.com",
  BOOTSTRAP_PASSWORD: "a password for tests",
  BOOTSTRAP_PROJECT: "The first",
  BOOTSTRAP_PUBLIC_KEY: "pk_first",
  BOOTSTRAP_SECRET_KEY: "sk_first",
};

test("BOOTSTRAP_* creates account, project and keys in an empty database, once", async () => {
  const database = emptyDatabase;
  const sealer = createSealer(APP_SECRET);
  const run = (settings: Record<string, string>) => bootstrap(database, sealer, readConfig(settings));
  expect(await run({})).toBe("nothing set");
  for (const faulty of [
    { BOOTSTRAP_EMAIL: "nobody" },
    { BOOTSTRAP_PASSWORD: "a password for tests" },
    { ...SETTINGS, BOOTSTRAP_PASSWORD: "short" },
    { ...SETTINGS, BOOTSTRAP_PASSWORD: "x".repeat(257) },
  ])
    await expect(run(faulty)).rejects.toThrow(/^BOOTSTRAP_/);
  expect(await run(SETTINGS)).toBe("made");
  expect(await run({ ...SETTINGS, BOOTSTRAP_EMAIL: "second@example.com" })).toBe("has accounts");
  const { rows } = await empty.pool.query(
    "select u.email, p.name, m.role from users u join memberships m on m.user_id = u.id join projects p on p.id = m.project_id",
  );
  expect(rows).toEqual([{ email: "first@example.com", name: "The first", role: "OWNER" }]);
});

test("only one of several concurrent first starts creates the account", async () => {
  const fresh = await createTestDatabase();
  const database = createDatabase(fresh.pool);
  const results = await Promise.all(
    Array.from({ length: 4 }, () => bootstrap(database, createSealer(APP_SECRET), readConfig(SETTINGS))),
  );
  expect(results.toSorted()).toEqual(["has accounts", "has accounts", "has accounts", "made"]);
  const { rows } = await fresh.pool.query("select count(distinct project_id)::int as projects from api_keys");
  expect(rows).toEqual([{ projects: 1 }]);
  await fresh.drop();
});

test("warns that BOOTSTRAP_* has no effect on a database with accounts, and about unknown keys", async () => {
  const database = emptyDatabase;
  const explain = (settings: Record<string, string>) => explainIgnored(database, readConfig(settings));
  expect(await explain({})).toEqual([]);
  expect(await explain(SETTINGS)).toEqual([expect.stringMatching(/^BOOTSTRAP_\* is ignored/)]);
  const lines = await explain({ ...SETTINGS, BOOTSTRAP_SECRET_KEY: "sk_another" });
  expect(lines).toEqual([
    expect.stringMatching(/^BOOTSTRAP_\* is ignored/),
    expect.stringMatching(/^BOOTSTRAP_SECRET_KEY is not a key of this server/),
  ]);
  expect(lines.join()).not.toContain("sk_another");
});

test("a server with BOOTSTRAP_* accepts those keys and keeps sign-ups disabled", async () => {
  const another = await server.startAnother({ ...SETTINGS, DISABLE_SIGNUPS: "true", ROLES: "api" });
  // This database already has accounts, so nothing is created.
  expect((await another.call(contacts.listContacts, { key: "sk_first" })).status).toBe(401);
});

test("a check that can't run counts as failing and never throws", async () => {
  const gone = await createTestDatabase();
  const database = createDatabase(gone.pool);
  await gone.drop();
  expect(await readReadiness(database, "/no/such/folder")).toEqual({
    ready: false,
    checks: { database: "failing", migrations: "failing", queue: "failing", disk: "failing" },
    warnings: [],
  });
});
