// Tests that a campaign's recipients are fixed once, however often the job runs.
import { expect, test } from "vitest";
import * as campaignActions from "@postloft/contract/campaign-actions.ts";
import * as campaigns from "@postloft/contract/campaigns.ts";
import * as contacts from "@postloft/contract/contacts.ts";
import * as segments from "@postloft/contract/segments.ts";
import { transaction } from "../platform/database/database.ts";
import { newId } from "../platform/ids.ts";
import { JobFailure } from "../platform/background/jobs.ts";
import { createLog } from "../platform/log.ts";
import { createMetrics } from "../platform/metrics.ts";
import { cancelWaitingAt } from "../testing/cancel-waiting.ts";
import { useTestServer, type TestProject } from "../testing/test-server.ts";
import { createSnapshotStep } from "./snapshot-recipients.ts";

/** Only the test runs jobs. */
const server = useTestServer({ ROLES: "api" });

async function addContact({ byKey }: TestProject, email: string) {
  expect((await server.call(contacts.upsertContact, byKey, { body: { email } })).status).toBe(201);
}

const snapshotStep = createSnapshotStep({
  baseUrl: () => "https://post.example",
  log: createLog({ level: "silent" }),
  metrics: createMetrics(),
});
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

async function sendCampaign(
  { byKey }: TestProject,
  audience: object = { audienceType: "ALL" },
): Promise<string> {
  const created = await server.call<{ data: { id: string } }>("POST", "/campaigns", byKey, {
    name: "News",
    subject: "s",
    body: "<p>b</p>",
    from: "news@sandbox.localhost",
    ...audience,
  });
  const { id } = created.body.data;
  expect((await server.call(campaignActions.sendCampaign, byKey, { params: { id } })).status).toBe(200);
  return id;
}

test("stores the preview text in the HTML that all recipients share", async () => {
  const project = await server.createProject();
  await addContact(project, "ada@example.com");
  const id = await sendCampaign(project, {
    audienceType: "ALL",
    previewText: "Soon, {{name}}",
    kind: "HEADLESS",
  });
  await snapshot(project, id);
  const rows = await server.rows<{ html: string }>(
    "select html from email_contents where project_id = $1",
    project.id,
  );
  expect(rows.map(({ html }) => html.replaceAll("&zwnj;&nbsp;", ""))).toEqual([
    '<div style="display:none;max-height:0;overflow:hidden">Soon, {{name}}</div><p>b</p>',
  ]);
});

test("a second job adds no recipients, neither duplicates nor new contacts", async () => {
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
  const { body } = await server.call(campaigns.getCampaign, byKey, { params: { id } });
  expect(body).toMatchObject({ totalRecipients: 2, pendingCount: 2 });
});

test("fixes recipients quickly even before PostgreSQL has statistics for the project", async () => {
  const [known, unknown] = [await server.createProject(), await server.createProject()];
  for (const email of ["ada@example.com", "bob@example.com"]) await addContact(known, email);
  await server.rows("analyze contacts");
  // A nested loop would take minutes and exceed the test's timeout.
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

const TO_MANY = {
  audienceType: "FILTERED",
  audienceFilter: { operator: "AND", conditions: [{ field: "email", operator: "contains", value: "@" }] },
};

test("retries the job after a database error", async () => {
  const project = await server.createProject();
  await addContact(project, "ada@example.com");
  const id = await sendCampaign(project, TO_MANY);
  const thrown = await cancelWaitingAt(server, "segments", () => snapshot(project, id));
  expect(thrown).toMatchObject({ code: "57014" });
  expect(thrown).not.toBeInstanceOf(JobFailure);
  expect(await snapshot(project, id)).toMatchObject({ done: true, result: { totalRecipients: 1 } });
});

test("fails the job with a reason for an invalid audience, and resuming fixes the recipients", async () => {
  const project = await server.createProject();
  const { byKey } = project;
  await addContact(project, "ada@example.com");
  const { body: guests } = await server.call(segments.createSegment, byKey, {
    body: {
      name: "Guests",
      type: "STATIC",
    },
  });
  await server.call(segments.addSegmentMembers, byKey, {
    params: { id: guests.id },
    body: { emails: ["ada@example.com"] },
  });
  const id = await sendCampaign(project, { audienceType: "SEGMENT", segmentId: guests.id });
  await server.rows("update campaigns set segment_id = null where id = $1", id);
  const thrown = await snapshot(project, id).catch((error: unknown) => error);
  expect(thrown).toEqual(new JobFailure("The campaign's segment was deleted. Choose another one."));
  await server.rows("delete from jobs where project_id = $1", project.id);
  await server.rows("update campaigns set segment_id = $2 where id = $1", id, guests.id);
  for (const action of ["pause", "resume"])
    expect((await server.call("POST", `/campaigns/${id}/${action}`, byKey)).status).toBe(200);
  expect(await server.rows("select kind, input from jobs where project_id = $1", project.id)).toEqual([
    { kind: "campaigns.snapshot", input: { campaignId: id } },
  ]);
  expect(await snapshot(project, id)).toMatchObject({ done: true, result: { totalRecipients: 1 } });
});
