// Tests sender domains over HTTP with the local mailbox, which asks no DNS. With DNS see check-domains.test.ts and rotate-key.test.ts.
import { randomUUID } from "node:crypto";
import { sql } from "kysely";
import { expect, test, vi } from "vitest";
import * as domainsContract from "@postloft/contract/domains.ts";
import * as templates from "@postloft/contract/templates.ts";
import * as v1 from "@postloft/contract/v1.ts";
import { createSealer } from "../platform/crypto.ts";
import { transaction } from "../platform/database/database.ts";
import type { Dns } from "../platform/dns.ts";
import { createLog } from "../platform/log.ts";
import { APP_SECRET, faultsOf, errorOf, useTestServer, type TestCaller } from "../testing/test-server.ts";
import { createDomains } from "./domains.ts";
import type { DomainView } from "./present-domain.ts";

const server = useTestServer({ ROLES: "api" });

let made = 0;
const newName = () => `mail${++made}.example.com`;
const add = (caller: TestCaller, domain: unknown) =>
  server.call<DomainView>("POST", "/domains", caller, { domain });
const verify = (caller: TestCaller, id: string) =>
  server.call(domainsContract.verifyDomain, caller, { params: { id } });
const list = async (projectId: string, caller: TestCaller) =>
  (await server.call(domainsContract.listDomains, caller, { params: { projectId } })).body;
const statusOfMail = async (caller: TestCaller, from: string) =>
  errorOf(
    await server.call(v1.send, caller, { body: { to: "a@example.com", from, subject: "s", body: "b" } }),
  );

test("every project has the verified sandbox domain, which can't be added or removed", async () => {
  const { id, byKey } = await server.createProject();
  const [sandbox, ...others] = await list(id, byKey);
  expect(others).toEqual([]);
  expect(sandbox).toMatchObject({ domain: "sandbox.localhost", verified: true, status: "VERIFIED" });
  expect((await verify(byKey, sandbox?.id ?? "")).body).toEqual(sandbox);
  const removed = await server.call("DELETE", `/domains/${sandbox?.id}`, byKey);
  expect(errorOf(removed)).toBe("409 CONFLICT");
  const added = await server.call(domainsContract.createDomain, byKey, {
    body: { domain: "SANDBOX.localhost" },
  });
  expect(errorOf(added)).toBe("422 VALIDATION_ERROR");
  expect(await statusOfMail(byKey, "a@sandbox.localhost")).toBe("200 undefined");
});

test("a new domain shows its record and can send only after it is verified", async () => {
  const { id, byKey } = await server.createProject();
  const name = newName();
  const reply = await add(byKey, ` ${name.toUpperCase()} `);
  expect(reply.status).toBe(201);
  expect(reply.body).toMatchObject({ domain: name, verified: false, status: "PENDING", lastCheckedAt: null });
  const selector = reply.body.dkimTokens[0] ?? "";
  expect(reply.body.records).toEqual([
    {
      type: "TXT",
      name: `${selector}._domainkey.${name}`,
      value: expect.stringMatching(/^v=DKIM1; k=rsa; p=[A-Za-z0-9+/=]{300,}$/),
      purpose: "dkim",
      required: true,
      found: null,
      status: "UNCHECKED",
      advice: null,
      adviceParts: [],
      lookedUpAt: null,
      servers: [],
    },
    expect.objectContaining({ name, purpose: "spf", required: false, status: "UNCHECKED" }),
    expect.objectContaining({
      name: `_dmarc.${name}`,
      purpose: "dmarc",
      required: false,
      status: "UNCHECKED",
    }),
  ]);
  expect(await statusOfMail(byKey, `a@${name}`)).toBe("403 DOMAIN_NOT_VERIFIED");
  const verified = await verify(byKey, reply.body.id);
  expect(verified.body).toMatchObject({ verified: true, status: "VERIFIED", lastError: null });
  expect(verified.body.records[0]).toMatchObject({ status: "FOUND", found: reply.body.records[0]?.value });
  expect(verified.body.lastCheckedAt).not.toBeNull();
  expect(await statusOfMail(byKey, `a@${name}`)).toBe("200 undefined");
  expect(await statusOfMail(byKey, `a@sub.${name}`)).toBe("403 DOMAIN_NOT_VERIFIED");
  expect(await statusOfMail(byKey, "a@example.com")).toBe("403 DOMAIN_NOT_VERIFIED");
  expect((await list(id, byKey)).map(({ domain }) => domain)).toEqual([name, "sandbox.localhost"]);
  expect((await server.call("DELETE", `/domains/${reply.body.id}`, byKey)).status).toBe(204);
  expect(await statusOfMail(byKey, `a@${name}`)).toBe("403 DOMAIN_NOT_VERIFIED");
  expect(errorOf(await server.call("DELETE", `/domains/${reply.body.id}`, byKey))).toBe(
    "404 DOMAIN_NOT_FOUND",
  );
});

