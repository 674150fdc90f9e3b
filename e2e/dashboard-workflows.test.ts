// Builds a workflow in the dashboard with the keyboard only, enables it, and explains an execution started by an event. Tries workflows
// with a contact, and creates workflows from starters.
import type { Locator, Page } from "playwright-core";
import { expect, test } from "vitest";
import { LIMITS } from "@postloft/contract/limits/limits.ts";
import { useTestServer, type TestProject } from "../server/src/testing/test-server.ts";
import { choose, go, press, reach, type } from "./by-keys.ts";
import { make, openDashboard } from "./open-dashboard.ts";
import { useBrowser } from "./use-browser.ts";

const server = useTestServer();
const browser = useBrowser();

/** Opens the menu of a way by its button and chooses a step. */
async function addStep(page: Page, after: string, kind: string): Promise<void> {
  await press(page, `Add a step after ${after}`);
  await reach(page, page.getByRole("menuitem", { name: kind }), "ArrowDown");
  await page.keyboard.press("Enter");
  await page.getByRole("heading", { level: 2, name: `New step: ${kind}` }).waitFor();
}

/** Chooses a field in the condition builder. */
async function chooseField(page: Page, name: string, within: Page | Locator = page): Promise<void> {
  await reach(page, within.getByRole("combobox", { name: "Field" }));
  await page.keyboard.press("Enter");
  await page.getByRole("combobox", { name: "Search" }).waitFor();
  await page.keyboard.insertText(name);
  await page.locator("[role=option][data-highlighted]", { hasText: name }).first().waitFor();
  await page.keyboard.press("Enter");
}

/** Adds an exit condition and a goal in the panel of the trigger. */
async function limitStay(page: Page): Promise<void> {
  await reach(page, page.locator("[data-step]").first());
  await page.keyboard.press("Enter");
  await page.getByRole("heading", { level: 2, name: "Trigger" }).waitFor();
  await press(page, "Add exit condition");
  const exits = page.getByRole("group", { name: "Exit conditions" });
  await reach(page, exits.getByRole("combobox", { name: "Event" }));
  await page.keyboard.insertText("purchase");
  await reach(page, page.getByRole("checkbox", { name: "Measure a goal" }));
  await page.keyboard.press("Space");
  await reach(page, page.getByRole("combobox", { name: "Goal event" }));
  await page.keyboard.insertText("invited-someone");
  await press(page, "Save");
  await page.getByText("Trigger saved").waitFor();
  await press(page, "Close");
}

test("a workflow is built by keyboard, enabled, started by an event, and its execution explained", async () => {
  const { page, project } = await openDashboard(server, browser, async (one) => {
    await make(server, one, "/templates", {
      name: "Welcome mail",
      type: "TRANSACTIONAL",
      subject: "Welcome",
      body: "<p>Hi</p>",
      from: "hello@sandbox.localhost",
    });
    await server.call("POST", "/v1/track", one.byKey, {
      email: "old@example.com",
      event: "signed-up",
      data: { plan: "free" },
    });
    return "";
  });
  await page.getByRole("heading", { level: 1 }).waitFor();
  await go(page, "w", "Workflows");
  await page.getByText("No workflows yet").waitFor();
  await press(page, "New workflow");
  await page.getByRole("dialog", { name: "New workflow" }).waitFor();
  await page.keyboard.insertText("Onboarding");
  await reach(page, page.getByRole("combobox", { name: "Start event" }));
  await page.keyboard.insertText("signed-up");
  await press(page, "Create workflow");
  await page.getByRole("heading", { level: 1, name: "Onboarding" }).waitFor();
  await page.getByText("Add the first step.").waitFor();

  await addStep(page, "Trigger", "Condition");
  await chooseField(page, "plan");
  await type(page, "Value", "pro");
  await press(page, "Add step");
  await page.getByRole("heading", { level: 2, name: "Condition" }).waitFor();
  await press(page, "Close");
  await addStep(page, "Condition, Yes", "Send email");
  await press(page, "Add step");
  await page.getByRole("heading", { level: 2, name: "Send email" }).waitFor();
  // Without a template the workflow cannot be enabled, and the problem leads to its step.
  await press(page, "Close");
  await page.getByText("1 problem to fix before you can enable it").waitFor();
  await press(page, "Send email", "link");
  await reach(page, page.getByRole("combobox", { name: "Template" }));
  await page.keyboard.press("Enter");
  await page.getByRole("combobox", { name: "Search" }).waitFor();
  await page.keyboard.insertText("Welcome mail");
  await page.locator("[role=option][data-highlighted]", { hasText: "Welcome mail" }).waitFor();
  await page.keyboard.press("Enter");
  await press(page, "Save");
  await page.getByText("Step saved").waitFor();
  await press(page, "Close");

  // The outline has the same steps. A step is inserted between two others, and an open branch is continued.
  await press(page, "Outline");
  await addStep(page, "Condition, Yes", "Delay");
  await choose(page, "Wait", "U");
  await page.getByText("Waits until the next 9:00 AM in the contact's time zone").waitFor();
  await choose(page, "Wait", "F");
  await press(page, "Add step");
  await page.getByRole("heading", { level: 2, name: "Delay" }).waitFor();
  await press(page, "Close");
  await addStep(page, "Condition, No", "Exit");
  await type(page, "Reason", "On the free plan");
  await press(page, "Add step");
  await page.getByRole("heading", { level: 2, name: "Exit" }).waitFor();
  await press(page, "Close");
  await limitStay(page);
  await press(page, "Enable");
  await page.getByText("“Onboarding” enabled").waitFor();
  const { body } = await server.call<{ data: Array<{ id: string }> }>("GET", "/workflows", project.byKey);
  const saved = await server.call("GET", `/workflows/${body.data[0]?.id}`, project.byKey);
  expect(saved.body).toMatchObject({
    exitConditions: [{ type: "EVENT", eventName: "purchase" }],
    goal: { eventName: "invited-someone", days: 7 },
  });

  for (const [email, plan] of [
    ["ada@example.com", "free"],
    ["grace@example.com", "pro"],
  ] as const)
    await server.call("POST", "/v1/track", project.byKey, { email, event: "signed-up", data: { plan } });
  await press(page, "Executions");
  await page.getByText("On the free plan").waitFor({ timeout: 30_000 });
  await page.getByRole("link", { name: "grace@example.com" }).waitFor({ timeout: 30_000 });
  await reach(page, page.getByRole("searchbox", { name: "Email address of a contact" }));
  await page.keyboard.insertText("ada@example.com");
  await expect.poll(() => page.getByRole("link", { name: "grace@example.com" }).count()).toBe(0);
  await press(page, "ada@example.com", "link");
  await page.getByRole("heading", { level: 1, name: "ada@example.com" }).waitFor();
  const path = page.getByRole("region", { name: "Path" }).getByRole("listitem");
  await expect
    .poll(async () => (await path.allInnerTexts()).map((text) => text.split("\n").slice(0, 3).join(" ")))
    .toEqual([
      expect.stringMatching(/^Trigger Passed/),
      expect.stringMatching(/^Condition Passed No/),
      expect.stringMatching(/^Exit Passed/),
    ]);
  await reach(page, path.nth(1).getByRole("button"));
  await page.keyboard.press("Enter");
  await path.nth(1).getByText("(value: “free”)").waitFor();

  await press(page, "All executions", "link");
  await press(page, "grace@example.com", "link");
  await press(page, "Cancel execution");
  await page.getByRole("dialog", { name: "Cancel this execution?" }).waitFor();
  await reach(page, page.getByRole("dialog").getByRole("button", { name: "Cancel execution" }));
  await page.keyboard.press("Enter");
  await page.getByText("Execution canceled").waitFor();
  await page.getByText("Canceled", { exact: true }).first().waitFor();
}, 150_000);

