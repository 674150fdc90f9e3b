// The dashboard without a network, in a real browser: nothing is done later that was called off, or twice; drafts save themselves.
// Before it: use-browser.ts.
import type { Page } from "playwright-core";
import { expect, test } from "vitest";
import { useTestServer } from "../server/src/testing/test-server.ts";
import { make, openDashboard, type PathOf } from "./open-dashboard.ts";
import { useBrowser } from "./use-browser.ts";

const server = useTestServer();
const browser = useBrowser();

const open = (path: PathOf) => openDashboard(server, browser, path);

async function takeNetwork(page: Page): Promise<{ giveBack: () => Promise<void> }> {
  const note = page.getByText("You are offline");
  await page.context().setOffline(true);
  await note.waitFor();
  return {
    giveBack: async () => {
      await page.context().setOffline(false);
      await note.waitFor({ state: "detached" });
    },
  };
}

const unreached = (page: Page) => page.getByRole("alert").getByText(/^The server cannot be reached/);

test("what is called off while there is no network is not done when it is back", async () => {
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
  await dialog.getByRole("button", { name: "Keep it" }).click();
  await dialog.waitFor({ state: "detached" });
  await network.giveBack();
  await page.getByRole("button", { name: "Unsubscribe" }).click();
  await page.locator("#content").getByText("Unsubscribed", { exact: true }).waitFor();
  expect(await server.rows("select email from contacts where project_id = $1", project.id)).toEqual([
    { email: "ada@example.com" },
  ]);
});

test("what is asked for again once there is a network is done once", async () => {
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

test("who gets a campaign is saved when the network is back", async () => {
  const { page, project } = await open(async (one) => {
    const campaign = { name: "News", subject: "News", body: "<p>Hi</p>", from: "news@sandbox.localhost" };
    return `/campaigns/${await make(server, one, "/campaigns", { ...campaign, audienceType: "ALL" })}`;
  });
  const kind = page.getByLabel("Type", { exact: true });
  await page.getByText("Saved", { exact: true }).waitFor();
  const network = await takeNetwork(page);
  await kind.selectOption("TRANSACTIONAL");
  await page.getByText("Not saved yet").waitFor();
  await network.giveBack();
  await page.getByText("Saved", { exact: true }).waitFor();
  expect(await server.rows("select kind from campaigns where project_id = $1", project.id)).toEqual([
    { kind: "TRANSACTIONAL" },
  ]);
});
