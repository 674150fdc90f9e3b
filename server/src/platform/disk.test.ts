// Whether there is room: by the folder of the embedded database, and by what a database says that is elsewhere.
import { tmpdir } from "node:os";
import { sql } from "kysely";
import { expect, test, vi } from "vitest";
import { createDatabase } from "./database/database.ts";
import { hasRoom } from "./disk.ts";
import { createTestDatabase } from "./database/test-database.ts";

const A_MINUTE_MS = 60_000;

test("a disk with room has it; one that is full, or cannot be asked, has none", async () => {
  expect(await hasRoom(tmpdir())).toBe(true);
  // Has no blocks at all.
  expect(await hasRoom("/proc")).toBe(false);
  await expect(hasRoom("/no/such/folder")).rejects.toThrow("ENOENT");
});

test("a database that refuses a statement because its disk is full is believed, for a minute", async () => {
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