/** Creates a workflow that sends an email to pros after three days, and ends for others. Returns its id. */
async function makeWorkflow(project: TestProject): Promise<string> {
  const id = await make(server, project, "/workflows", { name: "Onboarding", eventName: "signed-up" });
  const add = (step: object) => make(server, project, `/workflows/${id}/steps`, step);
  const templateId = await make(server, project, "/templates", {
    name: "Welcome mail",
    type: "TRANSACTIONAL",
    subject: "Welcome",
    body: "<p>Hi</p>",
    from: "hello@sandbox.localhost",
  });
  const isPro = { field: "event.plan", operator: "equals", value: "pro" };
  const fromStepId = await add({ type: "CONDITION", config: isPro, autoConnect: true });
  const days = { amount: 3, unit: "days" };
  const delay = await add({ type: "DELAY", config: days, fromStepId, branch: "yes" });
  await add({ type: "SEND_EMAIL", templateId, fromStepId: delay });
  await add({ type: "EXIT", config: { reason: "On the free plan" }, fromStepId, branch: "no" });
  return id;
}

/** Describes a branch of a BRANCH by keyboard. */
async function describeBranch(page: Page, number: number, name: string, plan: string): Promise<void> {
  const branch = page.getByRole("group", { name: `Branch ${number}` });
  await reach(page, branch.getByRole("textbox", { name: `Branch ${number}` }));
  await page.keyboard.press("Control+a");
  await page.keyboard.insertText(name);
  await chooseField(page, "plan", branch);
  await reach(page, branch.getByRole("textbox", { name: "Value" }));
  await page.keyboard.insertText(plan);
}

/** Adds a BRANCH after the email by keyboard, and puts its second branch first. */
async function addBranches(page: Page): Promise<void> {
  await addStep(page, "Send email", "Branch");
  await describeBranch(page, 1, "Paying", "team");
  await press(page, "Add branch");
  await describeBranch(page, 2, "Paying", "enterprise");
  await page.getByText("Another line has this name.").first().waitFor();
  await reach(page, page.getByRole("textbox", { name: "Branch 2" }));
  await page.keyboard.press("Control+a");
  await page.keyboard.insertText("Enterprise");
  await press(page, "More actions for branch 2");
  await reach(page, page.getByRole("menuitem", { name: "Move up" }), "ArrowDown");
  await page.keyboard.press("Enter");
  await press(page, "Add step");
  await page.getByRole("heading", { level: 2, name: "Branch" }).waitFor();
  await page.getByText("First match of Enterprise or Paying").waitFor();
  await press(page, "Close");
}

/** How often a step is clicked until the canvas stands still. */
const STILL = { timeout: 15_000, interval: 500 };

