// Compares the audience report with the contacts that a project has.
import { expect, test } from "vitest";
import * as analytics from "@postloft/contract/analytics.ts";
import * as contacts from "@postloft/contract/contacts.ts";
import * as v1 from "@postloft/contract/v1.ts";
import { useTestServer, type TestProject } from "../testing/test-server.ts";
import { countArrivals } from "./analytics-queries.ts";

const server = useTestServer({ ROLES: "api" });

const add = async ({ byKey }: TestProject, name: string, subscribed?: boolean) =>
  (await server.call(contacts.upsertContact, byKey, { body: { email: `${name}@example.com`, subscribed } }))
    .body;

test("counts contacts added as subscribed, but none that only got a receipt, opted out or was deleted", async () => {
  const project = await server.createProject();
  const { byKey } = project;
  const ada = await add(project, "ada");
  await add(project, "grace");
  const left = await add(project, "left");
  await add(project, "never", false);
  const later = await add(project, "later", false);
  await server.call(v1.send, byKey, {
    body: { to: "receipt@example.com", from: "a@sandbox.localhost", subject: "Receipt", body: "<p>1</p>" },
  });
  await server.call(contacts.updateContact, byKey, { params: { id: left.id }, body: { subscribed: false } });
  await server.call(contacts.updateContact, byKey, { params: { id: later.id }, body: { subscribed: true } });
  const today = async () => (await server.call(analytics.getAudience, byKey, {})).body.at(-1);
  expect(await today()).toMatchObject({ added: 3, subscribed: 1, unsubscribed: 1, growth: 3 });
  const [{ count } = { count: 0 }] = await server.rows<{ count: number }>(
    "select count(*)::int as count from contacts where project_id = $1 and subscribed",
    project.id,
  );
  expect(count).toBe(3);
  await server.call(contacts.deleteContact, byKey, { params: { id: ada.id } });
  expect(await today()).toMatchObject({ added: 2, growth: 2 });
  const other = await server.createProject();
  expect((await server.call(analytics.getAudience, other.byKey, {})).body.at(-1)).toMatchObject({ added: 0 });
});

test("stops counting added contacts at the limit and says which days are complete", async () => {
  const project = await server.createProject();
  const from = new Date("2026-06-01T00:00:00Z");
  const bounds = [0, 1, 2, 3].map((days) => new Date(from.getTime() + days * 86_400_000));
  for (const [day, name] of ["one", "two", "two-b", "three"].entries())
    await server.rows(
      `with c as (
         insert into contacts (project_id, id, email, subscribed, created_at)
         values ($1, sent_event_id(gen_random_uuid(), $2::timestamptz), $3, true, $2) returning id
       )
       insert into consent_changes (project_id, contact_id, id, subscribed, source, created_at)
       select $1, c.id, c.id, true, 'import', $2 from c`,
      project.id,
      new Date(from.getTime() + [0, 30, 31, 60][day]! * 3_600_000),
      `${name}@example.com`,
    );
  const read = (most: number) =>
    countArrivals(server.database, project.id, { span: { from, to: bounds[3]! }, bounds, most });
  const all = await read(4);
  expect([[...all.byDay], all.complete]).toEqual([
    [
      [1, 1],
      [2, 2],
      [3, 1],
    ],
    1,
  ]);
  expect((await read(2)).complete).toBe(3);
});
