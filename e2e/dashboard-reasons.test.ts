// Tests in a real browser that the dashboard says why email isn't sent, before anyone asks.
import { expect, test } from "vitest";
import { useTestServer } from "../server/src/testing/test-server.ts";
import { openDashboard } from "./open-dashboard.ts";
import { useBrowser } from "./use-browser.ts";

const server = useTestServer();
const browser = useBrowser();

const MAIL = { from: "shop@sandbox.localhost", subject: "Receipt", body: "<p>Thank you</p>" };

test("a reached cap is on the home page and among the reasons of an address without email", async () => {
  const { page, project } = await openDashboard(server, browser, async (made) => {
    const caps = `/users/@me/projects/${made.id}/billing-limits`;
    await server.call("PUT", caps, made.bySession, { transactional: 1, campaigns: 1 });
    await server.call("POST", "/v1/send", made.byKey, { ...MAIL, to: "ada@example.com" });
    return "";
  });
  const reached = page.getByText(
    "The monthly cap on transactional emails is reached, so new transactional emails are rejected.",
  );
  await page.getByRole("alert").filter({ has: reached }).waitFor();
  expect(await page.getByText("so campaigns can't start").count()).toBe(0);
  await page.getByRole("link", { name: "View usage" }).click();
  await page.getByText("Cap reached").waitFor();
  await page.goto(`/app/${project.id}/emails?search=bob@example.com`);
  await reached.waitFor();
});

test("adding an address to a suppression list that isn't applied says that it still gets email", async () => {
  const { page } = await openDashboard(server, browser, () => "/settings?tab=suppressions");
  const add = page.getByRole("button", { name: "Add address" });
  const note = page.getByText("This project doesn't apply the list yet, so the address still gets email.");
  await add.click();
  await note.waitFor();
  await page.getByRole("button", { name: "Cancel" }).click();
  const saved = page.waitForResponse((response) => response.request().method() === "PATCH");
  await page.getByLabel("Block all email to suppressed addresses").check();
  expect((await saved).status()).toBe(200);
  await page.reload();
  await add.click();
  await page.getByRole("dialog").getByLabel("Email address").waitFor();
  expect(await note.count()).toBe(0);
});
