// Calls that are counted and logged after a failover because their emails are missing in the new database.
import { pino } from "pino";
import { afterAll, beforeAll, expect, test } from "vitest";
import { createDatabase, type Database } from "../platform/database/database.ts";
import { newId } from "../platform/ids.ts";
import { createTestDatabase, type TestDatabase } from "../platform/database/test-database.ts";
import { makeProject, makeSentMails } from "../testing/sent-mails.ts";
import { createRecentSends } from "./recent-sends.ts";

let testDatabase: TestDatabase;
let database: Database;
beforeAll(async () => {
  testDatabase = await createTestDatabase();
  database = createDatabase(testDatabase.pool);
});
afterAll(() => testDatabase.drop());

test("logs calls with missing emails once, except those of deleted projects", async () => {
  const logged: object[] = [];
  const recent = createRecentSends(pino({}, { write: (line: string) => void logged.push(JSON.parse(line)) }));
  const projectId = await makeProject(database);
  const [kept] = await makeSentMails(database, projectId, 1);
  const lost = newId();
  const note = (requestId: string, project: string, email: string) =>
    recent.note({
      requestId,
      projectId: project,
      response: { emails: [{ contact: { id: newId(), email: "ada@example.com" }, email }] },
    });
  note("kept", projectId, kept?.id ?? "");
  note("lost", projectId, newId());
  // The same call repeated. Its last response counts.
  note("lost", projectId, lost);
  note("elsewhere", newId(), newId());
  await recent.reconcile(database);
  expect(logged).toMatchObject([{ count: 1, requests: [{ requestId: "lost", projectId, emailId: lost }] }]);
});
