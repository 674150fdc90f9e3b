// Shows in the dashboard why executions failed, resumes all with the same cause, and follows one through its steps.
import { expect, test } from "vitest";
import { useTestServer, type TestProject } from "../server/src/testing/test-server.ts";
import { make, openDashboard } from "./open-dashboard.ts";
import { useBrowser } from "./use-browser.ts";

const server = useTestServer();
const browser = useBrowser();
const WAIT = { timeout: 30_000, interval: 50 };

/** Creates an enabled workflow that waits until a date of the contact, and lets contacts with these dates enter. Returns its id. */
async function makeDelays(project: TestProject, dates: Readonly<Record<string, string | null>>) {
  const id = await make(server, project, "/workflows", { name: "Renewals", eventName: "signed-up" });
  const due = { type: "DELAY", name: "Until the renewal", config: { dateField: "data.renewsAt" } };
  await make(server, project, `/workflows/${id}/steps`, { ...due, autoConnect: true });
  await server.call("PATCH", `/workflows/${id}`, project.byKey, { enabled: true });
  for (const [name, renewsAt] of Object.entries(dates)) {
    const contact = { email: `${name}@example.com`, data: { renewsAt } };
    await server.call("POST", "/contacts", project.byKey, contact);
    await server.call("POST", "/v1/track", project.byKey, { email: contact.email, event: "signed-up" });
  }
  const failed = Object.keys(dates).length;
  const count = async () => {
    const { body } = await server.call<{ total: number }>("GET", `/workflows/${id}/failures`, project.byKey);
    return body.total;
  };
  await expect.poll(count, WAIT).toBe(failed);
  return id;
}

test("failures are grouped by cause, shown, retried and skipped together", async () => {
  const { page, project } = await openDashboard(server, browser, async (one) => {
    const id = await makeDelays(one, { ada: null, bob: null, cleo: "soon" });
    return `/workflows/${id}?tab=executions`;
  });
  const groups = page.getByRole("region", { name: "Failures by cause" }).getByRole("listitem");
  const list = page.getByRole("table");
  await groups.filter({ hasText: "“data.renewsAt” has no value." }).getByText("2 failures").waitFor();
  const invalid = groups.filter({ hasText: "“data.renewsAt” is not a date such as" });
  await invalid.getByRole("link", { name: "cleo@example.com" }).waitFor();
  await list.getByRole("link", { name: "ada@example.com" }).waitFor();
  expect(await groups.count()).toBe(2);

  await invalid.getByRole("button", { name: "Show" }).click();
  await list.getByRole("link", { name: "ada@example.com" }).waitFor({ state: "detached" });
  await list.getByRole("link", { name: "cleo@example.com" }).waitFor();
  await page.reload();
  await invalid.getByRole("button", { name: "Show", pressed: true }).click();
  await list.getByRole("link", { name: "ada@example.com" }).waitFor();

  await invalid.getByRole("button", { name: "Skip all" }).click();
  const dialog = page.getByRole("dialog", { name: "Skip “Until the renewal” for 1 contact?" });
  await dialog.getByRole("button", { name: "Skip step" }).click();
  await page.getByText("1 execution continues").waitFor();
  await invalid.waitFor({ state: "detached" });

  // One of the two gets a date, and the other one fails again.
  const found = await server.call<{ data: Array<{ id: string }> }>(
    "GET",
    "/contacts?search=ada@example.com",
    project.byKey,
  );
  const renewsAt = new Date(Date.now() + 86_400_000).toISOString();
  await server.call("PATCH", `/contacts/${found.body.data[0]?.id}`, project.byKey, { data: { renewsAt } });
  await groups.getByRole("button", { name: "Retry all" }).click();
  await page.getByText("2 executions continue").waitFor();
  await groups.getByText("1 failure").waitFor({ timeout: 30_000 });
  await groups.getByRole("link", { name: "bob@example.com" }).waitFor();
  await list.getByRole("row", { name: /ada@example.com Waiting/ }).waitFor();
});

/** Lets a contact fail at a date after a condition, and returns the path of the execution. */
async function failAfterCondition(project: TestProject): Promise<string> {
  const id = await make(server, project, "/workflows", { name: "Renewals", eventName: "signed-up" });
  const add = (step: object) => make(server, project, `/workflows/${id}/steps`, step);
  const isPro = { field: "event.plan", operator: "equals", value: "pro" };
  const fromStepId = await add({ type: "CONDITION", name: "On pro?", config: isPro, autoConnect: true });
  const due = { type: "DELAY", name: "Until the renewal", config: { dateField: "data.renewsAt" } };
  await add({ ...due, fromStepId, branch: "yes" });
  await add({ type: "EXIT", name: "Leave", config: {}, fromStepId, branch: "no" });
  await server.call("PATCH", `/workflows/${id}`, project.byKey, { enabled: true });
  const event = { email: "ada@example.com", event: "signed-up", data: { plan: "pro" } };
  await server.call("POST", "/v1/track", project.byKey, event);
  let executionId = "";
  await expect
    .poll(async () => {
      const path = `/workflows/${id}/executions?status=FAILED`;
      const { body } = await server.call<{ data: Array<{ id: string }> }>("GET", path, project.byKey);
      executionId = body.data[0]?.id ?? "";
      return body.data.length;
    }, WAIT)
    .toBe(1);
  return `/workflows/${id}/executions/${executionId}`;
}

