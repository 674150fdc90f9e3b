// Tests that seeding produces the requested number of valid, reproducible rows, and tests its command.
import { execFile } from "node:child_process";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";
import { inferFieldType } from "../../server/src/contacts/rules.ts";
import { idTimeMs } from "../../server/src/platform/ids.ts";
import { APP_SECRET, useTestServer, type TestProject } from "../../server/src/testing/test-server.ts";
import { seedProject } from "./seed-project.ts";
import { databaseUrlOf } from "../../server/src/testing/database-url.ts";

const server = useTestServer({ ROLES: "api" });
const UNTIL = new Date("2026-06-30T12:00:00Z");
const DAY_MS = 86_400_000;

interface Contact {
  id: string;
  email: string;
  subscribed: boolean;
  data: Record<string, unknown>;
  createdAt: Date;
}
interface Event {
  id: string;
  contactId: string;
  name: string;
  createdAt: Date;
}

const contactsOf = ({ id }: TestProject) =>
  server.rows<Contact>(
    "select id, email, subscribed, data, created_at from contacts where project_id = $1 order by id",
    id,
  );
const eventsOf = ({ id }: TestProject) =>
  server.rows<Event>(
    "select id, contact_id, name, created_at from events where project_id = $1 order by id",
    id,
  );

async function fill(project: TestProject, seed: number, numbers = { contacts: 1_000, events: 3_000 }) {
  const seen: string[] = [];
  await seedProject(server.pool, {
    projectId: project.id,
    ...numbers,
    seed,
    until: UNTIL,
    onProgress: ({ table, done, total }) => seen.push(`${table} ${done}/${total}`),
  });
  return seen;
}

test("adds the requested contacts and events, spread over time like real ones", async () => {
  const project = await server.createProject();
  expect(await fill(project, 1)).toEqual(["contacts 1000/1000", "events 3000/3000"]);
  const contacts = await contactsOf(project);
  const events = await eventsOf(project);
  expect([contacts.length, events.length]).toEqual([1_000, 3_000]);
  for (const { id, email, createdAt: at } of contacts) {
    expect(idTimeMs(id)).toBe(at.getTime());
    expect(id).toMatch(/^.{14}7.{4}[89ab]/);
    expect(email).toMatch(/^[a-z]+\.[a-z]+\d+@([a-z]+\.)?example\.(com|org|net)$/);
    expect(at.getTime()).toBeLessThanOrEqual(UNTIL.getTime());
  }
  expect(contacts.map(({ createdAt }) => createdAt)).toEqual(
    contacts.map(({ createdAt }) => createdAt).toSorted((one, other) => one.getTime() - other.getTime()),
  );
  const since = new Map(contacts.map(({ id, createdAt }) => [id, createdAt.getTime()]));
  for (const event of events) {
    expect(idTimeMs(event.id)).toBe(event.createdAt.getTime());
    expect(event.createdAt.getTime()).toBeGreaterThanOrEqual(since.get(event.contactId) ?? Infinity);
    expect(event.createdAt.getTime()).toBeGreaterThanOrEqual(UNTIL.getTime() - 90 * DAY_MS);
  }
  expect(new Set(events.map(({ name }) => name)).size).toBeGreaterThan(8);
});

test("registers fields with the types of their values, and no field is constant", async () => {
  const project = await server.createProject();
  await fill(project, 1);
  const contacts = await contactsOf(project);
  const fields = await server.rows<{ field: string; type: string }>(
    "select field, type from contact_fields where project_id = $1",
    project.id,
  );
  expect(fields).toHaveLength(8);
  for (const { field, type } of fields) {
    const values = contacts.flatMap(({ data }) => (field in data ? [data[field]] : []));
    expect(new Set(values.map(inferFieldType))).toEqual(new Set([type]));
    expect(new Set(values.map((value) => JSON.stringify(value))).size).toBeGreaterThan(1);
  }
  const share = contacts.filter(({ subscribed }) => subscribed).length / 1_000;
  expect(share).toBeGreaterThan(0.8);
  expect(share).toBeLessThan(0.95);
});

test("the same seed produces the same data, another one differs, and a second run adds more", async () => {
  const [one, same, other] = [
    await server.createProject(),
    await server.createProject(),
    await server.createProject(),
  ];
  await fill(one, 7);
  await fill(same, 7);
  await fill(other, 8);
  const contacts = await contactsOf(one);
  expect(await contactsOf(same)).toEqual(contacts);
  expect(await eventsOf(same)).toEqual(await eventsOf(one));
  expect((await contactsOf(other)).map(({ email }) => email)).not.toEqual(contacts.map(({ email }) => email));
  await fill(one, 8, { contacts: 500, events: 0 });
  expect(await contactsOf(one)).toHaveLength(1_500);
  const { body } = await server.call<{ total: number }>("GET", "/contacts", one.byKey);
  expect(body.total).toBe(1_500);
});

const COMMAND = fileURLToPath(new URL("seed.ts", import.meta.url));

/** Runs the command on the test database. Returns its exit code and output. */
async function run(...options: string[]): Promise<{ code: number; said: string }> {
  const url = databaseUrlOf(server.pool.options);
  return new Promise((resolve) => {
    const env = { PATH: process.env["PATH"], DATABASE_URL: url, APP_SECRET };
    execFile(process.execPath, [COMMAND, ...options], { env }, (error, stdout, stderr) =>
      resolve({ code: error === null ? 0 : Number(error.code), said: stdout + stderr }),
    );
  });
}

test("the command takes a project by key or id, and reports errors in one sentence", async () => {
  const project = await server.createProject();
  const runs = await Promise.all([
    run("--key", project.secretKey, "--contacts", "20", "--events", "30"),
    run("--key", "sk_unknown"),
    run("--contacts", "1.5"),
    run("--contacts", "20"),
  ]);
  expect(runs.map(({ code }) => code)).toEqual([0, 1, 1, 1]);
  const [done, unknown, fraction, several] = runs.map(({ said }) => said);
  expect(done).toContain(`Project ${project.id} was filled`);
  expect(unknown).toBe("There is no such project in this database.\n");
  expect(fraction).toContain("must be a whole number");
  expect(several).toContain("Say which project with --project <id>:");
  expect([(await contactsOf(project)).length, (await eventsOf(project)).length]).toEqual([20, 30]);
});

test("without numbers the command fills an empty project with a history, and rejects one that is not empty", async () => {
  const project = await server.createProject();
  const done = await run("--project", project.id);
  expect(done.said).toContain(`Project ${project.id} was filled`);
  const { body } = await server.call<{ total: number }>("GET", "/campaigns", project.byKey);
  expect(body.total).toBe(9);
  const again = await run("--project", project.id);
  expect([again.code, again.said]).toEqual([1, expect.stringContaining("The project is not empty.")]);
});
