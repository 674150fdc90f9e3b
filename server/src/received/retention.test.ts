// Received emails are deleted when the project's retention of emails ends, and only then.
import { afterAll, beforeAll, expect, test } from "vitest";
import { sql } from "kysely";
import { createDatabase, type Database } from "../platform/database/database.ts";
import { firstIdAt } from "../platform/ids.ts";
import { createTestDatabase, type TestDatabase } from "../platform/database/test-database.ts";
import { transaction } from "../platform/database/database.ts";
import { changeEmailRetention } from "../emails/retention/retention.ts";
import { addReceivedEmails } from "../testing/received-email.ts";
import { makeProject } from "../testing/sent-mails.ts";
import { deleteExpiredReceived } from "./retention.ts";

const DAY_MS = 86_400_000;

let testDatabase: TestDatabase;
let database: Database;
beforeAll(async () => {
  testDatabase = await createTestDatabase();
  database = createDatabase(testDatabase.pool);
});
afterAll(async () => testDatabase.drop());

test("deletes emails older than the retention in every project that has one", async () => {
  const [limited, permanent] = [await makeProject(database), await makeProject(database)];
  const ids = [29, 31, 400].map((days) => firstIdAt(Date.now() - days * DAY_MS));
  for (const project of [limited, permanent])
    await addReceivedEmails(
      database,
      project,
      ids.map((id) => ({ id })),
    );
  await transaction(database, (tx) => changeEmailRetention(tx, limited, 30));
  expect(await deleteExpiredReceived(database)).toBe(false);
  const { rows } = await sql<{ projectId: string; count: number }>`
    select project_id, count(*) as count from received_emails group by 1`.execute(database);
  expect(new Map(rows.map(({ projectId, count }) => [projectId, count]))).toEqual(
    new Map([
      [limited, 1],
      [permanent, 3],
    ]),
  );
});

test("deletes more expired emails than one batch takes", async () => {
  const project = await makeProject(database);
  const longAgo = Date.now() - 400 * DAY_MS;
  const ids = Array.from({ length: 201 }, (_, at) => firstIdAt(longAgo + at));
  await addReceivedEmails(
    database,
    project,
    ids.map((id) => ({ id })),
  );
  await transaction(database, (tx) => changeEmailRetention(tx, project, 30));
  expect(await deleteExpiredReceived(database)).toBe(false);
  const { rows } = await sql`select 1 from received_emails where project_id = ${project}`.execute(database);
  expect(rows).toEqual([]);
});
