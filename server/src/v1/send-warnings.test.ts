// Tests the caches of the warnings about a call: other calls never see a cached warning, and the caches don't grow or age without bound.
import { sql } from "kysely";
import { afterAll, beforeAll, expect, onTestFinished, test, vi } from "vitest";
import { createDatabase, type Database } from "../platform/database/database.ts";
import { createTestDatabase, type TestDatabase } from "../platform/database/test-database.ts";
import { newId } from "../platform/ids.ts";
import { addProject } from "../testing/add-project.ts";
import { createSendWarner } from "./send-warnings.ts";

let testDatabase: TestDatabase;
let database: Database;

beforeAll(async () => {
  testDatabase = await createTestDatabase();
  database = createDatabase(testDatabase.pool);
});
afterAll(async () => testDatabase?.drop());

async function createProject(...fields: string[]): Promise<string> {
  const projectId = newId();
  await addProject(database, { id: projectId });
  await addFields(projectId, fields);
  return projectId;
}

async function addFields(projectId: string, fields: readonly string[]): Promise<void> {
  await sql`
    insert into contact_fields (project_id, field, type)
    select ${projectId}, field, 'string' from unnest(${fields}::text[]) field`.execute(database);
}

/** Returns the replacements of the merge tags and the number of other warnings. */
async function warn(
  warnOf: ReturnType<typeof createSendWarner>,
  projectId: string,
  html: string,
  data?: Record<string, unknown>,
) {
  const parts = { subject: null, html, text: null, replyTo: null, headers: [], attachments: [] };
  const warnings = await warnOf({ projectId, parts, key: html, data });
  const tags = warnings.filter(({ code }) => code === "merge_tag");
  return { tags: tags.map(({ replacement }) => replacement), others: warnings.length - tags.length };
}

test("never shows the cached warning of another project or of a call with other data", async () => {
  const warnOf = createSendWarner(database);
  const [plain, named] = [await createProject(), await createProject("TEAM_SIZE")];
  const html = "Hello *|TEAM_SIZE|*";
  const withoutField = await warn(warnOf, plain, html);
  const withField = await warn(warnOf, named, html);
  expect(withField).toEqual({ tags: ["{{TEAM_SIZE}}"], others: 0 });
  expect(withoutField).not.toEqual(withField);
  expect(await warn(warnOf, plain, html, { TEAM_SIZE: { value: 7, persistent: false } })).toEqual(withField);
  expect(await warn(warnOf, plain, html)).toEqual(withoutField);
});

test("returns at most 20 warnings", async () => {
  const html = Array.from({ length: 21 }, (_, at) => `{{unknown${at}}}`).join(" ");
  expect((await warn(createSendWarner(database), await createProject(), html)).others).toBe(20);
});

test("notices a new field after ten seconds", async () => {
  let laterMs = 0;
  const realNow = performance.now.bind(performance);
  const clock = vi.spyOn(performance, "now").mockImplementation(() => realNow() + laterMs);
  onTestFinished(() => clock.mockRestore());
  const warnOf = createSendWarner(database);
  const projectId = await createProject();
  expect((await warn(warnOf, projectId, "{{nick}}")).others).toBe(1);
  await addFields(projectId, ["nick"]);
  laterMs = 10_001;
  expect((await warn(warnOf, projectId, "{{nick}}")).others).toBe(0);
});

test("remembers a limited number of fields of a project", async () => {
  const warnOf = createSendWarner(database);
  const projectId = await createProject();
  const asked = async (data?: Record<string, unknown>) =>
    (await warn(warnOf, projectId, "{{last}}", data)).others;
  expect(await asked()).toBe(1);
  await asked(Object.fromEntries(Array.from({ length: 4_000 }, (_, at) => [`field${at}`, 1])));
  await asked({ last: 1 });
  expect(await asked()).toBe(1);
});
