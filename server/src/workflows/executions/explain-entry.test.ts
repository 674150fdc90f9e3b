// Explanations for triggers that refer to deleted segments, and for exit conditions that already hold.
import { expect, test } from "vitest";
import * as contacts from "@postloft/contract/contacts.ts";
import * as workflowQuestions from "@postloft/contract/workflows/questions.ts";
import * as workflows from "@postloft/contract/workflows/workflows.ts";
import { newId } from "../../platform/ids.ts";
import { useTestServer } from "../../testing/test-server.ts";
import { drawWorkflow, type Drawing } from "../../testing/workflow-fixture.ts";

const server = useTestServer({ ROLES: "api" });
const gone = newId();
const filter = { operator: "AND", conditions: [{ field: `segment.${gone}`, operator: "memberOfSegment" }] };

test.each([
  ["segment", "SEGMENT_ENTRY", { segmentId: gone }],
  ["segment", "SEGMENT_EXIT", { segmentId: gone }],
  ["audience", "SCHEDULE", { cron: "0 9 * * *", audienceType: "SEGMENT", segmentId: gone }],
  ["audience", "SCHEDULE", { cron: "0 9 * * *", audienceType: "FILTERED", audienceFilter: filter }],
] as const)(
  "reports that no contact enters when the %s of a trigger %s was deleted",
  async (rule, type, config) => {
    const { id: projectId, byKey } = server.project;
    const contact = await server.call(contacts.upsertContact, byKey, {
      body: {
        email: `${newId()}@example.com`,
      },
    });
    const drawing: Drawing = { trigger: { type, config }, steps: [["trigger", "TRIGGER"]], links: [] };
    const workflow = await drawWorkflow(server.database, projectId, drawing);
    const { status, body } = await server.call(workflowQuestions.explainEntry, byKey, {
      params: { id: workflow.id },
      body: { contactId: contact.body.id },
    });
    expect(status).toBe(200);
    expect(body).toMatchObject({
      wouldEnter: false,
      reasons: [
        { rule: "enabled", holds: true },
        { rule, holds: false, message: "The segment of the trigger was deleted." },
        { rule: "reentry", holds: true },
      ],
    });
  },
);

test.each([
  [
    { plan: "pro" },
    false,
    'The contact would leave before the first step. Exit condition: data.plan equals "pro"',
  ],
  [{ plan: "trial" }, true, "No exit condition on the contact holds."],
])("reports whether a contact with %j would leave at once", async (data, holds, message) => {
  const { id: projectId, byKey } = server.project;
  const { body: contact } = await server.call(contacts.upsertContact, byKey, {
    body: { email: `${newId()}@example.com`, data },
  });
  const { id } = await drawWorkflow(server.database, projectId, {
    steps: [["trigger", "TRIGGER"]],
    links: [],
  });
  const isPro = { operator: "AND", conditions: [{ field: "data.plan", operator: "equals", value: "pro" }] };
  const exitConditions = [
    { type: "EVENT", eventName: "purchase" },
    { type: "FILTER", filter: isPro },
  ];
  const saved = await server.call(workflows.updateWorkflow, byKey, {
    params: { id },
    anyBody: { exitConditions },
  });
  expect(saved.status).toBe(200);
  const { body } = await server.call(workflowQuestions.explainEntry, byKey, {
    params: { id },
    body: { contactId: contact.id },
  });
  expect(body.wouldEnter).toBe(holds);
  expect(body.reasons.at(-1)).toEqual({ rule: "exit", holds, message });
});
