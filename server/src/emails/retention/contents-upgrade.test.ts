// Tests the upgrade that adds an end of use to contents (migration 0097). Existing rows get the time of the upgrade without being
// rewritten.
import { afterAll, beforeAll, expect, test } from "vitest";
import { newId } from "../../platform/ids.ts";
import { migrate } from "../../platform/database/migrations.ts";
import { createDatabaseBefore, type TestDatabase } from "../../platform/database/test-database.ts";

const UPGRADE = 97;

let old: TestDatabase;
const projectId = newId();

const rowsOf = async <Row>(statement: string, ...values: unknown[]): Promise<Row[]> =>
  (await old.pool.query(statement, values)).rows as Row[];

const addContent = (id: string) =>
  rowsOf(
    `insert into email_contents (project_id, id, from_address, subject, html) values ($1, $2, 'a@b.example', 's', 'h')`,
    projectId,
    id,
  );

beforeAll(async () => {
  old = await createDatabaseBefore(UPGRADE);
  await rowsOf("insert into projects (id, name) values ($1, 'Old')", projectId);
});
afterAll(() => old.drop());

test("limits existing contents to the upgrade and keeps those of an old release in use", async () => {
  const [before, after] = [newId(), newId()];
  await addContent(before);
  const files = () =>
    rowsOf(
      "select relname, relfilenode from pg_class where relname in ('emails', 'email_contents', 'email_files') order by 1",
    );
  const ofBefore = await files();
  await migrate(old.pool);
  expect(await files()).toEqual(ofBefore);
  await addContent(after);
  expect(
    await rowsOf(
      `select id, used_until between now() - interval '1 minute' and now() as "isUpgrade", used_until = 'infinity' as "isForEver"
       from email_contents where project_id = $1 order by id`,
      projectId,
    ),
  ).toEqual([
    { id: before, isUpgrade: true, isForEver: false },
    { id: after, isUpgrade: false, isForEver: true },
  ]);
});
