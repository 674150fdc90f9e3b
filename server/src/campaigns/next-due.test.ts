// Tests when the settler polls next. An idle process rarely asks the database.
import { expect, test } from "vitest";
import * as campaigns from "@postloft/contract/campaigns.ts";
import { useTestServer } from "../testing/test-server.ts";
import { readNextDueMs } from "./settle-queries.ts";

// Only the test settles campaigns.
const server = useTestServer({ ROLES: "api" });

test("is due for active campaigns, throttled bulk mail or the next schedule, and nothing else", async () => {
  const { database, project } = server;
  const draft = {
    name: "News",
    subject: "s",
    body: "b",
    from: "a@sandbox.localhost",
    audienceType: "ALL",
  };
  expect(await readNextDueMs(database)).toBeNull();
  const { body } = await server.call(campaigns.createCampaign, project.byKey, { anyBody: draft });
  const { id } = body.data;
  const become = (change: string) => server.rows(`update campaigns set ${change} where id = $1`, id);
  expect(await readNextDueMs(database)).toBeNull();

  await become("status = 'SCHEDULED', scheduled_for = now() + interval '1 minute'");
  expect(await readNextDueMs(database)).toBeGreaterThan(50_000);
  expect(await readNextDueMs(database)).toBeLessThanOrEqual(60_000);
  await become("held_reason_parts = '[]'");
  expect(await readNextDueMs(database)).toBeNull();
  await become("held_reason_parts = null, scheduled_for = now() - interval '1 minute'");
  expect(await readNextDueMs(database)).toBeLessThan(0);

  await become("status = 'SENDING', started_at = now(), sending_since = now()");
  expect(await readNextDueMs(database)).toBe(0);
  await become("status = 'SENT', finished_at = now()");
  expect(await readNextDueMs(database)).toBeNull();

  await server.rows(
    `insert into paused_destinations (project_id, destination, domains, answer, try_at)
     values ($1, 'example.com', '{example.com}', '550 5.7.1 no', now() + interval '1 hour')`,
    project.id,
  );
  expect(await readNextDueMs(database)).toBe(0);
});