/** Adds a RANDOM_SPLIT for everyone else with the mouse, and renames its first share, which keeps its path. */
async function addShares(page: Page): Promise<void> {
  const click = (name: string) => page.getByRole("button", { name, exact: true }).first().click();
  await click("Add a step after Branch, Everyone else");
  await page.getByRole("menuitem", { name: "Random split" }).click();
  await page.getByRole("group", { name: "Share 1" }).getByLabel("Percent").fill("62.5");
  await page.getByText("Total: 112.5%. The shares must add up to 100%.").waitFor();
  expect(await page.getByRole("button", { name: "Add step" }).isDisabled()).toBe(true);
  await page.getByRole("group", { name: "Share 2" }).getByLabel("Percent").fill("37.5");
  await page.getByText("Total: 100%", { exact: true }).waitFor();
  await click("Add step");
  await page.getByRole("heading", { level: 2, name: "Random split" }).waitFor();
  await click("Close");
  await click("Add a step after Random split, A · 62.5%");
  await page.getByRole("menuitem", { name: "Exit" }).click();
  await page.getByLabel("Reason").fill("Got the offer");
  await click("Add step");
  await page.getByRole("heading", { level: 2, name: "Exit" }).waitFor();
  await click("Close");
  // The canvas may still move after the panel closed, so that a click opens another step.
  await expect
    .poll(async () => {
      await page.locator("[data-step]", { hasText: "A 62.5%" }).click();
      return page.getByRole("group", { name: "Share 1" }).isVisible();
    }, STILL)
    .toBe(true);
  await page.getByRole("group", { name: "Share 1" }).getByLabel("Name").fill("Offer");
  await click("Save");
  await page.getByText("Step saved").waitFor();
  await click("Close");
  await page.getByRole("button", { name: "Add a step after Random split, Offer · 62.5%" }).waitFor();
}

test("a trial by keyboard shows the path of a contact, the email and why it can't enter", async () => {
  const { page } = await openDashboard(server, browser, async (project) => {
    await server.call("POST", "/v1/track", project.byKey, {
      email: "old@example.com",
      event: "signed-up",
      data: { plan: "free" },
    });
    return `/workflows/${await makeWorkflow(project)}`;
  });
  const path = page.getByRole("list", { name: "Path" });
  const reached = page.locator("[data-step]", { has: page.getByText("On the path", { exact: true }) });
  const namesOfReached = async () =>
    (await reached.allInnerTexts()).map((text) => text.split("\n")[0]).toSorted();
  await press(page, "Try it");
  await page.getByRole("heading", { level: 2, name: "Try the workflow" }).waitFor();
  await press(page, "Choose a contact…");
  await press(page, "old@example.com");
  await path.getByText("event.plan is “pro” (value: “free”)").waitFor();
  await path.getByText("Leaves the workflow").waitFor();
  await expect.poll(namesOfReached).toEqual(["Condition", "Exit", "Trigger"]);
  const lines = page.locator(".react-flow__edge path.stroke-accent");
  await expect.poll(() => lines.count()).toBe(4);

  await reach(page, page.getByLabel("Data of “signed-up”"));
  await page.keyboard.press("Control+a");
  await page.keyboard.insertText('{ "plan": ');
  await page.getByText("Enter a JSON object").waitFor();
  await page.keyboard.insertText('"pro" }');
  await path.getByText("in 3 days").waitFor();
  await path.getByText("“Welcome” to old@example.com").waitFor();
  await path.getByText("Completes the workflow").waitFor();
  await expect.poll(namesOfReached).toEqual(["Condition", "Delay", "Send email", "Trigger"]);
  await press(page, "Open preview");
  const preview = page.getByRole("dialog", { name: "Welcome" });
  await preview.locator("iframe").contentFrame().getByText("Hi").waitFor();
  await page.keyboard.press("Escape");
  await preview.waitFor({ state: "detached" });

  await press(page, "Why didn't they enter?");
  await page.getByText("This contact can't enter now.").waitFor();
  await page.getByText("The workflow is disabled. Enable it first.").waitFor();
  await press(page, "Close");
  await expect.poll(() => page.locator("button:focus").innerText()).toBe("Try it");
  expect(await reached.count()).toBe(0);

  await addBranches(page);
  await addShares(page);
  await page.getByRole("button", { name: "Try it" }).click();
  await page.getByLabel("Data of “signed-up”").fill('{ "plan": "pro" }');
  await path.getByText("Everyone else").waitFor();
  await path.getByText("event.plan is “enterprise” (value: “pro”)").waitFor();
  await path.getByText("Got the offer").waitFor();
  await page.getByLabel("Share at “Random split”").selectOption({ label: "B · 37.5%" });
  await path.getByText("Completes the workflow").waitFor();
  expect(await path.getByText("Got the offer").count()).toBe(0);

  // A share is removed together with its path.
  await page.locator("[data-step]", { hasText: "Offer 62.5%" }).click();
  await page.getByRole("button", { name: "Add share" }).click();
  await page.getByRole("button", { name: "More actions for share 1" }).click();
  await page.getByRole("menuitem", { name: "Remove" }).click();
  await page.getByRole("group", { name: "Share 2" }).getByLabel("Percent").fill("62.5");
  await page.getByRole("button", { name: "Save", exact: true }).click();
  await page.getByRole("button", { name: "Add a step after Random split, C · 62.5%" }).waitFor();
  await page
    .getByRole("button", { name: "Add a step after Random split, Offer" })
    .waitFor({ state: "detached" });
});

