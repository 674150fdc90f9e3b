// Limits how much of a project is advanced in one turn while other projects wait, and lets no step overtake an exit.
import { expect, test } from "vitest";
import * as workflows from "@postloft/contract/workflows/workflows.ts";
import { createSealer } from "../../platform/crypto.ts";
import { transaction } from "../../platform/database/database.ts";
import { APP_SECRET, useTestServer } from "../../testing/test-server.ts";
import { drawWorkflow, entryOf, trackEvent } from "../../testing/workflow-fixture.ts";
import { advanceDue } from "./advance.ts";
import { insertExecutions, markVersionsUsed } from "./entry-queries.ts";
import { reactOnce } from "./react.ts";

/** No engine runs, so only the test advances executions. */
const server = useTestServer({ ROLES: "api" });

const parts = {
  domains: { findSigningKeys: async () => new Map() } as never,
  sealer: createSealer(APP_SECRET),
  baseUrl: () => "",
  publicKeyLimits: {
    PUBLIC_KEY_EMAILS_PER_HOUR: 0,
    PUBLIC_KEY_EMAILS_PER_DAY: 0,
    PUBLIC_KEY_FIRST_EMAILS_PER_HOUR: 0,
  },
};

test("advances a batch that cannot be stored over many turns instead of one long turn", async () => {
  const COUNT = 60;
  const { id: projectId } = await server.createProject();
  const contacts = await server.rows<{ id: string }>(
    `insert into contacts (project_id, id, email, subscribed)
     select $1, new_id(), 'c' || n || '@example.com', true from generate_series(1, $2::integer) n returning id`,
    projectId,
    COUNT,
  );
  const workflow = await drawWorkflow(server.database, projectId, {
    steps: [
      ["trigger", "TRIGGER"],
      ["tag", "UPDATE_CONTACT", { updates: { refused: 1 } }],
    ],
    links: [["trigger", "tag"]],
  });
  const entries = contacts.map((contact) => entryOf(workflow, contact.id));
  await transaction(server.database, (tx) => insertExecutions(tx, projectId, entries));
  await server.rows("alter table contacts add constraint refused check (not data ? 'refused') not valid");
  const faults: string[] = [];
  const turn = () => advanceDue(server.database, parts, projectId, 500, (_error, id) => faults.push(id));
  const moved = [await turn(), await turn(), await turn()];
  expect(moved).toEqual([50, 10, 0]);
  expect(faults).toHaveLength(COUNT);
  expect(
    await server.rows(
      "select status, count(*)::integer from workflow_executions where project_id = $1 group by 1",
      projectId,
    ),
  ).toEqual([{ status: "FAILED", count: COUNT }]);
});

test("takes no step while an exit event is being processed, and none afterwards", async () => {
  const project = await server.createProject();
  const workflow = await drawWorkflow(server.database, project.id, {
    steps: [
      ["trigger", "TRIGGER"],
      ["wait", "DELAY", { amount: 1, unit: "days" }],
      ["tag", "UPDATE_CONTACT", { updates: { tagged: true } }],
    ],
    links: [
      ["trigger", "wait"],
      ["wait", "tag"],
    ],
  });
  const params = { id: workflow.id };
  const body = { exitConditions: [{ type: "EVENT", eventName: "purchase" } as const] };
  expect((await server.call(workflows.updateWorkflow, project.byKey, { params, body })).status).toBe(200);
  const contactId = await trackEvent(server, project, "ada@example.com", "visit");
  const entry = entryOf(workflow, contactId);
  await transaction(server.database, async (tx) => {
    await insertExecutions(tx, project.id, [entry]);
    await markVersionsUsed(tx, project.id, [entry]);
  });
  const advance = () => advanceDue(server.database, parts, project.id);
  expect(await advance()).toBe(1);
  await server.rows(
    `update workflow_executions set due_at = now(), trace = jsonb_set(trace, '{-1,until}', '1') where project_id = $1`,
    project.id,
  );
  await trackEvent(server, project, "ada@example.com", "purchase");
  await transaction(server.database, async (tx) => {
    await reactOnce(tx, project.id);
    expect(await advance()).toBe(0);
  });
  expect(await advance()).toBe(0);
  expect(
    await server.rows(
      `select x.status, c.data from workflow_executions x join contacts c on c.project_id = x.project_id and c.id = x.contact_id
       where x.project_id = $1`,
      project.id,
    ),
  ).toEqual([{ status: "EXITED", data: {} }]);
});
