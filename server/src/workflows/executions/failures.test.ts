// Failures by step and cause, and retries and skips of those of one cause.
import { expect, test, vi } from "vitest";
import * as contacts from "@postloft/contract/contacts.ts";
import * as executions from "@postloft/contract/executions.ts";
import * as failures from "@postloft/contract/workflows/failures.ts";
import { errorOf, useTestServer, type TestProject } from "../../testing/test-server.ts";
import { drawWorkflow, trackEvent } from "../../testing/workflow-fixture.ts";

const server = useTestServer();
const WAIT = { timeout: 30_000, interval: 20 };

/** Stores a workflow that waits until a date in the contact's data, which fails without a date. */
async function drawDelay({ id }: TestProject) {
  return drawWorkflow(server.database, id, {
    trigger: { type: "EVENT", config: { eventName: "ordered" }, event: "ordered" },
    steps: [
      ["trigger", "TRIGGER"],
      ["until due", "DELAY", { dateField: "data.due" }],
      ["done", "EXIT", { reason: "done" }],
    ],
    links: [
      ["trigger", "until due"],
      ["until due", "done"],
    ],
    allowReentry: true,
  });
}

/** Lets contacts with these values enter, and waits until all have failed. Returns the groups and the ids of the contacts. */
async function failWith(project: TestProject, id: string, due: Readonly<Record<string, unknown>>) {
  const before = (await listGroups(project, id)).total;
  const ids: Record<string, string> = {};
  for (const [name, value] of Object.entries(due)) {
    const body = { email: `${name}@example.com`, data: value === undefined ? {} : { due: value } };
    await server.call(contacts.upsertContact, project.byKey, { body });
    ids[name] = await trackEvent(server, project, body.email, "ordered");
  }
  const groups = await vi.waitFor(async () => {
    const found = await listGroups(project, id);
    expect(found.total).toBe(before + Object.keys(due).length);
    return found;
  }, WAIT);
  return { ...groups, ids };
}

async function listGroups({ byKey }: TestProject, id: string) {
  return (await server.call(failures.listFailures, byKey, { params: { id } })).body;
}

test("groups failures by step and cause without quoted values, the largest group first", async () => {
  const project = await server.createProject();
  const workflow = await drawDelay(project);
  const { data, total, ids } = await failWith(project, workflow.id, {
    ada: undefined,
    bob: "soon",
    cleo: 'a "week" later',
    dan: 20270331,
  });
  expect(total).toBe(4);
  expect(data).toMatchObject([
    {
      stepId: workflow.step("until due"),
      stepName: "until due",
      stepType: "DELAY",
      count: 3,
      example: { contact: { email: expect.stringMatching(/^(bob|cleo|dan)@/) } },
    },
    { count: 1, error: "“data.due” has no value.", example: { contact: { id: ids["ada"] } } },
  ]);
  const [most] = data;
  const listed = await server.call(executions.listExecutions, project.byKey, {
    params: { id: workflow.id },
    query: { cause: most?.cause, pageSize: "10" },
  });
  expect(listed.body.data.map(({ contactId }) => contactId).toSorted()).toEqual(
    [ids["bob"], ids["cleo"], ids["dan"]].toSorted(),
  );
  expect(listed.body.data).toContainEqual(expect.objectContaining({ id: most?.example.executionId }));
});

test("retries and skips only failures of the cause until the time", async () => {
  const project = await server.createProject();
  const { byKey } = project;
  const { id, step } = await drawDelay(project);
  const params = { id, stepId: step("until due") };
  const first = await failWith(project, id, { ada: undefined, bob: "soon" });
  const { countedAt, ids } = await failWith(project, id, { cleo: undefined });
  const causeOf = (count: number) => first.data.find((one) => one.error.includes("no `") === (count === 1));
  const [missing, invalid] = [causeOf(1)?.cause, causeOf(2)?.cause];
  const statusOf = async (contactId = "") => {
    const { body } = await server.call(executions.listExecutions, byKey, {
      params: { id },
      query: { contactId },
    });
    return body.data.map(({ status }) => status);
  };

  const query = { cause: invalid, failedUntil: countedAt };
  expect((await server.call(executions.skipFailedAtStep, byKey, { params, query })).body).toEqual({
    count: 1,
  });
  await expect.poll(() => statusOf(first.ids["bob"]), WAIT).toEqual(["EXITED"]);
  expect(await statusOf(first.ids["ada"])).toEqual(["FAILED"]);

  const early = { cause: missing, failedUntil: first.countedAt };
  const again = () => server.call(executions.retryFailedAtStep, byKey, { params, query: early });
  expect((await again()).body).toEqual({ count: 1 });
  // Ada fails again for the same cause, but after that time.
  await vi.waitFor(async () => expect((await listGroups(project, id)).total).toBe(2), WAIT);
  expect((await again()).body).toEqual({ count: 0 });
  expect(await statusOf(ids["cleo"])).toEqual(["FAILED"]);
});

test("lists no failures of another project, and rejects an unknown form of a cause", async () => {
  const [project, other] = [await server.createProject(), await server.createProject()];
  const { id, step } = await drawDelay(project);
  const foreign = await server.call(failures.listFailures, other.byKey, { params: { id } });
  expect(errorOf(foreign)).toBe("404 WORKFLOW_NOT_FOUND");
  expect(await listGroups(project, id)).toMatchObject({ data: [], total: 0 });
  const params = { id, stepId: step("until due") };
  const query = { cause: "timeout" };
  const rejected = await server.call(executions.retryFailedAtStep, project.byKey, { params, query });
  expect(rejected.status).toBe(422);
});
