// Who gets a campaign is fixed once, however often the job that fixes it is done.
import { expect, test } from "vitest";
import { transaction } from "../platform/database.ts";
import { newId } from "../platform/ids.ts";
import { useTestServer, type TestProject } from "../testing/test-server.ts";
import { snapshotStep } from "./snapshot-recipients.ts";

/** Nobody works on jobs until the test does. */
const server = useTestServer({ ROLES: "api" });

async function addContact({ byKey }: TestProject, email: string) {
  expect((await server.call("POST", "/contacts", byKey, { email })).status).toBe(201);
}

const snapshot = ({ id }: TestProject, campaignId: string) =>
  transaction(server.database, (tx) =>
    snapshotStep(tx, {
      projectId: id,
      id: newId(),
      input: { campaignId },
      checkpoint: null,
      createdAt: new Date(),
    }),
  );

async function sendCampaign({ byKey }: TestProject): Promise<string> {
  const created = await server.call<{ data: { id: string } }>("POST", "/campaigns", byKey, {
    name: "News",
    subject: "s",
    body: "<p>b</p>",
    from: "news@sandbox.localhost",
    audienceType: "ALL",
  });
  const { id } = created.body.data;
  expect((await server.call("POST", `/campaigns/${id}/send`, byKey)).status).toBe(200);
  return id;
}

test("a second job finds who gets it and adds nobody, neither again nor who came since", async () => {
  const project = await server.createProject();
  const { byKey } = project;
  for (const email of ["ada@example.com", "bob@example.com"]) await addContact(project, email);
  const id = await sendCampaign(project);
  expect(await snapshot(project, id)).toMatchObject({ done: true, result: { totalRecipients: 2 } });
  const path = `/campaigns/${id}/recipients`;
  const before = await server.call("GET", path, byKey);
  await addContact(project, "eve@example.com");
  expect(await snapshot(project, id)).toEqual({ done: true, result: {} });
  expect((await server.call("GET", path, byKey)).body).toEqual(before.body);
  const { body } = await server.call("GET", `/campaigns/${id}`, byKey);
  expect(body).toMatchObject({ totalRecipients: 2, pendingCount: 2 });
});

test("fixing who gets it takes a moment also where PostgreSQL has seen nothing of the project yet", async () => {
  const [known, unknown] = [await server.createProject(), await server.createProject()];
  for (const email of ["ada@example.com", "bob@example.com"]) await addContact(known, email);
  await server.rows("analyze contacts");
  // Compared each with each they take minutes, and the test its timeout.
  const COUNT = 20_000;
  await server.rows(
    `insert into contacts (project_id, id, email, subscribed)
     select $1, new_id(), 'c' || n || '@example.com', true from generate_series(1, $2::integer) n`,
    unknown.id,
    COUNT,
  );
  const id = await sendCampaign(unknown);
  expect(await snapshot(unknown, id)).toMatchObject({ done: true, result: { totalRecipients: COUNT } });
});
