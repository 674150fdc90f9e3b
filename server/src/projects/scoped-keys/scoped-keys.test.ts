// Tests scopes, roles, networks, expiry, revocation and last use of scoped keys.
import { expect, test } from "vitest";
import * as contacts from "@postloft/contract/contacts.ts";
import * as keys from "@postloft/contract/keys.ts";
import { LIMITS } from "@postloft/contract/limits/limits.ts";
import type { ErrorEnvelope } from "../../platform/http/errors.ts";
import { faultsOf, errorOf, useTestServer, type TestProject } from "../../testing/test-server.ts";
import type { ResponseOf } from "../../testing/typed-call.ts";

const server = useTestServer({ ROLES: "api" });

type Key = ResponseOf<typeof keys.createKey>["data"];

const make = <Body = ErrorEnvelope>({ id, owner }: TestProject, body: object) =>
  server.call<Body>("POST", `/projects/${id}/keys`, { cookie: owner.cookie }, { name: "A key", ...body });
const keyOf = async (project: TestProject, body: object): Promise<Key> =>
  (await make<{ data: Key }>(project, body)).body.data;
const list = async ({ id, owner }: TestProject) =>
  (await server.call(keys.listKeys, { cookie: owner.cookie }, { params: { projectId: id } })).body.data;
const ask = async (method: string, path: string, { key }: Key, body?: object, call = server.call) =>
  call(method, path, { key }, body);
const CONTACT = { email: "ada@example.com" };

test("a key allows only its scopes and errors name the missing one", async () => {
  const project = await server.createProject();
  const reads = await keyOf(project, { scopes: ["contacts:read"] });
  const writes = await keyOf(project, { scopes: ["contacts:write", "segments:read"] });
  expect((await ask("GET", "/contacts", reads)).status).toBe(200);
  const refused = await ask("POST", "/contacts", reads, CONTACT);
  expect(errorOf(refused)).toBe("403 FORBIDDEN");
  expect(refused.body.error.message).toContain("`contacts:write`, but yours has `contacts:read`");
  expect((await ask("POST", "/contacts", writes, CONTACT)).status).toBe(201);
  expect((await ask("GET", "/contacts", writes)).status).toBe(200);
  expect((await ask("GET", "/segments", writes)).status).toBe(200);
  for (const path of ["/templates", "/emails", "/events"])
    expect(errorOf(await ask("GET", path, writes))).toBe("403 FORBIDDEN");
  expect(errorOf(await ask("POST", "/v1/track", writes, { ...CONTACT, event: "x" }))).toBe("403 FORBIDDEN");
  const everything = await keyOf(project, { scopes: ["*:write"] });
  expect((await ask("POST", "/v1/track", everything, { ...CONTACT, event: "x" })).status).toBe(200);
  expect(errorOf(await ask("GET", `/projects/${project.id}/keys`, everything))).toBe("401 UNAUTHORIZED");
});

test("shows a key once, stores a hash, logs it, and rejects it everywhere once revoked", async () => {
  const another = await server.startAnother();
  const project = await server.createProject();
  const made = await keyOf(project, { name: "  Form ", scopes: ["*:read", "*:read"] });
  expect(made).toMatchObject({ name: "Form", scopes: ["*:read"], networks: [], expiresAt: null });
  expect(made.key).toMatch(/^sk_scoped_[A-Za-z0-9]{48}$/);
  const { key, ...shown } = made;
  expect(await list(project)).toEqual([shown]);
  expect(JSON.stringify(await server.rows("select k::text from scoped_keys k"))).not.toContain(key);
  for (const call of [server.call, another.call])
    expect((await ask("GET", "/contacts", made, undefined, call)).status).toBe(200);
  const revoke = (of: TestProject) =>
    server.call(
      keys.revokeKey,
      { cookie: of.owner.cookie },
      { params: { projectId: of.id, keyId: made.id } },
    );
  expect(errorOf(await revoke(await server.createProject()))).toBe("404 KEY_NOT_FOUND");
  expect((await revoke(project)).status).toBe(204);
  for (const call of [server.call, another.call])
    expect(errorOf(await ask("GET", "/contacts", made, undefined, call))).toBe("401 INVALID_API_KEY");
  expect(errorOf(await revoke(project))).toBe("404 KEY_NOT_FOUND");
  const log = await server.rows<{ action: string }>(
    "select action from audit_log where project_id = $1 and action like 'key.%' order by number",
    project.id,
  );
  expect(log.map(({ action }) => action)).toEqual(["key.created", "key.revoked"]);
});

