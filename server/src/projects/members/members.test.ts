// Tests members over HTTP: adding, promoting, removing, and that there is always an owner.
import { randomUUID } from "node:crypto";
import { expect, test } from "vitest";
import * as contacts from "@postloft/contract/contacts.ts";
import * as membersContract from "@postloft/contract/members.ts";
import * as projects from "@postloft/contract/projects.ts";
import {
  faultsOf,
  errorOf,
  useTestServer,
  type TestPerson,
  type TestProject,
} from "../../testing/test-server.ts";
import { holdRow } from "../../testing/hold-row.ts";
import { readPlatformEmails } from "../../testing/platform-emails.ts";

const server = useTestServer({ ROLES: "api" });

interface Member {
  userId: string;
  email: string;
  role: string;
  couldSeeSecretKey: boolean;
}
interface Added {
  data: { status: string; member: Member | null; invitation: { id: string; link: string | null } | null };
}

const path = ({ id }: { id: string }, rest = "") => `/projects/${id}/members${rest}`;
const session = ({ cookie }: TestPerson) => ({ cookie });
const list = async (project: TestProject) =>
  (await server.call<{ data: Member[] }>("GET", path(project), project.byKey)).body.data;
const roles = async (project: TestProject) =>
  Object.fromEntries((await list(project)).map(({ userId, role }) => [userId, role]));
const changeRole = (by: TestPerson, project: TestProject, userId: string, role: string) =>
  server.call("PATCH", path(project, `/${userId}`), session(by), { role });
const remove = (by: TestPerson, project: TestProject, userId: string) =>
  server.call("DELETE", path(project, `/${userId}`), session(by));
const transfer = (by: TestPerson, project: TestProject, userId: string) =>
  server.call(membersContract.transferOwnership, session(by), {
    params: { projectId: project.id },
    body: { userId },
  });

async function add(project: TestProject, role = "MEMBER", by = project.owner) {
  const person = await server.signUp();
  await server.prove(person);
  const reply = await server.call<Added>("POST", path(project), session(by), { email: person.email, role });
  expect(reply.status).toBe(201);
  return person;
}

test("adds an account with a confirmed address immediately, with its role, and notifies it", async () => {
  const project = await server.createProject();
  const person = await server.signUp();
  await server.prove(person);
  const body = { email: person.email.toUpperCase(), role: "ADMIN" };
  const reply = await server.call<Added>("POST", path(project), session(project.owner), body);
  expect(reply.status).toBe(201);
  expect(reply.body.data).toEqual({
    status: "ADDED",
    member: {
      userId: person.id,
      email: person.email,
      role: "ADMIN",
      couldSeeSecretKey: true,
      createdAt: expect.any(String),
    },
    invitation: null,
  });
  expect(await list(project)).toEqual([
    expect.objectContaining({ userId: project.owner.id, email: project.owner.email, role: "OWNER" }),
    reply.body.data.member,
  ]);
  expect(
    (await server.call(contacts.listContacts, { ...session(person), projectId: project.id })).status,
  ).toBe(200);
  expect(await readPlatformEmails(server.pool, { to: person.email })).toHaveLength(1);
  const again = await server.call("POST", path(project), session(project.owner), body);
  expect(errorOf(again)).toBe("409 CONFLICT");
});

test("rejects adding an owner and reports every invalid field", async () => {
  const { owner, ...project } = await server.createProject();
  const addBody = (body: unknown) => server.call("POST", path(project), session(owner), body);
  expect(faultsOf(await addBody({ email: "nobody", role: "OWNER" }))).toEqual([
    "email invalid_string",
    "role invalid_enum_value",
  ]);
  expect(faultsOf(await addBody({}))).toEqual(["email required"]);
});

