// Upgrade to segments that follow static ones, and to counts of stored members (migrations 0101 and 0102).
import { afterAll, beforeAll, expect, test } from "vitest";
import { newId } from "../platform/ids.ts";
import { migrate } from "../platform/database/migrations.ts";
import { createDatabaseBefore, type TestDatabase } from "../platform/database/test-database.ts";

const UPGRADE = 101;
const projectId = newId();
let old: TestDatabase;

beforeAll(async () => {
  old = await createDatabaseBefore(UPGRADE);
  await old.pool.query("insert into projects (id, name) values ($1, 'Old')", [projectId]);
});
afterAll(() => old.drop());

async function add(slug: string, filters: object | null, causes: string[], isTracked: boolean) {
  const id = newId();
  await old.pool.query(
    `insert into segments (project_id, id, name, slug, type, filters, causes, track_membership, member_count)
     values ($1, $2, $3, $3, $4, $5, $6, $7, 3)`,
    [projectId, id, slug, filters === null ? "STATIC" : "DYNAMIC", filters, causes, isTracked],
  );
  return id;
}
const on = (id: string, ...others: object[]) => ({
  operator: "OR",
  conditions: [
    ...others,
    {
      operator: "AND",
      conditions: [
        { field: `segment.${id}`, operator: "memberOfSegment" },
        { field: "event.seen", operator: "triggered" },
      ],
    },
  ],
});

test("segments over static ones subscribe to contact changes, tracked ones are computed once", async () => {
  const still = await add("still", null, [], false);
  const direct = await add("direct", on(still), ["seen"], true);
  await add(
    "far",
    on(direct, { field: "email.opened", operator: "triggered" }),
    ["email.open", "seen"],
    false,
  );
  const elsewhere = await add("elsewhere", on(newId()), ["seen"], true);
  await add("over-elsewhere", on(elsewhere), ["seen"], true);
  await migrate(old.pool);
  const { rows } = await old.pool.query(
    "select slug, causes, compute_due_at is not null as is_due, member_count as told from segments order by slug",
  );
  expect(rows).toEqual([
    { slug: "direct", causes: ["*", "seen"], isDue: true, told: 3 },
    { slug: "elsewhere", causes: ["seen"], isDue: false, told: 0 },
    { slug: "far", causes: ["*", "email.open", "seen"], isDue: false, told: 3 },
    { slug: "over-elsewhere", causes: ["seen"], isDue: false, told: 0 },
    { slug: "still", causes: [], isDue: false, told: 0 },
  ]);
  expect((await old.pool.query("select event_name, subscriber from event_subscriptions")).rows).toEqual([
    { eventName: "*", subscriber: "segments" },
  ]);
});
