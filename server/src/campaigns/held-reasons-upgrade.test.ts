// Tests the upgrade that stores the reasons of waiting campaigns as codes (migration 0117).
import { afterAll, beforeAll, expect, test } from "vitest";
import { createDatabase } from "../platform/database/database.ts";
import { newId } from "../platform/ids.ts";
import { migrate } from "../platform/database/migrations.ts";
import { createDatabaseBefore, type TestDatabase } from "../platform/database/test-database.ts";
import { countHeldCampaigns } from "./held-campaigns.ts";

const UPGRADE = 117;
const projectId = newId();
let old: TestDatabase;

beforeAll(async () => {
  old = await createDatabaseBefore(UPGRADE);
  await old.pool.query("insert into projects (id, name) values ($1, 'Old')", [projectId]);
});
afterAll(() => old.drop());

test("keeps the text of old reasons and still releases campaigns held after a rollback", async () => {
  const rolledBack =
    "Held: the database went back to an earlier state, so what waits here may have left already. Send it on, or cancel it; whoever runs the installation can do so for all.";
  for (const [name, status, reason] of [
    ["free", "SENDING", null],
    ["missed", "SCHEDULED", "It was missed."],
    ["went back", "PAUSED", rolledBack],
  ])
    await old.pool.query(
      `insert into campaigns (project_id, id, name, subject, body, from_address, audience_type, status, held_reason)
       values ($1, $2, $3, 'News', '<p>News</p>', 'news@example.com', 'ALL', $4, $5)`,
      [projectId, newId(), name, status, reason],
    );
  await migrate(old.pool);
  const { rows } = await old.pool.query(
    "select name, held_reason_parts as parts from campaigns order by name",
  );
  expect(rows).toEqual([
    { name: "free", parts: null },
    {
      name: "missed",
      parts: [{ code: "held.other", values: { said: "It was missed." }, text: "It was missed." }],
    },
    { name: "went back", parts: [{ code: "held.wentBack", values: {}, text: rolledBack }] },
  ]);
  expect(await countHeldCampaigns(createDatabase(old.pool))).toEqual({ sending: 1, scheduled: 0 });
});
