// Tests which processes the installation page lists, and what it says about growth.
import { expect, test } from "vitest";
import * as contract from "@postloft/contract/installation.ts";
import { useTestServer } from "../testing/test-server.ts";
import { measureStorage } from "./measure-storage.ts";
import { projectGrowth } from "./project-growth.ts";
import { deleteSilentProcesses } from "./process-queries.ts";

const server = useTestServer({ ROLES: "api", ADMIN_EMAILS: "person1@example.com" });
const GB = 1_000_000_000;

async function read() {
  const { owner } = server.project;
  await server.prove(owner);
  return (await server.call(contract.getInstallation, { cookie: owner.cookie })).body;
}

const rolesOf = async () => (await read()).processes?.map(({ roles, isAlive }) => ({ roles, isAlive }));

test("lists processes of every role until they stop, and a crashed one for an hour", async () => {
  const another = await server.startAnother({ ROLES: "worker" });
  expect(await rolesOf()).toEqual([
    { roles: ["api"], isAlive: true },
    { roles: ["worker"], isAlive: true },
  ]);
  await another.stop();
  expect(await rolesOf()).toEqual([{ roles: ["api"], isAlive: true }]);
  await server.rows(
    "insert into processes (id, roles, host, version, seen_at) values (new_id(), '{smtp}', 'mail-2', '0.1.0', now() - interval '46 seconds')",
  );
  expect(await rolesOf()).toEqual([
    { roles: ["api"], isAlive: true },
    { roles: ["smtp"], isAlive: false },
  ]);
  await server.rows("update processes set started_at = now() - interval '1 day' where host = 'mail-2'");
  expect((await rolesOf())?.map(({ isAlive }) => isAlive)).toEqual([true, false]);
  await deleteSilentProcesses(server.database, 3_600);
  expect(await rolesOf()).toHaveLength(2);
  await server.rows("update processes set seen_at = now() - interval '61 minutes' where host = 'mail-2'");
  await deleteSilentProcesses(server.database, 3_600);
  expect(await rolesOf()).toEqual([{ roles: ["api"], isAlive: true }]);
});

test("projects no growth from less than three days, and that of each table from the oldest measurement of a month", async () => {
  await measureStorage(server.database, null);
  // A later measurement of the same day replaces all values.
  await server.rows("update storage_days set database_bytes = 0, table_bytes = '{}'");
  await measureStorage(server.database, null);
  const [{ count, bytes } = { count: 0, bytes: 0 }] = await server.rows<{ count: number; bytes: number }>(
    "select count(*)::integer as count, max(database_bytes)::float8 as bytes from storage_days",
  );
  expect(count).toBe(1);
  expect(bytes).toBeGreaterThan(1_000_000);
  const earlier = (days: number, lessBytes: number) =>
    server.rows(
      `insert into storage_days (day, measured_at, database_bytes, table_bytes)
      select day - $1::integer, measured_at - make_interval(days => $1), database_bytes - $2::bigint,
        jsonb_build_object('emails', (table_bytes ->> 'emails')::bigint - $2::bigint)
      from storage_days order by day desc limit 1`,
      days,
      lessBytes,
    );
  await earlier(2, 2_000);
  expect((await read()).growth).toBeNull();
  expect((await read()).tables?.every(({ bytesPerDay }) => bytesPerDay === null)).toBe(true);
  await earlier(10, 50_000);
  await earlier(40, 9_000_000);
  const { growth, tables } = await read();
  expect(growth).toMatchObject({
    days: 10,
    databaseBytesPerDay: 5_000,
    diskBytesPerDay: null,
    diskFullAt: null,
  });
  const perDay = (table: string) => tables?.find(({ name }) => name === table)?.bytesPerDay;
  expect([perDay("emails"), perDay("events")]).toEqual([5_000, null]);
});

const day = (at: string, used: number | null, total = 100 * GB) => ({
  measuredAt: new Date(at),
  databaseBytes: GB,
  diskUsedBytes: used,
  diskTotalBytes: total,
  tableBytes: {},
});

test.each([
  ["fills up in twenty days", 10 * GB, 20 * GB, 20 * GB, "2026-10-31T00:00:00.000Z"],
  ["doesn't fill up if it shrinks", 20 * GB, 10 * GB, 20 * GB, null],
  ["doesn't fill up within ten years", 10 * GB, 10 * GB + 1_000, 20 * GB, null],
  ["has an unknown end if its free space is unknown", 10 * GB, 20 * GB, null, null],
])("a disk %s", (_, before, after, free, fullAt) => {
  const projection = projectGrowth(day("2026-10-01T00:00:00Z", before), day("2026-10-11T00:00:00Z", after), {
    freeBytes: free,
    at: new Date("2026-10-11T00:00:00Z"),
  });
  expect(projection?.growth.diskFullAt).toBe(fullAt);
});

test("says nothing about a disk that replaced another one", () => {
  const before = day("2026-10-01T00:00:00Z", 10 * GB, 50 * GB);
  const after = day("2026-10-11T00:00:00Z", 20 * GB);
  const projection = projectGrowth(before, after, { freeBytes: GB, at: after.measuredAt });
  expect(projection?.growth).toMatchObject({ diskBytesPerDay: null, diskFullAt: null });
});
