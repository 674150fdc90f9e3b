// Imports exports of other services, then sends a campaign to everyone. No contact that left may get an email.
import { readFileSync } from "node:fs";
import { expect, test, vi } from "vitest";
import * as campaignActions from "@postloft/contract/campaign-actions.ts";
import * as campaigns from "@postloft/contract/campaigns.ts";
import { EXPECTED_EXPORTS, type ExpectedExport } from "@postloft/contract/contact-file/exports/expected.ts";
import type { ErrorEnvelope } from "../../platform/http/errors.ts";
import { useTestServer, type TestProject } from "../../testing/test-server.ts";
import { endOfImport, uploadCsv } from "../../testing/upload.ts";

const server = useTestServer();
const DOMAIN = "@example.org";
const FOLDER = new URL("../../../../contract/src/contact-file/exports/", import.meta.url);

/** Sends a campaign to everyone and returns the recipients. */
async function mailAll({ id, byKey }: TestProject): Promise<string[]> {
  const { body } = await server.call(campaigns.createCampaign, byKey, {
    body: {
      name: "News",
      subject: "News",
      body: "<p>Hello</p>",
      from: "news@sandbox.localhost",
      audienceType: "ALL",
    },
  });
  const sent = await server.call(campaignActions.sendCampaign, byKey, {
    params: { id: body.data.id },
    body: {},
  });
  if (sent.status === 200)
    await vi.waitUntil(
      async () => {
        const campaign = await server.call(campaigns.getCampaign, byKey, { params: { id: body.data.id } });
        return campaign.body.status === "SENT" && campaign.body.pendingCount === 0;
      },
      { timeout: 30_000, interval: 20 },
    );
  const rows = await server.rows<{ recipient: string }>(
    "select distinct recipients[1] as recipient from mailbox_messages where project_id = $1",
    id,
  );
  return rows.map(({ recipient }) => recipient.replace(DOMAIN, ""));
}

const uploadExport = (project: TestProject, name: string) =>
  uploadCsv<ErrorEnvelope & { jobId: string }>(
    server.call,
    project.byKey,
    readFileSync(new URL(`${name}.csv`, FOLDER)),
  );

const isRefused = ({ refused }: ExpectedExport) => refused !== undefined;

test.for(EXPECTED_EXPORTS.filter((one) => !isRefused(one)))(
  "$name: a campaign skips contacts that left",
  async ({ name, email, subscribed, left, reported = [] }) => {
    const project = await server.createProject(server.project.owner);
    const upload = await uploadExport(project, name);
    expect(`${upload.status} ${upload.text}`).toMatch(/^202 /);
    const { state, result } = await endOfImport(server.call, project.byKey, upload.body.jobId);
    expect(state).toBe("completed");
    expect(result.mapping.find(({ target }) => target === "email")?.name).toBe(email);
    expect(result.errors.map(({ row }) => row)).toEqual(reported);
    const { subscribedCount, unsubscribedCount, suppressedCount, successCount } = result;
    expect(subscribedCount + unsubscribedCount + suppressedCount).toBe(successCount);
    const mailed = await mailAll(project);
    expect(mailed.toSorted()).toEqual(subscribed.toSorted());
    expect(mailed.filter((one) => left.includes(one))).toEqual([]);
  },
);

test.for(EXPECTED_EXPORTS.filter(isRefused))(
  "rejects $name before anything is stored",
  async ({ name, refused = /./ }) => {
    const before = await server.countRows();
    const { status, body } = await uploadExport(server.project, name);
    expect(status).toBe(422);
    expect(body.error.errors?.[0]?.message).toMatch(refused);
    expect(await server.countRows()).toEqual(before);
  },
);
