// Tests that the setup progress of a project shows its own actions only.
import { expect, test } from "vitest";
import * as campaigns from "@postloft/contract/campaigns.ts";
import * as contacts from "@postloft/contract/contacts.ts";
import * as domains from "@postloft/contract/domains.ts";
import * as projects from "@postloft/contract/projects.ts";
import * as v1 from "@postloft/contract/v1.ts";
import { useTestServer, type TestProject } from "../testing/test-server.ts";
import { drawWorkflow } from "../testing/workflow-fixture.ts";

const server = useTestServer({ ROLES: "api,worker" });

const read = async ({ id, byKey }: TestProject) =>
  (await server.call(projects.getSetupState, byKey, { params: { projectId: id } })).body.data;

test("a new project has only the sandbox domain, and each action shows", async () => {
  const [project, other] = [await server.createProject(), await server.createProject()];
  const fresh = {
    hasSubscription: false,
    hasVerifiedDomain: true,
    hasOwnDomain: false,
    contactCount: 0,
    firstMailAt: null,
    hasReachedMember: false,
    lastCampaignSentAt: null,
    hasEnabledWorkflow: false,
  };
  expect(await read(project)).toEqual(fresh);
  await server.call(contacts.upsertContact, project.byKey, { body: { email: "ada@example.com" } });
  const { id } = await drawWorkflow(server.database, project.id, {
    steps: [["trigger", "TRIGGER"]],
    links: [],
  });
  await server.rows("update workflows set enabled = true where id = $1", id);
  const campaign = {
    name: "News",
    subject: "s",
    body: "b",
    from: "a@sandbox.localhost",
    audienceType: "ALL",
  };
  const made = await server.call(campaigns.createCampaign, project.byKey, { anyBody: campaign });
  expect(await read(project)).toMatchObject({ lastCampaignSentAt: null });
  await server.call("POST", `/campaigns/${made.body.data.id}/send`, project.byKey, {});
  const done = {
    ...fresh,
    contactCount: 1,
    firstMailAt: expect.stringMatching(/Z$/),
    hasEnabledWorkflow: true,
    lastCampaignSentAt: expect.stringMatching(/Z$/),
  };
  await expect.poll(() => read(project), { timeout: 30_000 }).toEqual(done);
  const added = await server.call(domains.createDomain, project.byKey, {
    body: {
      domain: "own.example.com",
    },
  });
  expect(await read(project)).toEqual(done);
  await server.call(domains.verifyDomain, project.byKey, { params: { id: added.body.id } });
  const toOwner = { to: project.owner.email, from: "a@own.example.com", subject: "s", body: "b" };
  await server.call(v1.send, project.byKey, { body: toOwner });
  const tried = { ...done, contactCount: 2, hasOwnDomain: true, hasReachedMember: true };
  await expect.poll(() => read(project), { timeout: 30_000 }).toEqual(tried);
  expect(await read(other)).toEqual(fresh);
});

/** Sends five emails in a project with a rate of two a second. Returns the milliseconds from the first to the last. */
async function timeFiveEmails(): Promise<number> {
  const project = await server.createProject();
  const own = { cookie: project.owner.cookie };
  await server.call(projects.updateProject, own, {
    params: { projectId: project.id },
    body: { sendingRate: 2 },
  });
  const to = Array.from({ length: 5 }, (_, at) => `p${at}@example.com`);
  const mail = { to, from: "a@sandbox.localhost", subject: "s", body: "b" };
  expect((await server.call(v1.send, project.byKey, { body: mail })).status).toBe(200);
  const sent = () =>
    server.rows<{ sentAt: Date }>(
      "select sent_at from emails where project_id = $1 and sent_at is not null order by 1",
      project.id,
    );
  await expect.poll(async () => (await sent()).length, { timeout: 30_000 }).toBe(5);
  const times = (await sent()).map((row) => row.sentAt.getTime());
  return (times.at(-1) ?? 0) - (times[0] ?? 0);
}

test("a project sends at its own rate and no faster", async () => {
  // Two concurrently, then one every half second. A process that stops before it sends makes up for the time, but not each time. One that
  // stops while it sends takes long without a rate, so two tries must.
  let slow = 0;
  for (let tries = 0; tries < 5 && slow < 2; tries++) if ((await timeFiveEmails()) > 1_200) slow++;
  expect(slow).toBe(2);
});
