// What others save while somebody types in the dashboard, in a real browser: neither takes anything from the other without a word.
import type { Page } from "playwright-core";
import { expect, test } from "vitest";
import { useTestServer } from "../server/src/testing/test-server.ts";
import { openDashboard, readAgain, type PathOf } from "./open-dashboard.ts";
import { useBrowser } from "./use-browser.ts";

const server = useTestServer();
const browser = useBrowser();

const open = (path: PathOf) => openDashboard(server, browser, path);

test("a cap that is saved leaves alone what another admin made of the others", async () => {
  const { page, project } = await open(() => "/settings?tab=usage");
  await page.getByRole("textbox", { name: "Mails of campaigns" }).fill("500");
  const caps = `/users/@me/projects/${project.id}/billing-limits`;
  await server.call("PUT", caps, project.bySession, { transactional: 900 });
  await page.getByRole("button", { name: "Save caps" }).click();
  await page.getByText("Caps changed").waitFor();
  const stored = "select transactional, campaigns, workflows from billing_limits where project_id = $1";
  expect(await server.rows(stored, project.id)).toEqual([
    { transactional: 900, campaigns: 500, workflows: null },
  ]);
  expect(await page.getByRole("textbox", { name: "Transactional mails" }).inputValue()).toBe("900");
});

/** Refuses reads of the addresses that end so, until it is told to let them through. */
async function refuseReads(page: Page, ends: string): Promise<{ end: () => void }> {
  let isRefused = true;
  const error = { code: "FORBIDDEN", message: "Not now.", requestId: "none" };
  await page.route(`**/${ends}`, (route) =>
    isRefused && route.request().method() === "GET"
      ? route.fulfill({ status: 403, json: { success: false, error } })
      : route.continue(),
  );
  return { end: () => (isRefused = false) };
}

test("settings that cannot be read again keep what is typed, and are read whole on request", async () => {
  const { page, project } = await open(() => "/settings?tab=usage");
  const cap = page.getByRole("textbox", { name: "Mails of campaigns" });
  await cap.fill("500");
  const caps = await refuseReads(page, "billing-limits");
  await readAgain(page);
  await page.getByText("Not now.").waitFor();
  expect(await cap.inputValue()).toBe("500");
  caps.end();
  await page.getByRole("button", { name: "Try again" }).click();
  await page.getByText("Not now.").waitFor({ state: "detached" });
  expect(await cap.inputValue()).toBe("500");
  await page.getByRole("button", { name: "Save caps" }).click();
  await page.getByText("Caps changed").waitFor();

  const webhook = await refuseReads(page, "notifications/webhook");
  await page.goto(`/app/${project.id}/settings?tab=notifications`);
  await page.getByText("Not now.").waitFor();
  webhook.end();
  await page.getByRole("button", { name: "Try again" }).click();
  const address = page.getByLabel("Address");
  await address.fill("https://example.com/hook");
  const choices = await refuseReads(page, "notifications");
  await readAgain(page);
  await page.getByText("Not now.").waitFor();
  expect(await address.inputValue()).toBe("https://example.com/hook");
  choices.end();
  await page.getByRole("button", { name: "Try again" }).click();
  await page.getByText("Not now.").waitFor({ state: "detached" });
  expect(await address.inputValue()).toBe("https://example.com/hook");
});