test("a role applies from the next request, and an admin may not change or make owners", async () => {
  const project = await server.createProject();
  const admin = await add(project, "ADMIN");
  const member = await add(project);
  const rename = () =>
    server.call(projects.updateProject, session(member), {
      params: { projectId: project.id },
      body: { name: "Renamed" },
    });
  expect(errorOf(await rename())).toBe("403 FORBIDDEN");
  expect((await changeRole(admin, project, member.id, "ADMIN")).status).toBe(200);
  expect((await rename()).status).toBe(200);
  for (const [id, role] of [
    [member.id, "OWNER"],
    [admin.id, "OWNER"],
    [project.owner.id, "MEMBER"],
  ] as const)
    expect(errorOf(await changeRole(admin, project, id, role))).toBe("403 FORBIDDEN");
  expect(errorOf(await remove(admin, project, project.owner.id))).toBe("409 CONFLICT");
  expect(errorOf(await transfer(admin, project, member.id))).toBe("403 FORBIDDEN");
  expect(await roles(project)).toEqual({
    [project.owner.id]: "OWNER",
    [admin.id]: "ADMIN",
    [member.id]: "ADMIN",
  });
});

test("removed and leaving members lose access immediately, and an owner cannot leave", async () => {
  const project = await server.createProject();
  const [removed, leaving] = [await add(project), await add(project)];
  const leave = (person: TestPerson) =>
    server.call(membersContract.leaveProject, session(person), { params: { projectId: project.id } });
  expect((await remove(project.owner, project, removed.id.toUpperCase())).status).toBe(200);
  expect((await leave(leaving)).status).toBe(204);
  for (const person of [removed, leaving])
    expect(
      errorOf(await server.call(contacts.listContacts, { ...session(person), projectId: project.id })),
    ).toBe("403 PROJECT_ACCESS_DENIED");
  expect(errorOf(await leave(project.owner))).toBe("409 CONFLICT");
  expect(errorOf(await remove(project.owner, project, removed.id))).toBe("404 MEMBER_NOT_FOUND");
  expect(await roles(project)).toEqual({ [project.owner.id]: "OWNER" });
});

test("revokes invitations and scoped keys with the membership, and invitations with the role", async () => {
  const project = await server.createProject();
  const [removed, leaving, demoted, staying] = [
    await add(project, "ADMIN"),
    await add(project, "ADMIN"),
    await add(project, "ADMIN"),
    await add(project, "ADMIN"),
  ];
  const opened: Array<{ by: TestPerson; email: string; key: string }> = [];
  for (const by of [removed, leaving, demoted, staying]) {
    const email = `door-of-${by.email}`;
    expect((await server.call("POST", path(project), session(by), { email })).status).toBe(201);
    const made = { name: "A door", scopes: ["*:write"] };
    const keys = `/projects/${project.id}/keys`;
    const { body } = await server.call<{ data: { key: string } }>("POST", keys, session(by), made);
    opened.push({ by, email, key: body.data.key });
  }
  // Another person sent it again and is now its inviter.
  const taken = `taken-over-${removed.email}`;
  for (const by of [removed, staying])
    expect((await server.call("POST", path(project), session(by), { email: taken })).status).toBe(201);
  expect((await remove(project.owner, project, removed.id)).status).toBe(200);
  expect(
    (await server.call(membersContract.leaveProject, session(leaving), { params: { projectId: project.id } }))
      .status,
  ).toBe(204);
  expect((await changeRole(project.owner, project, demoted.id, "MEMBER")).status).toBe(200);
  const { body } = await server.call(membersContract.listInvitations, project.byKey, {
    params: { projectId: project.id },
  });
  expect(body.data.map(({ email }) => email)).toEqual([taken, opened[3]?.email]);
  const replies = await Promise.all(opened.map(({ key }) => server.call(contacts.listContacts, { key })));
  expect(replies.map(({ status }) => status)).toEqual([401, 401, 200, 200]);
  const noted = await server.rows(
    `select action, target_name as name from audit_log
     where project_id = $1 and action in ('invitation.revoked', 'key.revoked') order by number`,
    project.id,
  );
  const [first, second, third] = opened.map(({ email }) => ({ action: "invitation.revoked", name: email }));
  const key = { action: "key.revoked", name: "A door" };
  expect(noted).toEqual([first, key, second, key, third]);
});

