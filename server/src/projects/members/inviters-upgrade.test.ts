// Tests the upgrade that stores the inviter (migration 0105), taken from the audit log for pending invitations.
import { afterAll, beforeAll, expect, test } from "vitest";
import { newId } from "../../platform/ids.ts";
import { migrate } from "../../platform/database/migrations.ts";
import { createDatabaseBefore, type TestDatabase } from "../../platform/database/test-database.ts";

const UPGRADE = 105;

let old: TestDatabase;
beforeAll(async () => {
  old = await createDatabaseBefore(UPGRADE);
});
afterAll(() => old.drop());

test("the upgrade sets the inviter of pending invitations", async () => {
  const [projectId, known, unknown, inviter] = [newId(), newId(), newId(), newId()];
  await old.pool.query("insert into projects (id, name) values ($1, 'Old')", [projectId]);
  await old.pool.query(
    `insert into invitations (project_id, id, email, role, token_hash, expires_at)
     select $1, id, id || '@example.com', 'MEMBER', '', now() + interval '1 day' from unnest($2::uuid[]) id`,
    [projectId, [known, unknown]],
  );
  await old.pool.query(
    `insert into audit_log (project_id, id, number, at, actor_kind, actor_id, action, target_id, details, hash)
     values ($1, $2, 1, now(), 'person', $3, 'invitation.sent', $4::text, '{}', '')`,
    [projectId, newId(), inviter, known],
  );
  await migrate(old.pool);
  const { rows } = await old.pool.query("select id, invited_by from invitations order by id");
  expect(rows).toEqual([
    { id: known, invitedBy: inviter },
    { id: unknown, invitedBy: null },
  ]);
});