test("a trial explains a missing contact, a missing step, an endless wait and a failure", async () => {
  let workflowId = "";
  const { page, project } = await openDashboard(server, browser, async (one) => {
    workflowId = await make(server, one, "/workflows", { name: "Payments", eventName: "ordered" });
    return `/workflows/${workflowId}`;
  });
  const addNext = (step: object) =>
    make(server, project, `/workflows/${workflowId}/steps`, { ...step, autoConnect: true });
  await page.getByRole("button", { name: "Try it" }).click();
  await page.getByText("You have no contacts yet.").waitFor();
  await page.getByText("Add a step first.").waitFor();
  await make(server, project, "/contacts", { email: "ada@example.com" });
  await addNext({ type: "WAIT_FOR_EVENT", config: { eventName: "paid" } });
  const webhook = { url: "https://hooks.example.com/orders/{{event.order}}" };
  await addNext({ type: "WEBHOOK", name: "Warehouse", config: webhook });
  await page.reload();
  await page.getByRole("button", { name: "Choose a contact…" }).click();
  await page.getByRole("button", { name: "ada@example.com" }).click();
  const path = page.getByRole("list", { name: "Path" });
  await path.getByText("Waits until the event happens").waitFor();
  expect(await path.getByText("Warehouse").count()).toBe(0);

  // A wait that the event ends leads to the webhook, which has no order.
  await page.getByLabel("“paid” happens").check();
  await path.getByText("Event happened").waitFor();
  await path.getByText(/^Fails[.] /).waitFor();
  const data = page.getByLabel("Data of “ordered”");
  await data.fill('{ "order": 42 }');
  await path
    .getByText("Would send a POST request to hooks.example.com. We assume that it succeeds.")
    .waitFor();
  await path.getByText("Completes the workflow").waitFor();

  await data.fill(JSON.stringify({ order: "4".repeat(LIMITS.executionContextLength.value) }));
  await page.getByText(/^Must be at most .* characters as JSON[.]$/).waitFor();
  expect(await data.getAttribute("aria-invalid")).toBe("true");
  expect(await page.getByRole("alert").count()).toBe(0);

  // The panel opens again with the same contact.
  await page.getByRole("button", { name: "Close", exact: true }).click();
  await page.getByRole("button", { name: "Try it" }).click();
  await page.getByRole("button", { name: "As ada@example.com" }).waitFor();
  await page.getByRole("button", { name: "Why didn't they enter?" }).click();
  await page
    .getByText("Contacts enter when “ordered” happens. This contact has never had this event.")
    .waitFor();
  await page.getByLabel("Hasn't happened yet").waitFor();
  await server.call("PATCH", `/workflows/${workflowId}`, project.byKey, {
    exitConditions: [
      {
        type: "FILTER",
        filter: { operator: "AND", conditions: [{ field: "email", operator: "contains", value: "ada" }] },
      },
    ],
  });
  await page.reload();
  await page.getByRole("button", { name: "Why didn't they enter?" }).click();
  await page.getByText("An exit condition is already true.").waitFor();
  await page.getByRole("link", { name: "Edit trigger" }).click();
  await page.getByRole("heading", { level: 2, name: "Trigger" }).waitFor();
  const executions = await server.call<{ total: number }>(
    "GET",
    `/workflows/${workflowId}/executions`,
    project.byKey,
  );
  expect(executions.body.total).toBe(0);
});

test("edits are undone and redone, and steps copied and pasted, by keyboard", async () => {
  const { page } = await openDashboard(
    server,
    browser,
    async (project) => `/workflows/${await makeWorkflow(project)}?view=outline`,
  );
  const added = page.locator("[data-step]", { hasText: "Waits 1 day" });
  const isOffered = (name: string) => page.getByRole("button", { name, disabled: false }).waitFor();
  await addStep(page, "Condition, No", "Delay");
  await press(page, "Add step");
  await page.getByRole("heading", { level: 2, name: "Delay", exact: true }).waitFor();
  await press(page, "Close");
  await isOffered("Undo: add “Delay”");
  await page.keyboard.press("Control+z");
  await page.getByText("Undone: add “Delay”").waitFor();
  await added.waitFor({ state: "detached" });
  await isOffered("Redo: add “Delay”");
  await page.keyboard.press("Control+Shift+Z");
  await added.waitFor();
  await isOffered("Undo: add “Delay”");
  // An input keeps its own undo.
  await reach(page, added);
  await page.keyboard.press("Enter");
  await reach(page, page.getByRole("textbox", { name: "Name" }));
  await page.keyboard.insertText("x");
  await page.keyboard.press("Control+z");
  await page.getByRole("button", { name: "Saved" }).waitFor();
  await press(page, "Close");

  await page.keyboard.press("Control+c");
  await page.getByText("1 step copied").waitFor();
  await reach(page, page.getByRole("button", { name: "Add a step after Send email" }));
  await page.keyboard.press("Control+v");
  await page.getByRole("heading", { level: 2, name: "Delay", exact: true }).waitFor();
  await reach(page, page.getByRole("textbox", { name: "Name" }));
  await page.keyboard.press("Control+a");
  await page.keyboard.press("Control+c");
  await press(page, "Close");
  expect(await added.count()).toBe(2);
  await page.keyboard.press("Control+v");
  await page.getByText("The clipboard contains no steps.").waitFor();
  await press(page, "Undo: paste “Delay”");
  await expect.poll(() => added.count()).toBe(1);
});

