// Tests the installation page in a real browser: an instance admin finds and suspends a project, and another account sees no page.
import { expect, test } from "vitest";
import { useTestServer } from "../server/src/testing/test-server.ts";
import { openDashboard } from "./open-dashboard.ts";
import { useBrowser } from "./use-browser.ts";

// Test accounts are numbered. The first one owns the common project, the second one is an admin, and so is the one of the next story.
const ADMIN = "person2@example.com";
const server = useTestServer({ ROLES: "api", ADMIN_EMAILS: `${ADMIN}, person4@example.com` });
const browser = useBrowser();
const REASON = "Sends to a purchased list.";

test("an instance admin suspends a project, sees its email wait, and enables it", async () => {
  const { page, project } = await openDashboard(server, browser, async ({ owner }) => {
    expect(owner.email).toBe(ADMIN);
    await server.prove(owner);
    return "/account";
  });
  const other = await server.createProject();
  await server.rows("update projects set name = 'Noisy shop' where id = $1", other.id);
  const mail = { to: "ada@example.com", from: "hello@sandbox.localhost", subject: "s", body: "b" };
  expect((await server.call("POST", "/v1/send", other.byKey, mail)).status).toBe(200);

  await page.getByRole("link", { name: "Open installation" }).click();
  await page.getByRole("heading", { level: 1, name: "Installation" }).waitFor();
  const queues = page.getByRole("region", { name: "Waiting email" });
  await queues.getByRole("row", { name: /Noisy shop.*No process sends/ }).waitFor();
  await page.getByLabel("Search projects").fill("noisy");
  const projects = page.getByRole("region", { name: "Projects" });
  await projects.getByText("A project").first().waitFor({ state: "detached" });
  await projects.getByRole("button", { name: "Suspend Noisy shop" }).click();

  const dialog = page.getByRole("dialog", { name: "Suspend Noisy shop?" });
  await dialog.getByLabel("Reason").fill("short");
  await dialog.getByRole("button", { name: "Suspend project" }).click();
  await dialog.getByText(/^Too small/).waitFor();
  expect(await server.rows("select disabled from projects where id = $1", other.id)).toEqual([
    { disabled: false },
  ]);
  await dialog.getByLabel("Reason").fill(REASON);
  await dialog.getByRole("button", { name: "Suspend project" }).click();
  await projects.getByText("Suspended").waitFor();
  await queues.getByRole("row", { name: /Noisy shop.*Project suspended/ }).waitFor();

  await projects.getByRole("button", { name: "Enable Noisy shop" }).click();
  const enabling = page.getByRole("dialog", { name: "Enable Noisy shop?" });
  await enabling.getByLabel("Reason").fill("The owner deleted the list.");
  await enabling.getByRole("button", { name: "Enable project" }).click();
  await projects.getByRole("button", { name: "Suspend Noisy shop" }).waitFor();
  expect(
    await server.rows(
      "select action, actor_email as by from audit_log where project_id = $1 order by number desc limit 2",
      other.id,
    ),
  ).toEqual([
    { action: "project.enabled", by: null },
    { action: "project.suspended", by: null },
  ]);
  expect(project.id).not.toBe(other.id);
});

test("an instance admin creates, downloads and deletes a backup", async () => {
  const { page } = await openDashboard(server, browser, async ({ owner }) => {
    await server.prove(owner);
    return "/account";
  });
  await page.goto("/app/installation");
  await page.getByText("There is no backup on this machine.").waitFor();
  await page.getByRole("button", { name: "Create backup" }).click();
  await page.getByRole("row", { name: /Not tested/ }).waitFor();
  const [download] = await Promise.all([
    page.waitForEvent("download"),
    page.getByRole("link", { name: /^Download the backup of/ }).click(),
  ]);
  expect(download.suggestedFilename()).toMatch(/^postloft-.*Z\.tar\.gz$/);
  await page.getByRole("button", { name: /^Delete the backup of/ }).click();
  await page.getByRole("button", { name: "Delete backup" }).click();
  await page.getByText("There is no backup on this machine.").waitFor();
});

test("another account has no link and finds no page", async () => {
  const { page } = await openDashboard(server, browser, async ({ owner }) => {
    await server.prove(owner);
    return "/account";
  });
  await page.getByRole("heading", { name: "Delete account" }).waitFor();
  await page.waitForLoadState("networkidle");
  expect(await page.getByRole("link", { name: "Open installation" }).count()).toBe(0);
  await page.goto("/app/installation");
  await page.getByRole("heading", { name: "Page not found" }).waitFor();
});
