// Tests enabling a suspended project: by its owner once per period, by the instance admin at any time.
import { expect, test } from "vitest";
import * as contacts from "@postloft/contract/contacts.ts";
import * as projects from "@postloft/contract/projects.ts";
import { transaction } from "../platform/database/database.ts";
import { SERVICE } from "../audit/audit-log.ts";
import { faultsOf, errorOf, useTestServer, type TestProject } from "../testing/test-server.ts";
import type { BodyOf } from "../testing/typed-call.ts";
import { disableProject, enableProject, readStatuses, suspendProjects } from "./suspend-projects.ts";

const server = useTestServer({ ROLES: "api" });

const REASON = { reason: "The imported list is deleted." };
const enable = ({ id, owner }: TestProject, body: BodyOf<typeof projects.enableProject> = REASON) =>
  server.call(projects.enableProject, { cookie: owner.cookie }, { params: { projectId: id }, body });
const suspend = ({ id }: TestProject) =>
  transaction(server.database, (tx) =>
    suspendProjects(tx, [{ projectId: id, reasons: ["too many bounces"], rates: [] }]),
  );
const write = ({ byKey }: TestProject) =>
  server.call(contacts.upsertContact, byKey, { body: { email: "ada@example.com" } });
const actionsOf = async ({ id }: TestProject) =>
  (
    await server.rows<{ action: string }>(
      "select action from audit_log where project_id = $1 order by number",
      id,
    )
  ).map(({ action }) => action);

test("an owner enables a suspended project with a reason, and only once", async () => {
  const project = await server.createProject();
  expect(errorOf(await enable(project))).toBe("409 CONFLICT");
  await suspend(project);
  expect(errorOf(await write(project))).toBe("403 PROJECT_DISABLED");
  expect(faultsOf(await enable(project, { reason: " because   " }))).toEqual(["reason too_small"]);
  expect((await enable(project)).status).toBe(200);
  expect((await write(project)).status).toBe(201);
  expect(await actionsOf(project)).toEqual(["project.created", "project.suspended", "project.enabled"]);
  await suspend(project);
  expect(errorOf(await enable(project))).toBe("409 CONFLICT");
  await server.rows(
    "update project_suspensions set lifted_at = lifted_at - interval '31 days' where project_id = $1",
    project.id,
  );
  expect((await enable(project)).status).toBe(200);
  const [statusOfEmail] = await readStatuses(server.database, [project.id]);
  expect(statusOfEmail).toMatchObject({ isDisabled: false, suspendedAt: expect.any(Date) });
});

test("only an instance admin can enable a project that was disabled for another reason", async () => {
  const project = await server.createProject();
  await server.rows("update projects set disabled = true where id = $1", project.id);
  expect(errorOf(await enable(project))).toBe("409 CONFLICT");
  const asOperator = () =>
    transaction(server.database, (tx) =>
      enableProject(tx, { projectId: project.id, actor: SERVICE, reason: "looked at" }),
    );
  expect(await asOperator()).toBe(true);
  expect(await asOperator()).toBe(false);
  for (let round = 0; round < 2; round++) {
    await suspend(project);
    expect(await asOperator()).toBe(true);
  }
  await suspend(project);
  // Only the owner uses up the owner's turn.
  expect((await enable(project)).status).toBe(200);
});

test("an owner can't enable a project that an instance admin disabled, even after an earlier suspension", async () => {
  const project = await server.createProject();
  await suspend(project);
  await server.rows("update projects set disabled = false where id = $1", project.id);
  const changed = { projectId: project.id, actor: SERVICE, reason: "looked at" };
  const disable = () => transaction(server.database, (tx) => disableProject(tx, changed));
  expect([await disable(), await disable()]).toEqual([true, false]);
  expect(
    await server.rows("select is_open from project_queues where project_id = $1", project.id),
  ).toMatchObject([{ isOpen: false }]);
  expect(errorOf(await enable(project))).toBe("409 CONFLICT");
  expect(errorOf(await write(project))).toBe("403 PROJECT_DISABLED");
});

test("an instance admin with an account doesn't use up the owner's turn", async () => {
  const project = await server.createProject();
  await suspend(project);
  const actor = { kind: "person", userId: (await server.signUp()).id, ip: null } as const;
  const enabled = { projectId: project.id, actor, reason: "looked at" };
  expect(await transaction(server.database, (tx) => enableProject(tx, enabled))).toBe(true);
  await suspend(project);
  expect((await enable(project)).status).toBe(200);
});

test("a project enabled directly in the database accepts emails but holds them until enabled properly", async () => {
  const project = await server.createProject();
  await suspend(project);
  await server.rows("update projects set disabled = false where id = $1", project.id);
  const enableIt = () =>
    transaction(server.database, (tx) =>
      enableProject(tx, { projectId: project.id, actor: SERVICE, reason: "looked at" }),
    );
  expect([await enableIt(), await enableIt()]).toEqual([true, false]);
  expect(
    await server.rows("select is_open from project_queues where project_id = $1", project.id),
  ).toMatchObject([{ isOpen: true }]);
});

test("its owner may resume it too, and may enable it again after another suspension", async () => {
  const project = await server.createProject();
  await suspend(project);
  await server.rows("update projects set disabled = false where id = $1", project.id);
  expect((await enable(project)).status).toBe(200);
  expect(
    await server.rows("select is_open from project_queues where project_id = $1", project.id),
  ).toMatchObject([{ isOpen: true }]);
  expect(errorOf(await enable(project))).toBe("409 CONFLICT");
  await suspend(project);
  expect((await enable(project)).status).toBe(200);
});

test("only one of ten concurrent owners enables it", async () => {
  const project = await server.createProject();
  await suspend(project);
  const replies = await Promise.all(Array.from({ length: 10 }, () => enable(project)));
  expect(replies.map(({ status }) => status).toSorted()).toEqual([200, ...Array(9).fill(409)]);
});
