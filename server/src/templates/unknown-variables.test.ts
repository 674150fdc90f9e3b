// Tests the warnings about variables for which no contact has a value. Saving succeeds nevertheless.
import { expect, test } from "vitest";
import * as campaigns from "@postloft/contract/campaigns.ts";
import * as templates from "@postloft/contract/templates.ts";
import * as v1 from "@postloft/contract/v1.ts";
import { useTestServer } from "../testing/test-server.ts";
import type { ResponseOf } from "../testing/typed-call.ts";

const server = useTestServer();

type Saved = ResponseOf<typeof templates.createTemplate>;

test("saves templates and campaigns with a warning for each variable without a value", async () => {
  const { byKey } = await server.createProject();
  await server.call(v1.track, byKey, {
    body: {
      email: "a@example.com",
      event: "e",
      data: { plan: "pro" },
    },
  });
  const content = { subject: "{{firstNam}} {{email}}", body: "<p>{{plan}} {{data.color}}</p>" };
  const template = { ...content, name: "t", type: "MARKETING" };
  const made = await server.call(templates.createTemplate, byKey, { anyBody: template });
  expect(made.status).toBe(201);
  expect(made.body.warnings.map(({ code, where }) => ({ code, ...where }))).toEqual([
    { code: "unknown_variable", field: "subject", line: 1, column: 3 },
    expect.objectContaining({ code: "unknown_variable", field: "body" }),
  ]);
  const path = `/templates/${made.body.id}`;
  const changed = await server.call<Saved>("PATCH", path, byKey, { body: "<p>{{plan}}</p>" });
  expect([changed.status, changed.body.warnings]).toEqual([200, []]);
  const draft = { ...content, name: "c", from: "a@sandbox.localhost", audienceType: "ALL" };
  const campaign = await server.call(campaigns.createCampaign, byKey, { anyBody: draft });
  expect(campaign.status).toBe(201);
  expect(campaign.body.data.warnings).toHaveLength(2);
  const replaced = await server.call<Saved>("PUT", `/campaigns/${campaign.body.data.id}`, byKey, {
    ...draft,
    subject: "{{plan}}",
    body: "x",
  });
  expect([replaced.status, replaced.body.warnings]).toEqual([200, []]);
});
