// The job that lets an audience enter a workflow, when the database aborts one of its statements.
import { expect, test } from "vitest";
import * as contacts from "@postloft/contract/contacts.ts";
import { transaction } from "../../platform/database/database.ts";
import { newId } from "../../platform/ids.ts";
import { JobFailure } from "../../platform/background/jobs.ts";
import { cancelWaitingAt } from "../../testing/cancel-waiting.ts";
import { useTestServer } from "../../testing/test-server.ts";
import { drawWorkflow, entryOf } from "../../testing/workflow-fixture.ts";
import { insertExecutions } from "./entry-queries.ts";
import { audienceStep } from "./start-executions.ts";

/** No job runner runs, so only the test runs jobs. */
const server = useTestServer({ ROLES: "api" });

test("starts the earliest execution of a contact in any insertion order", async () => {
  const { id: projectId, byKey } = await server.createProject();
  const { body: contact } = await server.call(contacts.upsertContact, byKey, {
    body: {
      email: "a@example.com",
    },
  });
  const workflow = await drawWorkflow(server.database, projectId, {
    steps: [
      ["trigger", "TRIGGER"],
      ["end", "EXIT"],
    ],
    links: [["trigger", "end"]],
  });
  const entries = Array.from({ length: 50 }, (_, n) => entryOf(workflow, contact.id, { n }));
  await transaction(server.database, (tx) => insertExecutions(tx, projectId, entries.toReversed()));
  expect(
    await server.rows("select context from workflow_executions where project_id = $1", projectId),
  ).toEqual([{ context: { n: 0 } }]);
});

test("continues the job after a database error, and fails it after the segment was deleted", async () => {
  const { id: projectId, byKey } = await server.createProject();
  await server.call(contacts.upsertContact, byKey, { body: { email: "ada@example.com" } });
  const workflow = await drawWorkflow(server.database, projectId, {
    steps: [
      ["trigger", "TRIGGER"],
      ["end", "EXIT"],
    ],
    links: [["trigger", "end"]],
  });
  const step = (audience: object) =>
    transaction(server.database, (tx) =>
      audienceStep(tx, {
        projectId,
        id: newId(),
        input: { workflowId: workflow.id, audience, context: {} },
        checkpoint: null,
        createdAt: new Date(),
      }),
    );
  const everybody = {
    audienceType: "FILTERED",
    audienceFilter: { operator: "AND", conditions: [{ field: "email", operator: "contains", value: "@" }] },
  };
  const thrown = await cancelWaitingAt(server, "segments", () => step(everybody));
  expect(thrown).toMatchObject({ code: "57014" });
  expect(thrown).not.toBeInstanceOf(JobFailure);
  expect(await step(everybody)).toEqual({ done: true, result: { totalContacts: 1, startedCount: 1 } });
  const gone = newId();
  const refused = await step({ audienceType: "SEGMENT", segmentId: gone, audienceFilter: null }).catch(
    (error: unknown) => error,
  );
  expect(refused).toEqual(new JobFailure(`Segment ${gone} not found.`));
});
