// Tests that an unfinished campaign is not sent or scheduled until each finding is fixed or confirmed.
import { expect, test } from "vitest";
import * as campaignActions from "@postloft/contract/campaign-actions.ts";
import * as campaigns from "@postloft/contract/campaigns.ts";
import * as contacts from "@postloft/contract/contacts.ts";
import { errorOf, useTestServer } from "../testing/test-server.ts";

const server = useTestServer();

async function makeProject() {
  const project = await server.createProject();
  await server.call(contacts.upsertContact, project.byKey, {
    body: { email: "ada@example.com", subscribed: true },
  });
  return project.byKey;
}

const FINE = "<p>Hello</p>";
const campaignOf = (body: string) => ({
  name: "C",
  subject: "Hi",
  body,
  from: "hello@sandbox.localhost",
  audienceType: "ALL",
});

async function create(byKey: Awaited<ReturnType<typeof makeProject>>, body: string): Promise<string> {
  const created = await server.call<{ data: { id: string } }>("POST", "/campaigns", byKey, campaignOf(body));
  return created.body.data.id;
}

const LATER = new Date(Date.now() + 86_400_000).toISOString();

test.each([
  ["merge_tag", "<p>Hello</p>\n<p>*|FNAME|*</p>", 2, 4],
  ["merge_tag", '<p>Hello</p><a href="{{ UnsubscribeURL }}">Leave</a>', 1, 22],
  ["unsubscribe_link_nowhere", '<p>Hello</p>\n<a href="">Unsubscribe</a>', 2, 1],
  ["unsubscribe_link_nowhere", '<p>Hello</p>\n<a href="{{unsub}}">Unsubscribe</a>', 2, 1],
  ["placeholder_text", "<p>Hello</p><p>Write here.</p>", 1, 16],
  ["link_to_example", '<p>Hello</p><a href="https://example.com">Shop</a>', 1, 13],
  ["body_empty", "<p> </p>", null, null],
] as const)("%s blocks a campaign until it is confirmed: %s", async (code, body, line, column) => {
  const byKey = await makeProject();
  const id = await create(byKey, body);
  const check = await server.call(campaignActions.checkCampaign, byKey, { params: { id } });
  expect(check.body.ready).toBe(false);
  expect(check.body.blocks).toEqual([
    expect.objectContaining({ code, where: { field: "body", line, column } }),
  ]);

  for (const asked of [{}, { scheduledFor: LATER }, { confirm: [] }]) {
    const refused = await server.call("POST", `/campaigns/${id}/send`, byKey, asked);
    expect(errorOf(refused)).toBe("422 CAMPAIGN_NOT_READY");
    expect(refused.body.error.message).toContain(`add "confirm": ["${code}"]`);
    expect(refused.body.error.errors).toEqual([expect.objectContaining({ field: "body" })]);
  }
  const others = ["merge_tag", "body_empty"].filter((one) => one !== code);
  const other = await server.call("POST", `/campaigns/${id}/send`, byKey, { confirm: others });
  expect(errorOf(other)).toBe("422 CAMPAIGN_NOT_READY");
  const unknown = await server.call("POST", `/campaigns/${id}/send`, byKey, { confirm: ["everything"] });
  expect(errorOf(unknown)).toBe("422 VALIDATION_ERROR");
  const sent = await server.call(campaignActions.sendCampaign, byKey, {
    params: { id },
    body: { confirm: [code] },
  });
  expect(sent.body).toMatchObject({ status: "SENDING" });
});

test("rejects changing a scheduled campaign into one that is not ready", async () => {
  const byKey = await makeProject();
  const id = await create(byKey, FINE);
  const scheduled = await server.call(campaignActions.sendCampaign, byKey, {
    params: { id },
    body: { scheduledFor: LATER },
  });
  expect(scheduled.body).toMatchObject({ status: "SCHEDULED" });
  const bad = campaignOf("<p>Dear *|FNAME|*</p>");
  const refused = await server.call(campaigns.replaceCampaign, byKey, { params: { id }, anyBody: bad });
  expect(errorOf(refused)).toBe("422 CAMPAIGN_NOT_READY");
  expect((await server.call(campaigns.getCampaign, byKey, { params: { id } })).body).toMatchObject({
    body: FINE,
  });
  const confirmed = await server.call("PUT", `/campaigns/${id}`, byKey, { ...bad, confirm: ["merge_tag"] });
  expect(confirmed.body).toMatchObject({ body: bad.body, status: "SCHEDULED" });
});

test("a fixed campaign is ready", async () => {
  const byKey = await makeProject();
  const id = await create(byKey, "<p>Dear *|FNAME|*</p>");
  await server.call("PUT", `/campaigns/${id}`, byKey, campaignOf('<p>Dear {{firstName ?? "you"}}</p>'));
  expect((await server.call(campaignActions.checkCampaign, byKey, { params: { id } })).body.ready).toBe(true);
  expect((await server.call(campaignActions.sendCampaign, byKey, { params: { id } })).body).toMatchObject({
    status: "SENDING",
  });
});