test("a member manages own keys, which can do at most what the member can", async () => {
  const project = await server.createProject();
  const path = `/projects/${project.id}/keys`;
  const member = await server.signUp();
  await server.rows("insert into memberships values ($1, $2, 'MEMBER')", project.id, member.id);
  const byMember = { cookie: member.cookie };
  const input = { name: "Mine", scopes: ["*:write", "secrets:write"] };
  const mine = (await server.call<{ data: Key }>("POST", path, byMember, input)).body.data;
  expect(mine).toMatchObject({ role: "MEMBER" });
  const theirs = await keyOf(project, input);
  expect(theirs).toMatchObject({ role: "ADMIN" });
  expect((await ask("POST", "/contacts", mine, CONTACT)).status).toBe(201);
  const refused = await ask("GET", "/webhooks/secret", mine);
  expect(errorOf(refused)).toBe("403 FORBIDDEN");
  expect(refused.body.error.message).toContain("that of your key is MEMBER");
  expect((await ask("GET", "/webhooks/secret", theirs)).status).toBe(200);
  const seen = await server.call<{ data: Key[] }>("GET", path, byMember);
  expect(seen.body.data.map(({ id }) => id)).toEqual([mine.id]);
  expect((await list(project)).map(({ id }) => id)).toEqual([theirs.id, mine.id]);
  expect(errorOf(await server.call("DELETE", `${path}/${theirs.id}`, byMember))).toBe("404 KEY_NOT_FOUND");
  expect((await server.call("DELETE", `${path}/${mine.id}`, byMember)).status).toBe(204);
  expect(errorOf(await ask("GET", "/contacts", mine))).toBe("401 INVALID_API_KEY");
});

test("a demotion limits an admin's keys, and the end of a membership revokes them", async () => {
  const project = await server.createProject();
  const { owner } = project;
  const admin = await server.signUp();
  await server.rows("insert into memberships values ($1, $2, 'ADMIN')", project.id, admin.id);
  const own = await keyOf({ ...project, owner: admin }, { scopes: ["*:write", "secrets:read"] });
  expect((await ask("GET", "/webhooks/secret", own)).status).toBe(200);
  const path = `/projects/${project.id}/members/${admin.id}`;
  expect((await server.call("PATCH", path, { cookie: owner.cookie }, { role: "MEMBER" })).status).toBe(200);
  expect(errorOf(await ask("GET", "/webhooks/secret", own))).toBe("403 FORBIDDEN");
  expect((await ask("GET", "/contacts", own)).status).toBe(200);
  // A promotion does not extend a limited key, because its owner may have passed it on.
  expect((await server.call("PATCH", path, { cookie: owner.cookie }, { role: "ADMIN" })).status).toBe(200);
  expect(errorOf(await ask("GET", "/webhooks/secret", own))).toBe("403 FORBIDDEN");
  await server.rows("delete from memberships where user_id = $1", admin.id);
  expect(errorOf(await ask("GET", "/contacts", own))).toBe("401 INVALID_API_KEY");
});

test("a wildcard gives no access to secrets, neither reading nor writing", async () => {
  const project = await server.createProject();
  const { body } = await server.call(contacts.upsertContact, project.byKey, { body: CONTACT });
  const links = `/contacts/${body.id}/links`;
  const wild = await keyOf(project, { scopes: ["*:write"] });
  const reader = await keyOf(project, { scopes: ["secrets:read"] });
  const writer = await keyOf(project, { scopes: ["secrets:write"] });
  for (const [method, path, opens] of [
    ["GET", links, true],
    ["GET", "/webhooks/secret", true],
    ["POST", "/webhooks/secret/rotate", false],
  ] as const) {
    expect(errorOf(await ask(method, path, wild))).toBe("403 FORBIDDEN");
    expect((await ask(method, path, reader)).status).toBe(opens ? 200 : 403);
    expect((await ask(method, path, writer)).status).toBe(200);
  }
  expect(errorOf(await ask("GET", `/contacts/${body.id}`, reader))).toBe("403 FORBIDDEN");
});