test.each([
  ["removed", "delete from memberships where user_id = $1", 404],
  ["an admin no longer", "update memberships set role = 'MEMBER' where user_id = $1", 201],
])("rejects the pending requests of a member who is %s", async (_, change, keyStatus) => {
  const project = await server.createProject();
  const [admin, friend, other] = [await add(project, "ADMIN"), await add(project), await add(project)];
  const replies = await holdRow(
    server.pool,
    ["select 1 from projects where id = $1", project.id],
    () => [
      server.call("POST", path(project), session(admin), { email: `late-${admin.email}` }),
      changeRole(admin, project, friend.id, "ADMIN"),
      remove(admin, project, other.id),
      server.call("POST", `/projects/${project.id}/keys`, session(admin), {
        name: "Late",
        scopes: ["*:write"],
      }),
    ],
    (client) => client.query(change, [admin.id]),
  );
  const [made, ...others] = replies.toReversed();
  expect(others.map(errorOf)).toEqual(Array(3).fill("403 FORBIDDEN"));
  expect(made?.status).toBe(keyStatus);
  expect(
    await server.rows("select 1 from scoped_keys where project_id = $1 and role = 'ADMIN'", project.id),
  ).toEqual([]);
});

interface Removed {
  data: { couldSeeSecretKey: boolean; keys: { public: string; secret: string } | null };
}

test("a removal returns whether the secret key was seen and replaces both keys on request", async () => {
  const project = await server.createProject();
  const { owner, secretKey } = project;
  const [member, demoted, admin] = [
    await add(project),
    await add(project, "ADMIN"),
    await add(project, "ADMIN"),
  ];
  expect((await changeRole(owner, project, demoted.id, "MEMBER")).status).toBe(200);
  const seen = Object.fromEntries((await list(project)).map((one) => [one.userId, one.couldSeeSecretKey]));
  expect(seen).toEqual({ [owner.id]: true, [member.id]: false, [demoted.id]: true, [admin.id]: true });
  const removeAnd = async (person: TestPerson, query = "") => {
    const { body } = await server.call<Removed>(
      "DELETE",
      path(project, `/${person.id}${query}`),
      session(owner),
    );
    return body.data;
  };
  expect(await removeAnd(member)).toEqual({ couldSeeSecretKey: false, keys: null });
  expect(await removeAnd(admin)).toEqual({ couldSeeSecretKey: true, keys: null });
  expect((await server.call(contacts.listContacts, project.byKey)).status).toBe(200);
  const { couldSeeSecretKey, keys } = await removeAnd(demoted, "?rotateKeys=true");
  expect(couldSeeSecretKey).toBe(true);
  expect(errorOf(await server.call(contacts.listContacts, { key: secretKey }))).toBe("401 INVALID_API_KEY");
  expect((await server.call(contacts.listContacts, { key: keys?.secret ?? "" })).status).toBe(200);
  const noted = await server.rows<{ action: string }>(
    "select action from audit_log where project_id = $1 order by number desc limit 2",
    project.id,
  );
  expect(noted.map(({ action }) => action)).toEqual(["keys.regenerated", "member.removed"]);
});

test("after a rotation a former admin no longer knows the secret key", async () => {
  const project = await server.createProject();
  const demoted = await add(project, "ADMIN");
  await changeRole(project.owner, project, demoted.id, "MEMBER");
  const rotate = `/users/@me/projects/${project.id}/regenerate-keys`;
  const { body } = await server.call<{ secret: string }>("POST", rotate, session(project.owner));
  const members = await list({ ...project, byKey: { key: body.secret } });
  expect(members.find(({ userId }) => userId === demoted.id)?.couldSeeSecretKey).toBe(false);
});

