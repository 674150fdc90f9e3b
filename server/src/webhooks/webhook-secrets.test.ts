// The webhook secret over HTTP: access, rotation, and encrypted storage.
import { expect, test } from "vitest";
import * as webhooks from "@postloft/contract/webhooks.ts";
import { useTestServer } from "../testing/test-server.ts";

const server = useTestServer({ ROLES: "api" });

test("creates the secret on first read, keeps it, and replaces it by a rotation", async () => {
  const { byKey } = server.project;
  const ask = async () => server.call(webhooks.getWebhookSecret, byKey);
  const first = await ask();
  expect(first.status).toBe(200);
  expect(first.body).toEqual({ secret: expect.stringMatching(/^whsec_[A-Za-z0-9+/]{43}=$/) });
  expect((await ask()).body).toEqual(first.body);
  const rotated = await server.call(webhooks.rotateWebhookSecret, byKey);
  expect(rotated.status).toBe(200);
  expect(rotated.body.secret).not.toBe(first.body.secret);
  expect((await ask()).body).toEqual(rotated.body);
  const [row] = await server.rows<{ sealed: Buffer; formerSealed: Buffer }>("select * from webhook_secrets");
  for (const sealed of [row?.sealed, row?.formerSealed])
    for (const { body } of [first, rotated])
      expect(sealed?.includes(Buffer.from(body.secret.slice("whsec_".length), "base64"))).toBe(false);
});

test("returns the same secret for a repeated Idempotency-Key, and stores it encrypted", async () => {
  const { byKey } = await server.createProject();
  const rotate = () =>
    server.call(webhooks.rotateWebhookSecret, {
      ...byKey,
      headers: { "idempotency-key": "rotation-1" },
    });
  const [first, again] = [await rotate(), await rotate()];
  expect([first.status, again.status, again.headers.get("idempotency-replayed")]).toEqual([200, 200, "true"]);
  expect(again.body).toEqual(first.body);
  const stored = await server.rows<{ answer: string }>("select answer from idempotency_keys");
  expect(JSON.stringify(stored)).toMatch(/sealed/);
  expect(JSON.stringify(stored)).not.toContain("whsec_");
});

test("creates a secret by a rotation before the first read", async () => {
  const { byKey } = await server.createProject();
  const rotated = await server.call(webhooks.rotateWebhookSecret, byKey);
  expect((await server.call(webhooks.getWebhookSecret, byKey)).body).toEqual(rotated.body);
});

test("shows the secret to owners and admins but not to members or public keys", async () => {
  const project = await server.createProject();
  const member = await server.signUp();
  const setRole = (role: string) =>
    server.pool.query(
      "insert into memberships (project_id, user_id, role) values ($1, $2, $3) on conflict (project_id, user_id) do update set role = excluded.role",
      [project.id, member.id, role],
    );
  const bySession = { cookie: member.cookie, projectId: project.id };
  const statuses = async (caller: object) => [
    (await server.call(webhooks.getWebhookSecret, caller)).status,
    (await server.call(webhooks.rotateWebhookSecret, caller)).status,
  ];
  await setRole("MEMBER");
  expect(await statuses(bySession)).toEqual([403, 403]);
  await setRole("ADMIN");
  expect(await statuses(bySession)).toEqual([200, 200]);
  expect(await statuses(project.bySession)).toEqual([200, 200]);
  expect(await statuses({ key: project.publicKey })).toEqual([401, 401]);
});