test("rejects an expired key and other networks", async () => {
  const project = await server.createProject();
  const until = new Date(Date.now() + 3_600_000).toISOString();
  const ending = await keyOf(project, { scopes: ["*:read"], expiresAt: until });
  expect(ending.expiresAt).toBe(until);
  expect((await ask("GET", "/contacts", ending)).status).toBe(200);
  await server.rows("update scoped_keys set expires_at = now() where id = $1", ending.id);
  const expired = await ask("GET", "/contacts", ending);
  expect(errorOf(expired)).toBe("401 INVALID_API_KEY");
  expect(expired.body.error.message).toBe("The API key has expired.");
  const here = await keyOf(project, { scopes: ["*:read"], networks: ["127.0.0.0/8", "::1"] });
  const elsewhere = await keyOf(project, { scopes: ["*:read"], networks: ["192.0.2.1", "2001:db8::/32"] });
  expect((await ask("GET", "/contacts", here)).status).toBe(200);
  const refused = await ask("GET", "/contacts", elsewhere);
  expect(errorOf(refused)).toBe("401 INVALID_API_KEY");
  expect(refused.body.error.message).toMatch(/can't be used from the address/);
});

test("records the last use after the response, at most once a minute", async () => {
  const project = await server.createProject();
  const key = await keyOf(project, { scopes: ["*:read"] });
  const lastUse = async () => (await list(project))[0]?.lastUsedAt ?? null;
  expect(await lastUse()).toBeNull();
  await Promise.all(Array.from({ length: 5 }, () => ask("GET", "/contacts", key)));
  await expect.poll(lastUse, { timeout: 30_000 }).not.toBeNull();
  const version = () => server.rows("select xmin::text from scoped_keys where id = $1", key.id);
  const before = await version();
  await ask("GET", "/contacts", key);
  // Uses are recorded in order, so after the later key's this key's would be there.
  const later = await keyOf(project, { scopes: ["*:read"] });
  await ask("GET", "/contacts", later);
  await expect.poll(lastUse, { timeout: 30_000 }).not.toBeNull();
  expect(await version()).toEqual(before);
});

test.for([
  [{}, ["scopes required"]],
  [{ scopes: [] }, ["scopes too_small"]],
  [{ scopes: ["contacts"] }, ["scopes.0 invalid_enum_value"]],
  [{ scopes: ["keys:write"] }, ["scopes.0 invalid_enum_value"]],
  [{ scopes: ["*:read"], name: "" }, ["name too_small"]],
  [{ scopes: ["*:read"], networks: ["10.0.0.0/33", "10.0.0.1"] }, ["networks.0 invalid_string"]],
  [{ scopes: ["*:read"], networks: ["localhost"] }, ["networks.0 invalid_string"]],
  [{ scopes: ["*:read"], expiresAt: "tomorrow" }, ["expiresAt invalid_date"]],
  [{ scopes: ["*:read"], expiresAt: "2001-01-01T00:00:00Z" }, ["expiresAt too_small"]],
] as Array<[object, string[]]>)("rejects a key with %j and reports %j", async ([body, faults]) => {
  expect(faultsOf(await make(server.project, body))).toEqual(faults);
});

test("limits the scoped keys of a project", async () => {
  const project = await server.createProject();
  const first = await keyOf(project, { scopes: ["*:read"] });
  await server.rows(
    `insert into scoped_keys (project_id, id, hash, name, role, scopes, networks, created_by)
     select $1, gen_random_uuid(), sha256(n::text::bytea), 'k', 'ADMIN', '{*:read}', '{}', $2 from generate_series(2, $3::integer) n`,
    project.id,
    project.owner.id,
    LIMITS.scopedKeys.value,
  );
  expect(errorOf(await make(project, { scopes: ["*:read"] }))).toBe("409 CONFLICT");
  await server.call(
    keys.revokeKey,
    { cookie: project.owner.cookie },
    { params: { projectId: project.id, keyId: first.id } },
  );
  expect((await make(project, { scopes: ["*:read"] })).status).toBe(201);
});