test.each([
  ["removed", "delete from memberships where user_id = $1"],
  ["an admin no longer", "update memberships set role = 'MEMBER' where user_id = $1"],
])("pending requests of a member who is %s change no setting, key or invitation", async (_, change) => {
  const project = await server.createProject();
  const admin = await add(project, "ADMIN");
  const invited = await server.call<Added>("POST", path(project), session(project.owner), {
    email: `invited-${admin.email}`,
  });
  const own = `/users/@me/projects/${project.id}`;
  const invitation = `/projects/${project.id}/invitations/${invited.body.data.invitation?.id}`;
  const replies = await holdRow(
    server.pool,
    ["select 1 from projects where id = $1", project.id],
    () => [
      server.call("PATCH", own, session(admin), { name: "Late" }),
      server.call("POST", `${own}/regenerate-keys`, session(admin)),
      server.call("POST", `${own}/regenerate-inbound-address`, session(admin)),
      server.call("DELETE", invitation, session(admin)),
    ],
    (client) => client.query(change, [admin.id]),
  );
  expect(replies.map(errorOf)).toEqual(Array(4).fill("403 FORBIDDEN"));
  expect((await server.call("DELETE", invitation, session(project.owner))).status).toBe(204);
});

test("keeps the later one of two concurrent changes of a setting", async () => {
  const project = await server.createProject();
  const rules = () => server.rows("select tracking from project_queues where project_id = $1", project.id);
  expect(await rules()).toEqual([{ tracking: "ENABLED" }]);
  const [reply] = await holdRow(
    server.pool,
    ["select 1 from projects where id = $1", project.id],
    () => [
      server.call(projects.updateProject, session(project.owner), {
        params: { projectId: project.id },
        body: { tracking: "ENABLED" },
      }),
    ],
    (client) =>
      client.query("update project_queues set tracking = 'DISABLED' where project_id = $1", [project.id]),
  );
  expect([reply?.status, await rules()]).toEqual([200, [{ tracking: "ENABLED" }]]);
});

test("treats members of another project like unknown people", async () => {
  const [project, other] = [await server.createProject(), await server.createProject()];
  for (const userId of [other.owner.id, randomUUID(), "none"]) {
    expect(errorOf(await changeRole(project.owner, project, userId, "ADMIN"))).toBe("404 MEMBER_NOT_FOUND");
    expect(errorOf(await remove(project.owner, project, userId))).toBe("404 MEMBER_NOT_FOUND");
  }
  expect(errorOf(await transfer(project.owner, project, other.owner.id))).toBe("404 MEMBER_NOT_FOUND");
});

test("transfers the ownership atomically, but not to oneself or an owner", async () => {
  const project = await server.createProject();
  const next = await add(project);
  expect(errorOf(await transfer(project.owner, project, project.owner.id))).toBe("409 CONFLICT");
  expect((await transfer(project.owner, project, next.id)).status).toBe(200);
  expect(await roles(project)).toEqual({ [project.owner.id]: "ADMIN", [next.id]: "OWNER" });
  expect(errorOf(await transfer(project.owner, project, next.id))).toBe("403 FORBIDDEN");
});

test("keeps the last owner against any number of concurrent requests", async () => {
  const project = await server.createProject();
  const second = await add(project);
  expect((await changeRole(project.owner, project, second.id, "OWNER")).status).toBe(200);
  for (let round = 0; round < 5; round++) {
    const [a, b] = [project.owner, second];
    const replies = await Promise.all([
      changeRole(a, project, a.id, "MEMBER"),
      changeRole(b, project, b.id, "MEMBER"),
      changeRole(a, project, b.id, "ADMIN"),
      changeRole(b, project, a.id, "ADMIN"),
      transfer(a, project, b.id),
      remove(a, project, b.id),
    ]);
    expect(replies.map(({ status }) => status).filter((status) => status >= 500)).toEqual([]);
    const owners = (await list(project)).filter(({ role }) => role === "OWNER");
    expect(owners.length).toBeGreaterThanOrEqual(1);
    await server.rows("delete from memberships where project_id = $1", project.id);
    for (const { id } of [a, b])
      await server.rows(
        "insert into memberships (project_id, user_id, role) values ($1, $2, 'OWNER')",
        project.id,
        id,
      );
  }
});

test("a key can read the members but not change them", async () => {
  const project = await server.createProject();
  expect(await list(project)).toHaveLength(1);
  const reply = await server.call("POST", path(project), project.byKey, { email: "new@example.com" });
  expect(errorOf(reply)).toBe("401 UNAUTHORIZED");
});