test("a step that was changed elsewhere is overwritten neither by a save nor by undo", async () => {
  let [workflowId, stepId] = ["", ""];
  const { page, project, asked } = await openDashboard(server, browser, async (one) => {
    workflowId = await make(server, one, "/workflows", { name: "Calls", eventName: "bought" });
    stepId = await make(server, one, `/workflows/${workflowId}/steps`, {
      type: "DELAY",
      config: { amount: 1, unit: "days" },
      autoConnect: true,
    });
    return `/workflows/${workflowId}?step=${stepId}`;
  });
  const amount = page.getByLabel("Duration");
  await amount.fill("3");
  await server.call("PATCH", `/workflows/${workflowId}/steps/${stepId}`, project.byKey, {
    config: { amount: 2, unit: "weeks" },
  });
  await page.getByRole("button", { name: "Save", exact: true }).click();
  await page.getByRole("button", { name: "Discard my changes" }).click();
  await expect.poll(() => amount.inputValue()).toBe("2");
  await expect.poll(() => page.getByLabel("Unit of time").inputValue()).toBe("weeks");
  await amount.fill("4");
  await page.getByRole("button", { name: "Save", exact: true }).click();
  await page.getByText("Step saved").waitFor();
  const { body } = await server.call<{ steps: Array<{ id: string; config: unknown }> }>(
    "GET",
    `/workflows/${workflowId}`,
    project.byKey,
  );
  expect(body.steps.find(({ id }) => id === stepId)?.config).toEqual({ amount: 4, unit: "weeks" });

  // The open panel follows undo and redo.
  const undoing = page.getByRole("button", { name: "Undo: edit “Delay”" });
  await undoing.click();
  await expect.poll(() => amount.inputValue()).toBe("2");
  await page.getByRole("button", { name: "Redo: edit “Delay”" }).click();
  await expect.poll(() => amount.inputValue()).toBe("4");
  await undoing.waitFor();
  await server.call("PATCH", `/workflows/${workflowId}/steps/${stepId}`, project.byKey, { note: "Theirs" });
  await undoing.click();
  await page.getByText("Someone else changed this workflow").waitFor();
  await expect.poll(() => page.getByLabel("Note", { exact: true }).inputValue()).toBe("Theirs");

  // The same by mouse, in the canvas. A deleted step comes back as the same step.
  await page.getByRole("button", { name: "Delete step" }).click();
  await page.getByRole("dialog").getByRole("button", { name: "Delete step" }).click();
  const step = page.locator(`[data-step="${stepId}"]`);
  await step.waitFor({ state: "detached" });
  await page.getByRole("button", { name: "Undo: delete “Delay”" }).click();
  await step.click();
  await page.getByRole("heading", { level: 2, name: "Delay", exact: true }).waitFor();
  await page
    .getByRole("button", { name: /^Add a step/ })
    .last()
    .click();
  await page.getByRole("menuitem", { name: "Webhook" }).click();
  const url = page.getByLabel("URL");
  await url.fill("https://example.com/hook");
  await page.getByText("Not added yet").waitFor();
  await page.getByRole("button", { name: "Try it" }).click();
  await expect.poll(() => asked.length).toBe(1);
  expect(await url.inputValue()).toBe("https://example.com/hook");
  // A disabled workflow with no one inside has nothing to pause.
  expect(await page.getByRole("button", { name: "Pause" }).count()).toBe(0);

  // Steps are copied to another workflow, where undo is of this workflow only.
  await page.getByRole("button", { name: "Cancel" }).click();
  await page.getByText("Not added yet").waitFor({ state: "detached" });
  expect(asked).toHaveLength(1);
  await step.click();
  await page.getByRole("button", { name: "Copy", exact: true }).click();
  await page.getByRole("menuitem", { name: "Copy with all steps after it" }).click();
  await page.getByText("1 step copied").waitFor();
  const other = await make(server, project, "/workflows", { name: "Reminders", eventName: "bought" });
  await page.goto(`/app/${project.id}/workflows/${other}`);
  await page.getByRole("button", { name: "Add a step after Trigger" }).click();
  await page.getByRole("menuitem", { name: "Paste “Delay”" }).click();
  await expect.poll(() => amount.inputValue()).toBe("4");
  await page.getByRole("button", { name: "Undo: paste “Delay”" }).click();
  await page.getByText("Add the first step.").waitFor();
});

test("the form of a new step survives undo and another view, and Back doesn't reopen it", async () => {
  const { page, asked } = await openDashboard(server, browser, async (project) => {
    const id = await make(server, project, "/workflows", { name: "Calls", eventName: "bought" });
    return `/workflows/${id}`;
  });
  const add = async (after: string, kind: string) => {
    await page.getByRole("button", { name: `Add a step after ${after}` }).click();
    await page.getByRole("menuitem", { name: kind }).click();
  };
  const form = page.getByRole("heading", { level: 2, name: /^New step/ });
  const url = page.getByLabel("URL");
  await add("Trigger", "Delay");
  await page.getByRole("button", { name: "Add step" }).click();
  await page.getByRole("heading", { level: 2, name: "Delay", exact: true }).waitFor();
  await add("Delay", "Webhook");
  await url.fill("https://example.com/hook");
  await page.getByRole("button", { name: "Outline" }).click();
  await page.getByRole("list", { name: "Steps" }).waitFor();
  await page.getByText("Not added yet").waitFor();
  await page.getByRole("button", { name: "Undo: add “Delay”" }).click();
  // Its place is gone with the step before it.
  await page.getByText("Not added yet").waitFor({ state: "detached" });
  expect(await url.inputValue()).toBe("https://example.com/hook");
  await page.getByRole("button", { name: "Cancel" }).click();
  await form.waitFor({ state: "detached" });

  await add("Trigger", "Delay");
  await page.getByRole("button", { name: "Add step" }).click();
  await page.getByRole("heading", { level: 2, name: "Delay", exact: true }).waitFor();
  await page.goBack();
  await page.getByRole("heading", { level: 2, name: "Delay", exact: true }).waitFor({ state: "detached" });
  expect(await form.count()).toBe(0);
  expect(asked).toEqual([]);
});

