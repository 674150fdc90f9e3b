// Tests that accounts are deleted only when no project needs them, and that security changes are reported to a project's members.
import { expect, test } from "vitest";
import * as contacts from "@postloft/contract/contacts.ts";
import * as users from "@postloft/contract/users.ts";
import { holdRow } from "../../testing/hold-row.ts";
import { readPlatformEmails } from "../../testing/platform-emails.ts";
import {
  faultsOf,
  errorOf,
  useTestServer,
  type TestPerson,
  type TestProject,
} from "../../testing/test-server.ts";
import { NOTICE_TEXTS, NOTICES } from "./project-notice-texts.ts";

const server = useTestServer({ ROLES: "api" });

const deleteAccount = (person: TestPerson, body: object = {}) =>
  server.call(
    "DELETE",
    "/users/@me",
    { cookie: person.cookie },
    { confirm: person.email, currentPassword: person.password, ...body },
  );
const MINE = "/users/@me";
const asOwner = (project: TestProject, method: string, path: string, body?: object, before = "") =>
  server.call(method, `${before}/projects/${project.id}${path}`, { cookie: project.owner.cookie }, body);
const subjectsTo = async ({ email }: TestPerson) =>
  (await readPlatformEmails(server.pool, { to: email })).map(({ subject }) => subject);

async function join(project: TestProject, role = "MEMBER"): Promise<TestPerson> {
  const person = await server.signUp();
  await server.prove(person);
  expect((await asOwner(project, "POST", "/members", { email: person.email, role })).status).toBe(201);
  return person;
}

test("keeps the account of a last owner until the project is transferred or deleted", async () => {
  const project = await server.createProject();
  const { owner } = project;
  const heir = await join(project);
  const refused = await deleteAccount(owner);
  expect(errorOf(refused)).toBe("409 CONFLICT");
  expect(refused.body.message).toContain("the only owner of A project");
  expect(faultsOf(await deleteAccount(owner, { confirm: "else@example.com" }))).toEqual(["confirm custom"]);
  expect(errorOf(await deleteAccount(owner, { currentPassword: "not this one" }))).toBe(
    "401 INVALID_CREDENTIALS",
  );
  expect(errorOf(await deleteAccount(owner, { currentPassword: undefined }))).toBe("401 INVALID_CREDENTIALS");
  const key = await asOwner(project, "POST", "/keys", { name: "Mine", scopes: ["contacts:read"] });
  expect(key.status).toBe(201);
  await asOwner(project, "POST", "/members", { email: "invited@example.com" });
  await asOwner(project, "POST", "/transfer-ownership", { userId: heir.id });
  const done = await deleteAccount(owner);
  expect([done.status, done.headers.getSetCookie()[0]]).toEqual([204, expect.stringContaining("Max-Age=0")]);
  expect((await server.call(users.getMe, { cookie: owner.cookie })).status).toBe(401);
  const { email, password } = owner;
  expect((await server.call(users.logIn, {}, { body: { email, password } })).status).toBe(401);
  const left = (table: string) => server.rows(`select 1 from ${table} where project_id = $1`, project.id);
  expect([(await left("memberships")).length, await left("scoped_keys"), await left("invitations")]).toEqual([
    1,
    [],
    [],
  ]);
  expect((await subjectsTo(owner)).at(-1)).toBe("Your account was deleted");
  expect(
    (await server.call(contacts.listContacts, { cookie: heir.cookie, projectId: project.id })).status,
  ).toBe(200);
  // The address is free again.
  expect((await server.call(users.signUp, {}, { body: { email, password } })).status).toBe(200);
});

test("keeps one of two last owners who delete their accounts concurrently", async () => {
  const project = await server.createProject();
  const second = await join(project);
  expect((await asOwner(project, "PATCH", `/members/${second.id}`, { role: "OWNER" })).status).toBe(200);
  // Without a password, so that no password check delays the requests.
  const owners = [project.owner.id, second.id];
  await server.rows("update users set password_hash = null where id = any($1)", owners);
  const replies = await holdRow(
    server.pool,
    ["select 1 from projects where id = $1", project.id],
    () => [deleteAccount(project.owner), deleteAccount(second)],
    async () => undefined,
  );
  expect(replies.map(({ status }) => status).toSorted()).toEqual([204, 409]);
  expect(await server.rows("select role from memberships where project_id = $1", project.id)).toEqual([
    { role: "OWNER" },
  ]);
});

test("an account without a password is deleted by a session of the last hour", async () => {
  const person = await server.signUp();
  await server.rows("update users set password_hash = null where id = $1", person.id);
  const age = (hours: number) =>
    server.rows(
      "update sessions set created_at = now() - make_interval(hours => $1) where user_id = $2",
      hours,
      person.id,
    );
  await age(2);
  expect(errorOf(await deleteAccount(person))).toBe("403 SESSION_TOO_OLD");
  await age(0);
  expect((await deleteAccount(person)).status).toBe(204);
});

test("notifies the affected people about roles, removal, ownership, keys, reset and deletion", async () => {
  const project = await server.createProject();
  const [admin, member] = [await join(project, "ADMIN"), await join(project)];
  const { owner } = project;
  await asOwner(project, "PATCH", `/members/${member.id}`, { role: "ADMIN" });
  await asOwner(project, "PATCH", `/members/${member.id}`, { role: "MEMBER" });
  await asOwner(project, "DELETE", `/members/${member.id}`);
  await asOwner(project, "POST", "/regenerate-keys", undefined, MINE);
  await asOwner(project, "POST", "/transfer-ownership", { userId: admin.id });
  // The previous owner is now an admin, so the request is allowed.
  await asOwner(project, "POST", "/reset", { confirm: "A project" }, MINE);
  const added = "You were added to A project";
  const role = "Your role in A project changed";
  expect(await subjectsTo(member)).toEqual([added, role, role, "You were removed from A project"]);
  const toAdmins = [
    "The API keys of A project were replaced",
    "A project has a new owner",
    "A project is being reset",
  ];
  expect(await subjectsTo(admin)).toEqual([added, ...toAdmins]);
  expect(await subjectsTo(owner)).toEqual(toAdmins);
  const doomed = await server.createProject();
  expect((await asOwner(doomed, "DELETE", "", { confirm: "A project" }, MINE)).status).toBe(202);
  expect(await subjectsTo(doomed.owner)).toEqual(["A project is being deleted"]);
  const [mail] = await readPlatformEmails(server.pool, { to: member.email, subject: /removed/ });
  expect(mail?.text).toContain(`Removed by ${owner.email}`);
});

test("every notice exists in every language", () => {
  const people = { by: "ada@example.com", role: "ADMIN", owner: "bob@example.com" };
  const facts = { project: "Acme", reason: "phishing", ...people };
  for (const notice of NOTICES) {
    const said = Object.values(NOTICE_TEXTS).map((texts) => texts[notice](facts));
    expect([notice, new Set(said.map(({ subject }) => subject)).size]).toEqual([notice, 4]);
    for (const { subject, block } of said) expect(`${subject} ${block}`).toContain("Acme");
  }
});
