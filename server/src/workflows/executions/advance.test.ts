// Limits how much of a project is advanced in one turn while other projects wait.
import { expect, test } from "vitest";
import { createSealer } from "../../platform/crypto.ts";
import { transaction } from "../../platform/database/database.ts";
import { APP_SECRET, useTestServer } from "../../testing/test-server.ts";
import { drawWorkflow, entryOf } from "../../testing/workflow-fixture.ts";
import { advanceDue } from "./advance.ts";
import { insertExecutions } from "./entry-queries.ts";

/** No engine runs, so only the test advances executions. */
const server = useTestServer({ ROLES: "api" });

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
