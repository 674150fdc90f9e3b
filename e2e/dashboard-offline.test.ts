// Tests the dashboard without a network in a real browser. Canceled actions never run later, nothing runs twice, and drafts save
// automatically.
import type { Page } from "playwright-core";
import { expect, test } from "vitest";
import { useTestServer } from "../server/src/testing/test-server.ts";
import { make, openDashboard, openTemplate, readAgain, type PathOf } from "./open-dashboard.ts";
import { useBrowser } from "./use-browser.ts";

const server = useTestServer();
const browser = useBrowser();

const open = (path: PathOf) => openDashboard(server, browser, path);

async function takeNetwork(page: Page): Promise<{ giveBack: () => Promise<void> }> {
  const note = page.getByText("You're offline");
  await page.context().setOffline(true);
  await note.waitFor();
  return {
    giveBack: async () => {
      await page.context().setOffline(false);
      await note.waitFor({ state: "detached" });
    },
  };
}

const unreached = (page: Page) => page.getByRole("alert").getByText(/^We can't reach the server/);

test("an action canceled while offline does not run once online", async () => {
  const { page, project } = await open(async ({ byKey }) => {
    const contact = { email: "ada@example.com" };
    const { body } = await server.call<{ id: string }>("POST", "/contacts", byKey, contact);
    return `/contacts/${body.id}`;
  });
  const dialog = page.getByRole("dialog");
  await page.getByRole("button", { name: "Delete" }).click();
  const network = await takeNetwork(page);
  await dialog.getByRole("button", { name: "Delete contact" }).click();
  await unreached(page).waitFor();
  await dialog.getByRole("button", { name: "Cancel" }).click();
  await dialog.waitFor({ state: "detached" });
  await network.giveBack();
  await page.getByRole("button", { name: "Unsubscribe" }).click();
  await page.locator("#content").getByText("Unsubscribed", { exact: true }).waitFor();
  expect(await server.rows("select email from contacts where project_id = $1", project.id)).toEqual([
    { email: "ada@example.com" },
  ]);
});

test("an action repeated once online runs once", async () => {
  const { page, project } = await open(() => "/templates");
  const dialog = page.getByRole("dialog");
  await page.getByRole("button", { name: "New template" }).first().click();
  await dialog.getByLabel("Name").fill("Hello");
  const network = await takeNetwork(page);
  await page.keyboard.press("Enter");
  await unreached(page).waitFor();
  expect(await dialog.getByLabel("Name").inputValue()).toBe("Hello");
  await page.keyboard.press("Escape");
  await dialog.waitFor({ state: "detached" });
  await network.giveBack();
  await page.getByRole("button", { name: "New template" }).first().click();
  await dialog.getByLabel("Name").fill("Hello");
  await page.keyboard.press("Enter");
  await page.getByRole("heading", { level: 1, name: "Hello" }).waitFor();
  expect(await server.rows("select name from templates where project_id = $1", project.id)).toEqual([
    { name: "Hello" },
  ]);
});

test("the audience is saved once the network is back", async () => {
  const { page, project } = await open(async (one) => {
    const campaign = { name: "News", subject: "News", body: "<p>Hi</p>", from: "news@sandbox.localhost" };
    return `/campaigns/${await make(server, one, "/campaigns", { ...campaign, audienceType: "ALL" })}`;
  });
  const kind = page.getByLabel("Type", { exact: true });
  await page.getByText("Saved", { exact: true }).waitFor();
  const network = await takeNetwork(page);
  await kind.selectOption("TRANSACTIONAL");
  await page.getByText("Unsaved changes").waitFor();
  await network.giveBack();
  await page.getByText("Saved", { exact: true }).waitFor();
  expect(await server.rows("select kind from campaigns where project_id = $1", project.id)).toEqual([
    { kind: "TRANSACTIONAL" },
  ]);
});

test("an unsaved draft survives its closed tab for its author, and goes once saved", async () => {
  let id = "";
  const { page, project } = await open(async (one) => {
    const campaign = { name: "News", subject: "Before", body: "<p>Hi</p>", from: "news@sandbox.localhost" };
    id = await make(server, one, "/campaigns", { ...campaign, audienceType: "ALL" });
    return `/campaigns/${id}?step=content`;
  });
  const context = page.context();
  const stored = () => server.rows("select subject from campaigns where id = $1", id);
  const openAgain = async () => {
    const tab = await context.newPage();
    await tab.goto(address);
    await tab.getByLabel("Subject").waitFor();
    return tab;
  };
  const address = page.url();
  await page.getByText("Saved", { exact: true }).waitFor();
  await takeNetwork(page);
  await page.getByLabel("Subject").fill("Mine");
  await page.getByText("Unsaved changes").waitFor();
  await page.close();
  await context.setOffline(false);

  // Another member who signs in to this browser does not see the draft.
  const other = await server.createProject();
  await server.rows(
    "insert into memberships select $1, user_id, 'MEMBER' from memberships where project_id = $2",
    project.id,
    other.id,
  );
  const signIn = ({ email, password }: typeof project.owner) =>
    context.request.post("/auth/login", { data: { email, password } });
  await context.clearCookies();
  await signIn(other.owner);
  const theirs = await openAgain();
  expect(await theirs.getByLabel("Subject").inputValue()).toBe("Before");
  await theirs.close();

  await context.clearCookies();
  await signIn(project.owner);
  const again = await openAgain();
  expect(await again.getByLabel("Subject").inputValue()).toBe("Mine");
  await expect.poll(stored).toEqual([{ subject: "Mine" }]);
  await again.getByText("Saved", { exact: true }).waitFor();
  await again.close();
  await server.rows("update campaigns set subject = 'After', updated_at = now() where id = $1", id);
  const last = await openAgain();
  expect(await last.getByLabel("Subject").inputValue()).toBe("After");
  expect(await last.getByText(/Someone else changed/).count()).toBe(0);
});

/** Replaces the server's response with another page and status 200, as a captive portal does. */
async function standBetween(page: Page, url: RegExp): Promise<{ goAway: () => Promise<void> }> {
  await page.route(url, (route) =>
    route.request().resourceType() === "fetch"
      ? route.fulfill({ status: 200, contentType: "text/html", body: "<h1>Sign in to the network</h1>" })
      : route.continue(),
  );
  return { goAway: () => page.unroute(url) };
}

test("a kept draft is deleted with its campaign, unless undone, and when it is old", async () => {
  const { page, leaves } = await open(async (one) => {
    const campaign = { name: "News", subject: "Before", body: "<p>Hi</p>", from: "news@sandbox.localhost" };
    const id = await make(server, one, "/campaigns", { ...campaign, audienceType: "ALL" });
    return `/campaigns/${id}?step=content`;
  });
  const kept = () => page.evaluate<string[]>("Object.keys(localStorage).filter((key) => /draft/.test(key))");
  await page.route(/\/campaigns\//, (route) =>
    route.request().method() === "PUT" ? route.abort() : route.continue(),
  );
  await page.getByLabel("Subject").fill("Mine");
  await unreached(page).waitFor();
  const [name = ""] = await kept();
  // Simulates a draft that no one opened for a month.
  await page.evaluate(
    ([one, old]) =>
      localStorage.setItem(old, (localStorage.getItem(one) ?? "").replace(/"at":\d+/, '"at":1')),
    [name, name.replace(/[^.]+$/, "of-another")] as const,
  );
  expect(await kept()).toHaveLength(2);
  leaves.next = true;
  await page.getByRole("link", { name: "Campaigns", exact: true }).click();
  const actions = page.getByRole("button", { name: "Actions for News" });
  await actions.waitFor();
  await page.reload();
  const deletion = page.getByText("“News” deleted");
  const askToDelete = async () => {
    await actions.click();
    await page.getByRole("menuitem", { name: "Delete" }).click();
    await deletion.waitFor();
  };
  await askToDelete();
  expect(await kept()).toEqual([name]);
  await page.getByRole("button", { name: "Undo" }).click();
  await deletion.waitFor({ state: "detached" });
  expect(await kept()).toEqual([name]);
  await askToDelete();
  await deletion.waitFor({ state: "detached" });
  await expect.poll(kept).toEqual([]);
});

test("another page in place of the response is an error, and typed text stays", async () => {
  const { page, project } = await openTemplate(server, browser);
  const subject = page.getByRole("textbox", { name: "Subject" });
  await subject.fill("Mine");
  const first = await standBetween(page, /\/templates/);
  await page.getByRole("button", { name: "Save", exact: true }).click();
  const failure = page.getByRole("alert").getByText("Unexpected response from the server (200). Try again.");
  // The preview may show the same error.
  await failure.first().waitFor();
  expect(await subject.inputValue()).toBe("Mine");
  await first.goAway();
  await page.getByRole("button", { name: "Save", exact: true }).click();
  await page.getByRole("button", { name: "Saved", exact: true }).waitFor();
  expect(await server.rows("select subject from templates where project_id = $1", project.id)).toEqual([
    { subject: "Mine" },
  ]);
  const second = await standBetween(page, /\/templates/);
  await page.getByRole("link", { name: "All templates" }).click();
  // Not the message, because that of the first failure may still be visible.
  const again = page.getByRole("button", { name: "Try again" });
  await again.waitFor();
  await second.goAway();
  await again.click();
  await page.getByRole("link", { name: "Hello" }).waitFor();
});

test("a download replaced by a proxy's page is not saved as the file", async () => {
  const { page } = await open(() => "/contacts");
  const saved: string[] = [];
  page.on("download", (file) => saved.push(file.suggestedFilename()));
  const between = await standBetween(page, /export\.csv/);
  await page.getByRole("button", { name: "Export", exact: true }).click();
  await page.getByText("Couldn't export").waitFor();
  await page.getByText("Unexpected response from the server (200). Try again.").waitFor();
  await between.goAway();
  const file = page.waitForEvent("download");
  await page.getByRole("button", { name: "Export", exact: true }).click();
  await file;
  expect(saved).toEqual(["contacts.csv"]);
});

test("fields are listed if counting them fails, typed text stays, and retry works", async () => {
  const { page } = await open(async ({ byKey }) => {
    await server.call("POST", "/contacts", byKey, { email: "ada@example.com", data: { plan: "pro" } });
    return "/settings?tab=fields";
  });
  const again = page.getByRole("button", { name: "Try again" });
  const plan = page.getByRole("button", { name: "plan", exact: true });
  await plan.click();
  await page.getByRole("button", { name: "Delete field" }).click();
  const typed = page.getByLabel("Type plan to confirm");
  await typed.fill("pla");
  const counting = await standBetween(page, /\/contacts\/fields$/);
  await readAgain(page);
  // Behind the dialog.
  await page
    .getByText("Unexpected response from the server (200). Try again.")
    .first()
    .waitFor({ state: "attached" });
  expect(await typed.inputValue()).toBe("pla");
  await page.reload();
  await again.waitFor();
  await plan.waitFor();
  await counting.goAway();
  const all = await standBetween(page, /\/contacts\/fields/);
  await page.reload();
  await again.waitFor();
  await all.goAway();
  await again.click();
  await page.getByText("100%").waitFor();
  expect(await page.getByRole("alert").count()).toBe(0);
});
