// Tests the number of skipped emails in the feed, for each form of a trace.
import { expect, test } from "vitest";
import * as activity from "@postloft/contract/activity.ts";
import { recordedReason } from "@postloft/contract/recorded-reasons.ts";
import { newId } from "../platform/ids.ts";
import { makeSentMails } from "../testing/sent-mails.ts";
import { useTestServer, type TestProject } from "../testing/test-server.ts";
import { drawWorkflow } from "../testing/workflow-fixture.ts";

const server = useTestServer({ ROLES: "api" });
const LONG_AGO = Date.UTC(2026, 0, 1);

/** Stores a completed execution for each trace, and returns what the feed says about them. */
async function completedWith(traces: readonly object[][], mails: readonly string[], project: TestProject) {
  const { id: workflowId } = await drawWorkflow(server.database, project.id, {
    steps: [
      ["pause", "DELAY"],
      ["mail", "SEND_EMAIL"],
    ],
    links: [["pause", "mail"]],
  });
  await server.rows(
    `update emails set status = 'SKIPPED', reason = 'The contact was deleted.', sent_at = null
     where project_id = $1 and id = any($2::uuid[])`,
    project.id,
    mails,
  );
  for (const [at, trace] of traces.entries())
    await server.rows(
      `insert into workflow_executions (project_id, id, workflow_id, entry, version, status, trace, ended_at)
       values ($1, new_id(), $2, $3, 1, 'COMPLETED', $4::jsonb, $5)`,
      project.id,
      workflowId,
      at,
      JSON.stringify(trace),
      new Date(LONG_AGO + at * 60_000).toISOString(),
    );
  const { body } = await server.call(activity.listActivity, project.byKey, {
    query: { type: "workflow.completed", workflowId },
  });
  return body.data
    .toReversed()
    .map(({ metadata: { skippedEmails, skipReason } }) => [skippedEmails ?? 0, skipReason ?? null]);
}

test("counts the emails that a completed workflow skipped, with the reason if it is one", async () => {
  const project = await server.createProject();
  const [sent, skipped] = await makeSentMails(server.database, project.id, 2);
  const unsubscribed = { is: "SKIPPED", out: { reason: "The contact is not subscribed." } };
  const limited = { is: "SKIPPED", out: { reason: "Too many.", code: "PUBLIC_KEY_LIMIT" } };
  const removed = { n: -1, step: { id: newId(), name: "mail", type: "SEND_EMAIL" } };
  const traces = [
    [{ n: 0 }, { n: 1, out: { emailId: sent?.id } }],
    [{ n: 0 }, { n: 1, ...unsubscribed }],
    [
      { n: 1, ...unsubscribed },
      { n: 1, ...unsubscribed },
    ],
    [
      { ...removed, ...limited },
      { n: 1, out: { emailId: skipped?.id } },
    ],
    [{ n: 1, ...limited }],
    // A person skipped the delay, and a step that no longer exists and sent nothing.
    [
      { n: 0, is: "SKIPPED", out: { reason: "The execution was moved to another step." } },
      { ...removed, step: { ...removed.step, type: "WEBHOOK" }, is: "SKIPPED" },
    ],
    // The contact was deleted, and the outputs with it.
    [{ n: 1, is: "SKIPPED" }],
    // The email was sent before a jump back.
    [{ n: 1, is: "SKIPPED", out: { reason: recordedReason("alreadySent") } }],
  ];
  expect(await completedWith(traces, [skipped?.id ?? ""], project)).toEqual([
    [0, null],
    [1, "The contact is not subscribed."],
    [2, "The contact is not subscribed."],
    [2, null],
    [1, "PUBLIC_KEY_LIMIT"],
    [0, null],
    [1, null],
    [0, null],
  ]);
});