test("treats different spellings of a name as one domain", async () => {
  const { byKey } = await server.createProject();
  expect((await add(byKey, "bücher.example")).body.domain).toBe("xn--bcher-kva.example");
  const again = await server.call(domainsContract.createDomain, byKey, {
    body: { domain: "XN--BCHER-KVA.example" },
  });
  expect(errorOf(again)).toBe("409 CONFLICT");
});

test("rejects a domain verified in another project until that project deletes it", async () => {
  const [one, other] = [await server.createProject(), await server.createProject()];
  const name = newName();
  const first = await add(one.byKey, name);
  const second = await add(other.byKey, name);
  expect([first.status, second.status]).toEqual([201, 201]);
  await verify(one.byKey, first.body.id);
  const late = await server.call("GET", `/domains/${second.body.id}/verify`, other.byKey);
  expect(errorOf(late)).toBe("409 CONFLICT");
  const third = await server.createProject();
  expect(
    errorOf(await server.call(domainsContract.createDomain, third.byKey, { body: { domain: name } })),
  ).toBe("409 CONFLICT");
  expect(await statusOfMail(other.byKey, `a@${name}`)).toBe("403 DOMAIN_NOT_VERIFIED");
  expect(await statusOfMail(one.byKey, `a@${name}`)).toBe("200 undefined");
  await server.call("DELETE", `/domains/${first.body.id}`, one.byKey);
  expect((await verify(other.byKey, second.body.id)).body.verified).toBe(true);
});

test("domains verified by DNS in two projects keep their status when email stays local", async () => {
  const [one, other] = [await server.createProject(), await server.createProject()];
  const name = newName();
  const ids = [(await add(one.byKey, name)).body.id, (await add(other.byKey, name)).body.id] as const;
  await server.rows("update domains set last_checked_at = now() where domain = $1", name);
  expect((await verify(one.byKey, ids[0])).status).toBe(200);
  expect((await verify(other.byKey, ids[1])).status).toBe(200);
});

test("verifies a domain for only one of many concurrent projects", async () => {
  const name = newName();
  const owner = await server.signUp();
  const projects = [];
  for (let at = 0; at < 5; at++) projects.push(await server.createProject(owner));
  const added = await Promise.all(projects.map(({ byKey }) => add(byKey, name)));
  const checks = await Promise.all(projects.map(({ byKey }, at) => verify(byKey, added[at]?.body.id ?? "")));
  expect(checks.map(({ status }) => status).toSorted()).toEqual([200, 409, 409, 409, 409]);
  const listed = await Promise.all(projects.map(({ id, byKey }) => list(id, byKey)));
  expect(listed.flat().filter(({ domain, verified }) => domain === name && verified)).toHaveLength(1);
});

test.for([
  ["", "domain invalid_string"],
  ["localhost", "domain invalid_string"],
  ["a..b", "domain invalid_string"],
  ["-a.example", "domain invalid_string"],
  ["a_b.example", "domain invalid_string"],
  ["127.0.0.1", "domain invalid_string"],
  ["http://a.example", "domain invalid_string"],
  ["a.example\r\nx", "domain invalid_string"],
  ["a@b.example", "domain invalid_string"],
  [`${"x".repeat(64)}.example`, "domain invalid_string"],
  [undefined, "domain required"],
  [5, "domain invalid_type"],
  [["a.example"], "domain invalid_type"],
] as const)("rejects the domain %j", async ([domain, fault]) => {
  const before = await server.countRows();
  const reply = await server.call("POST", "/domains", server.project.byKey, { domain });
  expect(reply.status).toBe(422);
  expect(faultsOf(reply)).toEqual([fault]);
  expect(await server.countRows()).toEqual(before);
});