test("a trigger by date is edited, explained in words and saved", async () => {
  let workflowId = "";
  const { page, project } = await openDashboard(server, browser, async (one) => {
    workflowId = await make(server, one, "/workflows", { name: "Renewals" });
    const { body } = await server.call<{ steps: Array<{ id: string }> }>(
      "GET",
      `/workflows/${workflowId}`,
      one.byKey,
    );
    return `/workflows/${workflowId}?step=${body.steps[0]?.id}`;
  });
  await page.getByLabel("Starts when").selectOption({ label: "A date in a field comes" });
  const field = page.getByLabel("Field with a date");
  await field.fill("renewsAt");
  await page.getByRole("button", { name: "Save", exact: true }).click();
  await page.getByText("Must be `data.<key>`.").first().waitFor();
  await field.fill("data.renewsAt");
  await page.getByText("3 days before “renewsAt”, 9:00 AM in the contact's time zone").first().waitFor();
  await page.getByLabel("Contacts enter").selectOption({ label: "On that date" });
  await page.getByLabel("Repeat each year").check();
  await page.getByText("On “renewsAt”, each year, 9:00 AM in the contact's time zone").first().waitFor();
  await page.getByRole("button", { name: "Save", exact: true }).click();
  await page.getByText("Trigger saved").waitFor();
  await page.getByText("No contact has a value in `data.renewsAt`").first().waitFor();
  const { body } = await server.call<object>("GET", `/workflows/${workflowId}`, project.byKey);
  expect(body).toMatchObject({
    triggerType: "DATE",
    triggerConfig: { dateField: "data.renewsAt", until: "09:00", timezone: "contact", repeat: "yearly" },
  });
});

const LINK = "https://example.com/start";
/** The fields of each starter. */
const STARTERS: Record<string, Record<string, string>> = {
  Welcome: { "Event when someone signs up": "signed-up", "Button link": LINK },
  "Trial ending": {
    "Field with the end of the trial": "data.trialEndsAt",
    "Event when someone upgrades": "upgraded",
  },
  Birthday: { "Field with the birthday": "data.birthday" },
  "Abandoned cart": {
    "Event when someone fills the cart": "cart-updated",
    "Event when someone orders": "ordered",
    "Button link (optional)": LINK,
  },
  "Win-back": { "Event of active people": "opened-app", "Button link": LINK },
  "Receipt follow-up": { "Event when someone orders": "ordered", "Button link": LINK },
};

/** Opens the dialog of a starter, from the page without workflows or from the choice above a list of them. */
async function openStarter(page: Page, name: string): Promise<void> {
  const isFirst = (await page.getByText("No workflows yet").count()) > 0;
  if (isFirst) return page.getByRole("button", { name: new RegExp(`^${name}`) }).click();
  await page.getByRole("button", { name: "New workflow" }).click();
  const dialog = page.getByRole("dialog", { name: "New workflow" });
  await dialog.getByRole("radio", { name: new RegExp(`^${name}`) }).check();
}

test("every starter creates a disabled workflow that can be enabled without changes", async () => {
  const { page, project } = await openDashboard(server, browser, () => "/workflows");
  await server.call("POST", "/contacts", project.byKey, {
    email: "ada@example.com",
    data: { trialEndsAt: "2027-01-31", birthday: "1990-05-04" },
  });
  const dialog = page.getByRole("dialog", { name: "New workflow" });
  const create = dialog.getByRole("button", { name: "Create workflow" });
  // The page without workflows offers the starters. A link needs its scheme.
  await page.getByRole("button", { name: /^Welcome/ }).click();
  await dialog.getByText("Welcome: Two emails for new people").waitFor();
  expect(await dialog.getByRole("radio").count()).toBe(0);
  await dialog.getByLabel("Event when someone signs up").fill("signed-up");
  await dialog.getByLabel("Button link").fill("example.com");
  await dialog.getByText("Enter a full link").waitFor();
  expect(await create.isDisabled()).toBe(true);
  await dialog.getByRole("button", { name: "Cancel" }).click();
  for (const [name, fields] of Object.entries(STARTERS)) {
    await openStarter(page, name);
    expect(await create.isDisabled()).toBe(true);
    for (const [label, text] of Object.entries(fields))
      await dialog.getByLabel(label, { exact: true }).fill(text);
    await create.click();
    await page.getByRole("heading", { level: 1, name }).waitFor();
    await page.getByRole("link", { name: "All workflows" }).click();
    await page.getByRole("row", { name: new RegExp(`${name}.*Disabled`) }).waitFor();
  }
  const list = <Item>(path: string) => server.call<{ data: Item[] }>("GET", path, project.byKey);
  const workflows = (await list<{ id: string; name: string }>("/workflows")).body.data;
  expect(workflows.map(({ name }) => name).toReversed()).toEqual(Object.keys(STARTERS));
  for (const { id, name } of workflows) {
    const { body } = await server.call<{ problems: unknown[] }>("GET", `/workflows/${id}`, project.byKey);
    expect([name, body.problems]).toEqual([name, []]);
    const path = `/workflows/${id}`;
    expect((await server.call("PATCH", path, project.byKey, { enabled: true })).status).toBe(200);
  }
  const templates = (await list<{ name: string; body: string }>("/templates")).body.data;
  expect(templates.filter(({ body }) => body.includes(LINK)).map(({ name }) => name)).toEqual([
    "Receipt follow-up",
    "Win-back",
    "Abandoned cart",
    "Welcome, day 3",
    "Welcome",
  ]);
  expect(templates).toHaveLength(8);
  await page.getByRole("button", { name: "Actions for Trial ending" }).click();
  await page.getByRole("menuitem", { name: "Pause" }).click();
  await page
    .getByRole("row", {
      name: /Trial ending.*3 days before “trialEndsAt”, 9:00 AM in the contact's time zone.*Paused/,
    })
    .waitFor();
  // An export can be imported again, and any other file is explained.
  const exported = await server.call("GET", `/workflows/${workflows[0]?.id}/export`, project.byKey);
  await page.getByRole("button", { name: "Import", exact: true }).click();
  const importing = page.getByRole("dialog", { name: "Import workflow" });
  for (const [text, result] of [
    ["a,b", importing.getByText("This file isn't a workflow export.")],
    [JSON.stringify(exported.body), page.getByRole("heading", { level: 1, name: "Receipt follow-up" })],
  ] as const) {
    const file = { name: "export.json", mimeType: "application/json", buffer: Buffer.from(text) };
    await importing.getByLabel("File").setInputFiles(file);
    await importing.getByRole("button", { name: "Import workflow" }).click();
    await result.waitFor();
  }
});

