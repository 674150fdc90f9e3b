// Tests which waiting emails make an installation not ready: only those that no process sends.
import { expect, test } from "vitest";
import * as instance from "@postloft/contract/instance.ts";
import * as v1 from "@postloft/contract/v1.ts";
import { useTestServer } from "../testing/test-server.ts";

/** No process sends. */
const server = useTestServer({ ROLES: "api" });

const NOT_READY = [
  503,
  {
    status: "not ready",
    checks: { database: "ok", migrations: "ok", queue: "failing", disk: "ok" },
    warnings: [],
  },
];

/** A project with an email that was due ten minutes ago. */
async function makeOverdue() {
  await server.rows("delete from emails");
  const { byKey, id } = await server.createProject();
  const mail = { to: "a@example.com", from: "a@sandbox.localhost", subject: "s", body: "b" };
  expect((await server.call(v1.send, byKey, { body: mail })).status).toBe(200);
  const waiting = await server.rows(
    "update emails set due_at = now() - interval '10 minutes' where project_id = $1 returning status",
    id,
  );
  expect(waiting).toEqual([{ status: "QUEUED" }]);
  return { id, byKey, mail };
}

async function askReady() {
  const { status, body } = await server.call(instance.getReadiness);
  return [status, body];
}

test("is not ready and says so when no process sends an overdue email", async () => {
  await makeOverdue();
  expect(await askReady()).toEqual(NOT_READY);
  const page = await server.call("GET", "/");
  expect(page.text).toContain("needs attention");
  await server.rows("delete from emails");
  expect((await server.call(instance.getReadiness)).status).toBe(200);
});

test("ignores emails of a project that may not send", async () => {
  const { id } = await makeOverdue();
  await server.rows("update project_queues set is_open = false where project_id = $1", id);
  expect((await server.call(instance.getReadiness)).status).toBe(200);
});

test("ignores a queue slowed down by its project's rate while emails leave it", async () => {
  const { id, byKey, mail } = await makeOverdue();
  await server.rows("update project_queues set sending_rate = 1 where project_id = $1", id);
  expect(await askReady()).toEqual(NOT_READY);
  await server.call(v1.send, byKey, { body: mail });
  const leave = (at: string) =>
    server.rows(
      `update emails set status = 'SENT', sent_at = now() - $2::interval
      where id = (select id from emails where project_id = $1 order by id desc limit 1) returning 1`,
      id,
      at,
    );
  expect(await leave("1 second")).toHaveLength(1);
  expect((await server.call(instance.getReadiness)).status).toBe(200);
  await leave("10 minutes");
  expect(await askReady()).toEqual(NOT_READY);
});