test("plain members may view and check domains but not add, change or delete them", async () => {
  const project = await server.createProject();
  const { body: domain } = await add(project.byKey, newName());
  const { id, cookie } = await server.signUp();
  await server.rows("insert into memberships values ($1, $2, 'MEMBER')", project.id, id);
  const caller = { cookie, projectId: project.id };
  expect(await list(project.id, { cookie })).toHaveLength(2);
  expect((await verify(caller, domain.id)).status).toBe(200);
  const added = await server.call(domainsContract.createDomain, caller, { body: { domain: newName() } });
  expect(errorOf(added)).toBe("403 FORBIDDEN");
  for (const [method, path] of [
    ["DELETE", `/domains/${domain.id}`],
    ["POST", `/domains/${domain.id}/rotate-key`],
  ] as const)
    expect(errorOf(await server.call(method, path, caller))).toBe("403 FORBIDDEN");
  await server.rows("update memberships set role = 'ADMIN' where user_id = $1", id);
  expect((await server.call("DELETE", `/domains/${domain.id}`, caller)).status).toBe(204);
});

test("encrypts the private DKIM key and never returns it", async () => {
  const { body } = await add(server.project.byKey, newName());
  const [row] = await server.rows<{ text: string }>(
    "select encode(dkim_private_key, 'escape') as text from domains where id = $1",
    body.id,
  );
  expect(row?.text).not.toContain("PRIVATE KEY");
  expect(JSON.stringify(body)).not.toContain("PRIVATE");
});

test("a domain verified while email stayed local is unverified once email leaves the machine", async () => {
  const project = await server.createProject();
  const name = newName();
  const { body } = await add(project.byKey, name);
  expect((await verify(project.byKey, body.id)).body.verified).toBe(true);
  const dns: Dns = {
    txt: async () => ({ kind: "none" }),
    records: async () => ({ kind: "none" }),
    servers: () => [],
  };
  const log = createLog({ level: "silent" });
  const sealer = createSealer(APP_SECRET);
  const domains = createDomains({
    database: server.database,
    sealer,
    dns,
    staysHere: false,
    returnPath: null,
    baseUrl: () => "https://post.example",
    log,
  });
  expect((await domains.list(project.id)).map(({ domain, status }) => [domain, status])).toEqual([
    [name, "PENDING"],
  ]);
  const names = [name, "sandbox.localhost"].map((domain) => ({ projectId: project.id, domain }));
  expect([...(await domains.findSigningKeys(names)).values()].map(({ kind }) => kind)).toEqual([
    "refused",
    "refused",
  ]);
  await expect(domains.verify(project.id, randomUUID())).rejects.toMatchObject({ code: "DOMAIN_NOT_FOUND" });
});

test("deleting a domain waits for a sender being created and is then rejected", async () => {
  const { byKey } = await server.createProject();
  const { body } = await add(byKey, newName());
  await verify(byKey, body.id);
  const waiting = (count: number) =>
    vi.waitFor(
      async () =>
        expect(
          await server.rows(
            "select pid from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'",
          ),
        ).toHaveLength(count),
      { timeout: 30_000, interval: 20 },
    );
  const template = { name: "News", subject: "s", body: "b", type: "TRANSACTIONAL", from: `a@${body.domain}` };
  const [creation, removal] = await transaction(server.database, async (tx) => {
    await sql`lock table templates in share mode`.execute(tx);
    const making = server.call(templates.createTemplate, byKey, { anyBody: template });
    await waiting(1);
    const removing = server.call("DELETE", `/domains/${body.id}`, byKey);
    await waiting(2);
    return [making, removing];
  }).then((calls) => Promise.all(calls));
  expect([creation?.status, removal?.status]).toEqual([201, 409]);
  expect((await server.call("GET", `/domains/${body.id}/verify`, byKey)).status).toBe(200);
});

test("rotates a key at the next check without DNS, and never for the sandbox domain", async () => {
  const { id, byKey } = await server.createProject();
  const { body } = await add(byKey, newName());
  const rotate = (domainId: string) =>
    server.call(domainsContract.rotateDomainKey, byKey, { params: { id: domainId } });
  await verify(byKey, body.id);
  const [former = ""] = body.dkimTokens;
  const rotated = await rotate(body.id);
  expect(rotated.status).toBe(200);
  expect(rotated.body.dkimTokens).toEqual([former, expect.not.stringMatching(former)]);
  expect((await verify(byKey, body.id)).body.dkimTokens).toEqual(rotated.body.dkimTokens.toReversed());
  const sandbox = (await list(id, byKey)).find(({ domain }) => domain === "sandbox.localhost");
  const refused = async (domainId: string) =>
    errorOf(await server.call(domainsContract.rotateDomainKey, byKey, { params: { id: domainId } }));
  expect([await refused(sandbox?.id ?? ""), await refused(randomUUID()), await refused("x")]).toEqual([
    "409 CONFLICT",
    "404 DOMAIN_NOT_FOUND",
    "404 DOMAIN_NOT_FOUND",
  ]);
});