test("enabling a workflow with a segment asks whether current members should enter too", async () => {
  let workflowId = "";
  const { page, project } = await openDashboard(server, browser, async (one) => {
    await make(server, one, "/contacts", { email: "ada@example.com", data: { plan: "pro" } });
    const conditions = [{ field: "data.plan", operator: "equals", value: "pro" }];
    const filters = { operator: "AND", conditions };
    const segmentId = await make(server, one, "/segments", { name: "Pros", filters, trackMembership: true });
    await server.call("POST", `/segments/${segmentId}/compute`, one.byKey, {});
    workflowId = await make(server, one, "/workflows", { name: "Thanks" });
    await make(server, one, `/workflows/${workflowId}/steps`, { type: "EXIT", autoConnect: true });
    const trigger = { triggerType: "SEGMENT_ENTRY", triggerConfig: { segmentId } };
    await server.call("PATCH", `/workflows/${workflowId}`, one.byKey, trigger);
    await expect
      .poll(
        async () =>
          (await server.call<{ currentMembers: number }>("GET", `/workflows/${workflowId}`, one.byKey)).body
            .currentMembers,
        { timeout: 30_000 },
      )
      .toBe(1);
    return "/workflows";
  });
  const switchBy = async (item: string) => {
    await page.getByRole("button", { name: "Actions for Thanks" }).click();
    await page.getByRole("menuitem", { name: item }).click();
  };
  const dialog = page.getByRole("dialog", { name: "Enable “Thanks”" });
  const entered = async () => {
    const path = `/workflows/${workflowId}/executions`;
    const { body } = await server.call<{ total: number }>("GET", path, project.byKey);
    return body.total;
  };
  await page.getByRole("row", { name: /Thanks.*When someone joins “Pros”.*Disabled/ }).waitFor();
  await switchBy("Enable");
  expect(await dialog.getByRole("radio", { name: "Only people who join from now on" }).isChecked()).toBe(
    true,
  );
  await dialog.getByRole("button", { name: "Enable" }).click();
  await page.getByRole("row", { name: /Thanks.*Enabled/ }).waitFor();
  await switchBy("Disable");
  await page.getByRole("row", { name: /Thanks.*Disabled/ }).waitFor();
  expect(await entered()).toBe(0);
  // The page of the workflow asks, too.
  await page.getByRole("link", { name: "Thanks" }).click();
  await page.getByRole("button", { name: "Enable", exact: true }).click();
  await dialog.getByRole("radio", { name: "Also the 1 current member" }).check();
  await dialog.getByRole("button", { name: "Enable" }).click();
  await page.getByText("The current members enter within minutes.").waitFor();
  await expect.poll(entered, { timeout: 30_000 }).toBe(1);
  // A member that entered before is kept out by two rules, and the link shows its execution.
  await page.getByRole("button", { name: "Try it" }).click();
  await page.getByRole("button", { name: "Choose a contact…" }).click();
  await page.getByRole("button", { name: "ada@example.com" }).click();
  await page.getByRole("button", { name: "Why didn't they enter?" }).click();
  const segment = "The contact is already in “Pros”, and would have to leave and join again.";
  const reasons = page.getByRole("listitem").filter({ has: page.getByLabel("Prevents entry") });
  await reasons.filter({ hasText: segment }).getByRole("link", { name: "View segment" }).waitFor();
  await reasons
    .filter({ hasText: "The contact entered before, and can enter only once." })
    .getByRole("link", { name: "View executions" })
    .click();
  await page.getByRole("link", { name: "ada@example.com" }).waitFor();
});

