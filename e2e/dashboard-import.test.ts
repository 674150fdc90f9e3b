// Imports other services' exports through the wizard in a real browser. No unsubscribed contact may end up subscribed.
import { mkdtemp, readFile, rm, truncate, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import axe from "axe-core";
import { strToU8, zipSync } from "fflate";
import type { Page } from "playwright-core";
import { expect, onTestFinished, test } from "vitest";
import { useTestServer } from "../server/src/testing/test-server.ts";
import { openDashboard } from "./open-dashboard.ts";
import { useBrowser } from "./use-browser.ts";

const server = useTestServer();
const browser = useBrowser();

const EXPORTS = new URL("../contract/src/contact-file/exports/", import.meta.url);
const exported = (name: string) => readFile(new URL(`${name}.csv`, EXPORTS));

const button = (page: Page, name: string | RegExp) => page.getByRole("button", { name, exact: true });

async function choose(page: Page, name: string, content: Buffer | string): Promise<void> {
  const buffer = Buffer.from(content);
  await page.locator("input[type=file]").setInputFiles({ name, mimeType: "text/csv", buffer });
}

/** Returns the addresses of a project's contacts by subscription. */
async function listed(projectId: string): Promise<{ subscribed: string[]; left: string[] }> {
  const rows = await server.rows<{ email: string; subscribed: boolean }>(
    `select split_part(email, '@', 1) as email, subscribed from contacts where project_id = '${projectId}' order by email`,
  );
  const of = (is: boolean) => rows.filter(({ subscribed }) => subscribed === is).map(({ email }) => email);
  return { subscribed: of(true), left: of(false) };
}

const begin = async (page: Page) => {
  await page.getByRole("link", { name: "Import another file" }).click();
  await page.getByText("Choose a CSV file, or drop it here").waitFor();
};
const imported = (page: Page) => page.getByText("Import complete").waitFor();

/** Returns serious and critical axe findings as `rule: element`. */
async function findingsOf(page: Page): Promise<string[]> {
  await page.evaluate(axe.source);
  const { violations } = await page.evaluate<axe.AxeResults>(
    'axe.run(document, { resultTypes: ["violations"] })',
  );
  return violations
    .filter(({ impact }) => impact === "serious" || impact === "critical")
    .flatMap(({ id, nodes }) => nodes.map(({ html }) => `${id}: ${html.slice(0, 160)}`));
}

test("exports of HubSpot, Stripe and Mailchimp are imported, and people who left stay out", async () => {
  const { page, project } = await openDashboard(server, browser, () => "/contacts/import");
  // One inverted column and one consent column.
  await choose(page, "hubspot.csv", await exported("hubspot"));
  await page.getByText("1 subscribed · 1 unsubscribed").waitFor();
  await page.getByLabel("Add to a segment").selectOption({ label: "New segment" });
  expect(await page.getByLabel("Segment name").inputValue()).toBe("hubspot");
  await page.getByLabel("Segment name").fill("");
  await page.getByText("Name the segment.").waitFor();
  expect(await button(page, "Import 2 rows").isDisabled()).toBe(true);
  await page.getByLabel("Segment name").fill("From HubSpot");
  await button(page, "Import 2 rows").click();
  await imported(page);
  await page.getByText("2 contacts added to the segment.").waitFor();
  expect(await listed(project.id)).toEqual({ subscribed: ["hs1"], left: ["hs2"] });

  // A column that looks like a status blocks the wizard until the user confirms that it isn't one.
  await begin(page);
  await choose(page, "stripe.csv", await exported("stripe-customers"));
  await page.getByText("Use “Status” as the subscription status, or confirm that it isn't one.").waitFor();
  expect(await button(page, "Import 3 rows").isDisabled()).toBe(true);
  await page.getByLabel("“Status” isn't a subscription status").check();
  await button(page, "Import 3 rows").click();
  await imported(page);

  // Every status can be changed, and ambiguous date orders must be chosen.
  await begin(page);
  await choose(page, "brevo.csv", await exported("brevo"));
  await page.getByText("Choose the date order of “ADDED_TIME”, or import it as text.").waitFor();
  expect(await findingsOf(page)).toEqual([]);
  await page.getByLabel("Date order of ADDED_TIME").selectOption({ label: "Day first: 31/12/2027" });
  await page.getByText("1 subscribed · 1 unsubscribed").waitFor();
  await page.getByLabel("1 in EMAIL_BLACKLISTED becomes").selectOption({ label: "Suppressed" });
  await page.getByText("1 subscribed · 1 suppressed").waitFor();
  await button(page, "Import 2 rows").click();
  await imported(page);
  expect(await listed(project.id)).toEqual({
    subscribed: ["br1", "hs1", "st1", "st2"],
    left: ["br2", "hs2"],
  });
  expect(await server.rows(`select email from suppressions where project_id = '${project.id}'`)).toEqual([
    { email: "br2@example.org" },
  ]);

  // Mailchimp's ZIP has one file per status. Contacts that never subscribed are identified only by the file name.
  await begin(page);
  const [audience, unsubscribed, cleaned] = await Promise.all(
    ["mailchimp-audience", "mailchimp-unsubscribed", "mailchimp-cleaned"].map(exported),
  );
  const archive = zipSync({
    "subscribed_members_export_a1.csv": audience ?? Buffer.of(),
    "nonsubscribed_members_export_a1.csv": strToU8("Email Address,First Name\nmcn1@example.org,Never\n"),
    "unsubscribed_members_export_a1.csv": unsubscribed ?? Buffer.of(),
    "cleaned_members_export_a1.csv": cleaned ?? Buffer.of(),
  });
  await choose(page, "audience.zip", Buffer.from(archive));
  await page.getByText("2 subscribed · 2 unsubscribed · 1 suppressed").waitFor();
  await button(page, "Import 5 rows").click();
  await imported(page);
  await page.getByText("2 subscribed · 2 unsubscribed · 1 suppressed").waitFor();
  expect(await findingsOf(page)).toEqual([]);
  const after = await listed(project.id);
  expect(after.left).toEqual(["br2", "hs2", "mcc1", "mcn1", "mcu1"]);

  // A later file that says the opposite resubscribes a contact only if that option is chosen.
  await begin(page);
  await choose(page, "again.csv", "email,subscribed\nhs2@example.org,yes\n");
  await button(page, "Import 1 row").click();
  await imported(page);
  await page.getByText("1 existing contact had unsubscribed and stays unsubscribed.").waitFor();
  expect((await listed(project.id)).left).toContain("hs2");
  await begin(page);
  await choose(page, "again.csv", "email,subscribed\nhs2@example.org,yes\n");
  await page.getByLabel("Resubscribe contacts who unsubscribed").check();
  await page.getByText("People who left will get your campaigns again.").waitFor();
  await button(page, "Import 1 row").click();
  await imported(page);
  expect((await listed(project.id)).subscribed).toContain("hs2");
});

test("a preview appears in view, and the report leads to the segment and the contacts", async () => {
  const { page } = await openDashboard(server, browser, () => "/contacts/import");
  await choose(page, "audience.csv", await exported("mailchimp-audience"));
  await page.getByLabel("Add to a segment").selectOption({ label: "New segment" });
  await button(page, "Preview import").click();
  const preview = page.getByText("Preview: nothing has changed");
  await preview.waitFor();
  const isInView = async () => {
    const box = await preview.boundingBox();
    const height = page.viewportSize()?.height ?? 0;
    return box !== null && box.y >= 0 && box.y + box.height <= height;
  };
  await expect.poll(isInView).toBe(true);
  await button(page, "Import 2 rows").click();
  await imported(page);
  await page.getByRole("link", { name: "View segment" }).click();
  await page.getByRole("heading", { level: 1, name: "audience" }).waitFor();
  await page.goBack();
  await page.getByRole("link", { name: "View contacts" }).click();
  await page.getByRole("heading", { level: 1, name: "Contacts" }).waitFor();
});

test("an import is undone after its counts are shown", async () => {
  const { page, project } = await openDashboard(server, browser, () => "/contacts/import");
  await choose(page, "kept.csv", "email,plan\nkept@example.com,free\n");
  await button(page, "Import 1 row").click();
  await imported(page);
  await begin(page);
  await choose(
    page,
    "wrong.csv",
    "email,plan\nkept@example.com,pro\nnew1@example.com,pro\nnew2@example.com,pro\n",
  );
  await button(page, "Import 3 rows").click();
  await imported(page);
  await button(page, "Undo import").click();
  const dialog = page.getByRole("dialog", { name: "Undo this import?" });
  await dialog.getByText("2 new contacts will be deleted.").waitFor();
  await dialog.getByText("1 contact will get its previous values back.").waitFor();
  await dialog.getByRole("button", { name: "Cancel" }).click();
  expect((await listed(project.id)).subscribed).toEqual(["kept", "new1", "new2"]);
  await button(page, "Undo import").click();
  await dialog.getByRole("button", { name: "Undo import" }).click();
  await page.getByText("Import undone").waitFor();
  await page.getByText("2 contacts deleted.").waitFor();
  await page.reload();
  await page.getByText("Import undone").waitFor();
  await page.getByText("This import was undone. These were its results.").waitFor();
  // The import and its report are found again.
  await page.goto(`/app/${project.id}/contacts/import`);
  await page.getByRole("row").filter({ hasText: "Undone" }).getByRole("link").click();
  await page.getByText("This import was undone. These were its results.").waitFor();
  expect((await listed(project.id)).subscribed).toEqual(["kept"]);
  const [kept] = await server.rows<{ data: unknown }>(
    `select data from contacts where project_id = '${project.id}'`,
  );
  expect(kept?.data).toEqual({ plan: "free" });
});

test("a file of suppressed addresses is imported in the settings", async () => {
  const { page } = await openDashboard(server, browser, () => "/settings?tab=suppressions");
  await button(page, "Import").click();
  const dialog = page.getByRole("dialog", { name: "Import suppressed addresses" });
  const buffer = Buffer.from(
    "email,created\ngone1@example.com,1672909872\ngone2@example.com,1672909873\nnobody,1\n",
  );
  await dialog.getByLabel("CSV file").setInputFiles({ name: "bounces.csv", mimeType: "text/csv", buffer });
  await dialog.getByText("2 addresses added.").waitFor();
  await dialog.getByText("Row 4: The email address has no “@”.").waitFor();
  await dialog.getByRole("button", { name: "Close" }).click();
  await page.getByRole("cell", { name: "gone2@example.com", exact: true }).waitFor();
  expect(await findingsOf(page)).toEqual([]);
});

/** Records the page's longest task from now on. */
const watch = (page: Page) =>
  page.evaluate(`(window.longest = 0, new PerformanceObserver((list) => {
    for (const { duration } of list.getEntries()) window.longest = Math.max(window.longest, duration);
  }).observe({ type: "longtask" }))`);
const longestTaskMs = (page: Page) => page.evaluate<number>("window.longest");

const LONG_TASK_MS = 200;
/** On a busy machine tasks are delayed. A task must still be a small part of the total, which would be a single task otherwise. */
const SHARE_OF_THE_WHOLE = 0.25;

/** Writes a file of contacts. Every tenth is unsubscribed, and the last one has no address. */
async function writeContacts(rows: number, notes: string): Promise<string> {
  const path = await temporaryFile("large.csv");
  const lines = Array.from({ length: rows }, (_, at) => {
    const email = at === rows - 1 ? "no address" : `person${at}@example.com`;
    return `${email},Person ${at},${at % 10 === 0 ? "unsubscribed" : "active"},${notes}`;
  });
  await writeFile(path, ["Email,First Name,Status,Notes", ...lines].join("\n"));
  return path;
}

test("the page stays responsive while it reads 100,000 rows", async () => {
  const { page } = await openDashboard(server, browser, () => "/contacts/import");
  page.setDefaultTimeout(60_000);
  const path = await writeContacts(100_000, "x".repeat(20));
  await watch(page);
  const startedAtMs = performance.now();
  await page.locator("input[type=file]").setInputFiles(path);
  await page.getByText("89,999 subscribed · 10,000 unsubscribed").waitFor();
  const tookMs = performance.now() - startedAtMs;
  expect(await longestTaskMs(page)).toBeLessThan(Math.max(LONG_TASK_MS, SHARE_OF_THE_WHOLE * tookMs));
});

test("a file above 5 MB is imported in consecutive parts with one report", async () => {
  const { page, project } = await openDashboard(server, browser, () => "/contacts/import");
  page.setDefaultTimeout(60_000);
  const path = await writeContacts(6_000, "x".repeat(1_000));
  await page.locator("input[type=file]").setInputFiles(path);
  await page.getByText("Row 6,001: The email address has no “@”.").waitFor();
  let isBroken = true;
  await page.route(/rowOffset=/, (route) => (isBroken ? route.abort() : route.continue()));
  await button(page, "Import 6,000 rows").click();
  await page.getByText("Part 1 of 2").waitFor();
  await page.getByText("1 part of the file was sent. Try again to continue with the rest.").waitFor();
  isBroken = false;
  await button(page, "Import 6,000 rows").click();
  await page.getByText("Part 2 of 2").waitFor();
  await imported(page);
  await page.getByText("5,399 subscribed · 600 unsubscribed").waitFor();
  await page.getByRole("row", { name: "6,001 no address The email address has no “@”." }).waitFor();
  const saving = page.waitForEvent("download");
  await button(page, "Download 1 rejected row").click();
  expect(await readFile(await (await saving).path(), "utf8")).toContain("no address,Person 5999,active,");
  const [counted] = await server.rows<{ all: number; left: number }>(
    `select count(*) as all, count(*) filter (where not subscribed) as left from contacts where project_id = '${project.id}'`,
  );
  expect(counted).toEqual({ all: 5_999, left: 600 });
});

async function temporaryFile(name: string): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), "postloft-import-"));
  onTestFinished(() => rm(folder, { recursive: true }));
  return join(folder, name);
}

test("a file above the dashboard's limit is rejected with the limit in the message", async () => {
  const { page } = await openDashboard(server, browser, () => "/contacts/import");
  await page.getByText("Up to 50 MB.").waitFor();
  const path = await temporaryFile("large.csv");
  await writeFile(path, "");
  await truncate(path, 53_000_000);
  await page.locator("input[type=file]").setInputFiles(path);
  await page.getByText("The file is too large: 50.5 MB. You can import up to 50 MB.").waitFor();
  await choose(page, "notes.zip", Buffer.from(zipSync({ "readme.md": strToU8("# Notes") })));
  await page.getByText("This ZIP file contains no CSV file.").waitFor();
  expect(await page.getByRole("button", { name: "Preview import" }).count()).toBe(0);
});
