// Tests whether there is disk space, by the folder of the embedded database and by the errors of an external one.
import { tmpdir } from "node:os";
import { sql } from "kysely";
import { expect, test, vi } from "vitest";
import { createDatabase } from "./database/database.ts";
import { hasRoom } from "./disk.ts";
import { createTestDatabase } from "./database/test-database.ts";

const A_MINUTE_MS = 60_000;

test("reports room on a disk with space, and none on a full disk or one that cannot be checked", async () => {
  expect(await hasRoom(tmpdir())).toBe(true);
  // Has no blocks at all.
  expect(await hasRoom("/proc")).toBe(false);
  await expect(hasRoom("/no/such/folder")).rejects.toThrow("ENOENT");
});

test("reports no room for a minute after a statement failed because of a full disk", async () => {
  const { pool, drop } = await createTestDatabase();
  const database = createDatabase(pool);
  expect(await hasRoom(null)).toBe(true);
  const clock = vi.spyOn(performance, "now").mockReturnValue(performance.now() - A_MINUTE_MS);
  const refuse = sql`do $$ begin raise sqlstate '53100'; end $$`;
  await expect(refuse.execute(database)).rejects.toMatchObject({ code: "53100" });
  expect(await hasRoom(null)).toBe(false);
  clock.mockRestore();
  expect(await hasRoom(null)).toBe(true);
  await drop();
});