test("people move to a corrected version and back, and choose when their step was removed", async () => {
  let path = "";
  let stepId = "";
  const { page, project } = await openDashboard(server, browser, async (one) => {
    path = `/workflows/${await make(server, one, "/workflows", { name: "Onboarding", eventName: "signed-up" })}`;
    const delay = { type: "DELAY", name: "Rest", config: { amount: 3, unit: "days" }, autoConnect: true };
    stepId = await make(server, one, `${path}/steps`, delay);
    await server.call("PATCH", path, one.byKey, { enabled: true });
    await server.call("POST", "/v1/track", one.byKey, { email: "ada@example.com", event: "signed-up" });
    await expect.poll(() => active(one)).toEqual([{ version: 1, status: "WAITING" }]);
    await server.call("PATCH", `${path}/steps/${stepId}`, one.byKey, { config: { amount: 1, unit: "days" } });
    return path;
  });
  async function active({ byKey }: TestProject) {
    const { body } = await server.call<{ data: Array<{ version: number; status: string }> }>(
      "GET",
      `${path}/executions`,
      byKey,
    );
    return body.data.map(({ version, status }) => ({ version, status }));
  }
  const dialog = page.getByRole("dialog", { name: "Move 1 person to this version" });
  await page.getByText("1 person is on an earlier version").waitFor();
  const changes = page.getByRole("dialog", { name: "Changes between versions" });
  await page.getByRole("button", { name: "View changes" }).click();
  await changes.getByRole("listitem").filter({ hasText: "Rest" }).getByText("Changed").waitFor();
  await changes.getByRole("button", { name: "Close" }).click();
  await page.getByRole("button", { name: "Move to this version" }).click();
  await dialog.getByText("On version 1. Its delay changed.").waitFor();
  await dialog.getByRole("checkbox", { name: "Apply changed delays to people who wait" }).check();
  await dialog.getByRole("button", { name: "Move people" }).click();
  await page.getByText("1 person moved", { exact: true }).waitFor();
  expect(await active(project)).toEqual([{ version: 2, status: "WAITING" }]);
  await page.getByRole("button", { name: "Undo", exact: true }).click();
  await page.getByText("1 person moved back").waitFor();
  await expect.poll(() => active(project)).toEqual([{ version: 1, status: "WAITING" }]);

  await server.call("DELETE", `${path}/steps/${stepId}?splice=true`, project.byKey);
  await page.reload();
  await page.getByRole("button", { name: "Actions for Onboarding" }).click();
  await page.getByRole("menuitem", { name: "Replay history" }).click();
  const replay = page.getByRole("dialog", { name: "Replay history" });
  await replay.getByRole("row", { name: "Rest 1 0" }).waitFor();
  await replay.getByRole("row", { name: "Trigger 1 1" }).waitFor();
  await replay.getByText("The last execution, until now").waitFor();
  await replay.getByRole("button", { name: "Close" }).click();
  await page.getByRole("button", { name: "Actions for Onboarding" }).click();
  await page.getByRole("menuitem", { name: "Compare versions" }).click();
  await changes.getByRole("listitem").filter({ hasText: "Rest" }).getByText("Removed").waitFor();
  await changes.getByRole("button", { name: "Close" }).click();
  await page.getByRole("button", { name: "Move to this version" }).click();
  const choice = dialog.getByLabel("1 person at “Rest”");
  expect(await dialog.getByRole("button", { name: "Move people" }).isDisabled()).toBe(true);
  await choice.selectOption({ label: "Leave the workflow" });
  await dialog.getByRole("button", { name: "Move people" }).click();
  await page.getByText("1 left the workflow.").waitFor();
  expect(await active(project)).toEqual([{ version: 3, status: "EXITED" }]);
  await page.getByRole("button", { name: "Executions" }).click();
  await page.getByRole("link", { name: "ada@example.com" }).click();
  await page.getByText("Moved from version 1 to 3").waitFor();
});

test("a workflow gets a folder and tags, which filter the list", async () => {
  const { page, project } = await openDashboard(server, browser, async (one) => {
    for (const name of ["Onboarding", "Reminder"]) await make(server, one, "/workflows", { name });
    return "/workflows";
  });
  const names = () => page.getByRole("row").getByRole("link").allTextContents();
  const folder = page.getByRole("combobox", { name: "Folder", exact: true });
  await page.getByRole("button", { name: "Actions for Onboarding" }).click();
  expect(await folder.count()).toBe(0);
  await page.getByRole("menuitem", { name: "Folder and tags" }).click();
  const dialog = page.getByRole("dialog", { name: "Folder and tags" });
  await dialog.getByLabel("Folder").fill("Sales");
  await dialog.getByLabel("Tags").fill("trial, , beta,trial");
  await dialog.getByLabel("Tags").press("Enter");
  await page.getByText("Folder and tags of “Onboarding” saved").waitFor();
  // A change of the folder alone keeps tags that someone else set since the list was read.
  const find = async () => {
    type Listed = { data: Array<{ id: string; folder: string; tags: string[] }> };
    const { body } = await server.call<Listed>("GET", "/workflows?search=Onboarding", project.byKey);
    return body.data[0];
  };
  const before = await find();
  expect(before?.tags).toEqual(["trial", "beta"]);
  await page.getByRole("button", { name: "Actions for Onboarding" }).click();
  await page.getByRole("menuitem", { name: "Folder and tags" }).click();
  await server.call("PATCH", `/workflows/${before?.id}`, project.byKey, { tags: ["beta", "new"] });
  await dialog.getByLabel("Folder").fill("Trials");
  await dialog.getByLabel("Folder").press("Enter");
  await expect.poll(find).toMatchObject({ folder: "Trials", tags: ["beta", "new"] });
  await dialog.getByLabel("Folder").waitFor({ state: "detached" });
  await folder.selectOption("Trials");
  await expect.poll(names).toEqual(["Onboarding"]);
  await page.mouse.move(0, 0);
  await folder.selectOption("All folders");
  await expect.poll(names).toEqual(["Reminder", "Onboarding"]);
  await page.getByRole("combobox", { name: "Tag", exact: true }).selectOption("beta");
  await expect.poll(names).toEqual(["Onboarding"]);
  // A search without results keeps the choices.
  await page.getByLabel("Search by name").fill("nothing like this");
  await expect.poll(names).toEqual([]);
  expect(await folder.count()).toBe(1);
});