test("an execution is drawn on the canvas, and each step shows what it read and compared", async () => {
  const { page } = await openDashboard(server, browser, failAfterCondition);
  const canvas = page.locator(".react-flow");
  const runs = page.getByRole("region", { name: "Path" }).getByRole("listitem");
  const step = (name: string) => canvas.locator("[data-step]", { hasText: name });
  await step("Until the renewal").getByText("Failed").waitFor();
  await step("Leave").getByText("Not on the path", { exact: true }).waitFor();
  // From the trigger to the condition, and on to the delay, each in two parts.
  await expect.poll(() => canvas.locator(".react-flow__edge path.stroke-accent").count()).toBe(4);
  // The failed step is open.
  await runs.nth(2).getByText("“data.renewsAt” has no value.").waitFor();
  await runs.nth(2).getByRole("button", { name: "Until the renewal", expanded: true }).waitFor();

  await canvas.getByRole("button", { name: "On pro?" }).click();
  const condition = runs.nth(1);
  await expect.poll(() => page.locator("button:focus").innerText()).toContain("On pro?");
  await condition.getByRole("group", { name: "Compared values" }).getByText("event.plan is “pro”").waitFor();
  await condition.getByRole("group", { name: "Input" }).getByText('event.plan: "pro"').waitFor();
  await condition.getByText("All variables").click();
  await condition.getByText('"plan": "pro"').waitFor();

  // On a phone the list alone explains the path.
  await page.setViewportSize({ width: 390, height: 844 });
  await canvas.waitFor({ state: "detached" });
  await condition.getByRole("button").press("Enter");
  await condition.getByRole("button", { expanded: false }).waitFor();
  await page.keyboard.press("Tab");
  await page.keyboard.press("Enter");
  await runs.nth(2).getByText("The contact's data at that time isn't recorded.").waitFor();
});

test("the changes since people last entered are shown step by step before the workflow is enabled", async () => {
  let workflowId = "";
  const { page, project } = await openDashboard(server, browser, async (one) => {
    const path = await failAfterCondition(one);
    workflowId = path.split("/")[2] ?? "";
    return `/workflows/${workflowId}`;
  });
  await page.getByRole("heading", { level: 1, name: "Renewals" }).waitFor();
  expect(await page.getByText("Edited since people last entered").count()).toBe(0);
  const { byKey } = project;
  const { body } = await server.call<{ steps: Array<{ id: string; name: string }> }>(
    "GET",
    `/workflows/${workflowId}`,
    byKey,
  );
  const idOf = (name: string) => body.steps.find((step) => step.name === name)?.id ?? "";
  await server.call("PATCH", `/workflows/${workflowId}`, byKey, { enabled: false });
  const delay = `/workflows/${workflowId}/steps/${idOf("Until the renewal")}`;
  await server.call("PATCH", delay, byKey, { config: { amount: 2, unit: "days" } });
  await server.call("DELETE", `/workflows/${workflowId}/steps/${idOf("Leave")}`, byKey);
  const note = { type: "EXIT", name: "Not pro", config: { reason: "On the free plan" } };
  await make(server, project, `/workflows/${workflowId}/steps`, {
    ...note,
    fromStepId: idOf("On pro?"),
    branch: "no",
  });

  await page.reload();
  await page.getByText("They entered version 1.").waitFor();
  await page.getByRole("button", { name: "View changes" }).click();
  const dialog = page.getByRole("dialog", { name: "Changes between versions" });
  const steps = dialog.getByRole("list", { name: "Changed steps" }).getByRole("listitem");
  await steps.filter({ hasText: "Until the renewal" }).getByText("Waits 2 days").waitFor();
  expect((await steps.allInnerTexts()).map((text) => text.split("\n").slice(0, 2).join(" "))).toEqual([
    "Until the renewal Changed",
    "Not pro Added",
    "Leave Removed",
  ]);
  const paths = dialog.getByRole("region", { name: "Paths" });
  await expect.poll(() => paths.innerText()).toMatch(/After “On pro\?”, No\s+Leave\s*Not pro/);
  // A version compared with itself has no changes.
  await dialog.getByLabel("Earlier version").selectOption("2");
  await dialog.getByText("These versions do the same.").waitFor();
  const names = async () => {
    const { body: now } = await server.call<typeof body>("GET", `/workflows/${workflowId}`, byKey);
    return now.steps.map(({ name }) => name).filter((name) => ["Leave", "Not pro"].includes(name));
  };
  // The current version can't be restored.
  expect(await dialog.getByRole("button", { name: /^Restore/ }).count()).toBe(0);
  await dialog.getByLabel("Earlier version").selectOption("1");
  await dialog.getByRole("button", { name: "Restore version 1" }).click();
  await page.getByText("Version 1 restored").waitFor();
  await dialog.waitFor({ state: "detached" });
  await expect.poll(names).toEqual(["Leave"]);
  await page.getByRole("button", { name: "Undo", exact: true }).last().click();
  await expect.poll(names).toEqual(["Not pro"]);
});
