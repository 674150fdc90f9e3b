// Tests notes on steps, which are for authors: they change no version, and exports keep them.
import { expect, test } from "vitest";
import * as steps from "@postloft/contract/workflows/steps.ts";
import * as versions from "@postloft/contract/workflows/versions.ts";
import * as workflows from "@postloft/contract/workflows/workflows.ts";
import { LIMITS } from "@postloft/contract/limits/limits.ts";
import { faultsOf, useTestServer } from "../testing/test-server.ts";
import { drawWorkflow } from "../testing/workflow-fixture.ts";

const server = useTestServer({ ROLES: "api,worker" });

async function draw() {
  const project = await server.createProject();
  const workflow = await drawWorkflow(server.database, project.id, {
    steps: [
      ["trigger", "TRIGGER"],
      ["wait", "DELAY", { amount: 1, unit: "days" }],
    ],
    links: [["trigger", "wait"]],
  });
  const params = { id: workflow.id, stepId: workflow.step("wait") };
  const change = (body: object) =>
    server.call("PATCH", `/workflows/${params.id}/steps/${params.stepId}`, project.byKey, body);
  const read = async () => {
    const { body } = await server.call(workflows.getWorkflow, project.byKey, { params: { id: params.id } });
    return { version: body.version, note: body.steps.find(({ id }) => id === params.stepId)?.note };
  };
  return { project, id: params.id, change, read };
}

test("keeps a note until it is replaced or removed, and rejects one that is too long", async () => {
  const { change, read, project, id } = await draw();
  expect((await read()).note).toBeNull();
  const most = LIMITS.stepNoteLength.value;
  for (const [note, stored] of [
    ["  Agreed with sales.\nAsk Ada. ", "Agreed with sales.\nAsk Ada."],
    ["a".repeat(most), "a".repeat(most)],
    ["", null],
    ["Again", "Again"],
    [null, null],
  ]) {
    expect((await change({ note })).status).toBe(200);
    expect((await read()).note).toBe(stored);
  }
  await change({ note: "Stays" });
  await change({ name: "Other" });
  const rejected = await change({ note: "a".repeat(most + 1) });
  expect(rejected.status).toBe(422);
  expect(faultsOf(rejected)).toEqual(["note too_big"]);
  expect((await read()).note).toBe("Stays");
  const body = { type: "EXIT", note: "The end" } as const;
  const added = await server.call(steps.createStep, project.byKey, { params: { id }, body });
  expect(added.body.note).toBe("The end");
});

test("a note or a position makes no new version for people inside, and another change does", async () => {
  const { project, id, change, read } = await draw();
  const body = { email: "ada@example.com" };
  const { body: contact } = await server.call<{ id: string }>("POST", "/contacts", project.byKey, body);
  const started = await server.call("POST", `/workflows/${id}/executions`, project.byKey, {
    contactId: contact.id,
  });
  expect(started.status).toBe(201);
  await change({ note: "Why a day?", position: { x: 1, y: 2 } });
  expect(await read()).toEqual({ version: 1, note: "Why a day?" });
  await change({ config: { amount: 2, unit: "days" } });
  expect(await read()).toEqual({ version: 2, note: "Why a day?" });
});

test("an export keeps notes, and so does its import", async () => {
  const { project, id, change } = await draw();
  await change({ note: "Agreed with sales." });
  const { body: exported } = await server.call(versions.exportWorkflow, project.byKey, { params: { id } });
  expect(exported.steps.map(({ note }) => note)).toEqual([undefined, "Agreed with sales."]);
  const { body: imported } = await server.call(versions.importWorkflow, project.byKey, { anyBody: exported });
  expect(imported.steps.map(({ note }) => note)).toEqual([null, "Agreed with sales."]);
});
