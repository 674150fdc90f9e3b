// What others save while somebody types in the dashboard, in a real browser: neither takes anything from the other without a word.
import { expect, test } from "vitest";
import { useTestServer } from "../server/src/testing/test-server.ts";
import { openDashboard, type PathOf } from "./open-dashboard.ts";
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
