// Tests the reports of the dashboard in a real browser: campaigns, analytics, contacts, the audit log and API requests.
import { readFile } from "node:fs/promises";
import type { Page } from "playwright-core";
import { expect, test, vi } from "vitest";
import { recordActivities } from "../server/src/deliveries/tracking/record-activity.ts";
import { countNews } from "../server/src/events/counts.ts";
import { transaction } from "../server/src/platform/database/database.ts";
import { numberOf } from "../server/src/rendering/link-target.ts";
import { useTestServer, type TestProject } from "../server/src/testing/test-server.ts";
import { make, openDashboard } from "./open-dashboard.ts";
import { useBrowser } from "./use-browser.ts";

const server = useTestServer();
const browser = useBrowser();

const LINK = "https://shop.example/sale";
const OTHER_LINK = "https://shop.example/{{lang ?? 'en'}}/help";
const BODY = `<p>Hello <a href="${LINK}">Sale</a> or <a href="${OTHER_LINK}">Help</a></p><script>document.body.textContent = "ran"</script>`;
const PHONE = "Mozilla/5.0 (iPhone; CPU iPhone OS 19_0 like Mac OS X) AppleWebKit/605.1.15";
const WAIT = { timeout: 30_000, interval: 50 };

async function addContacts({ byKey }: TestProject): Promise<void> {
  for (const name of ["ada", "grace", "hedy", "lise"])
    await server.call("POST", "/contacts", byKey, { email: `${name}@example.com` });
}

async function sendCampaign({ byKey }: TestProject, name: string): Promise<string> {
  const mail = { name, subject: "News", from: "news@sandbox.localhost", body: BODY, audienceType: "ALL" };
  const made = await server.call<{ data: { id: string } }>("POST", "/campaigns", byKey, mail);
  const { id } = made.body.data;
  await server.call("POST", `/campaigns/${id}/send`, byKey, {});
  await vi.waitUntil(async () => {
    const { body } = await server.call<Record<string, unknown>>("GET", `/campaigns/${id}`, byKey);
    return body["status"] === "SENT" && body["deliveredCount"] === 4;
  }, WAIT);
  return id;
}

/** Opens an email as a person and follows a link, a minute after it was sent. */
async function openAndClick({ id: projectId }: TestProject, campaignId: string, address: string) {
  const [mail] = await server.rows<{ id: string }>(
    "select id from emails where project_id = $1 and campaign_id = $2 and to_address = $3",
    projectId,
    campaignId,
    address,
  );
  const at = new Date(Date.now() + 60_000);
  const person = { userAgent: PHONE, purpose: "", otherLinkMs: Number.POSITIVE_INFINITY, isLast: true };
  const link = { kind: "click" as const, number: numberOf(LINK, true), link: LINK };
  await transaction(server.database, (tx) =>
    recordActivities(tx, [{ projectId, emailId: mail?.id ?? "", at, ...link, ...person }]),
  );
  return mail?.id ?? "";
}

async function textOfFile(page: Page, button: string): Promise<string> {
  const downloading = page.waitForEvent("download");
  await page.getByRole("button", { name: button }).click();
  return readFile(await (await downloading).path(), "utf8");
}

/** The largest part of the shortest interval at which the report reads recipients or the chart. */
const BEFORE_POLLS_MS = 4_500;

/** Lets a campaign end while its report is open, and expects the recipients and the chart to be read before their next poll. */
async function endWhileShown(page: Page, path: string, open: () => Promise<void>): Promise<void> {
  let isSending = true;
  let asked: string[] = [];
  page.on("request", (request) => asked.push(new URL(request.url()).pathname));
  await page.route(
    (url) => url.pathname === path,
    async (route) => {
      const response = await route.fetch();
      const campaign = (await response.json()) as object;
      await route.fulfill({ response, json: { ...campaign, ...(isSending ? { status: "SENDING" } : {}) } });
    },
  );
  const parts = [`${path}/recipients`, `${path}/activity`];
  // Time passes only here, so that no other poll comes before the one of the campaign.
  await page.clock.install();
  await page.clock.pauseAt(Date.now() + 1_000);
  const passUntil = async (isSo: () => boolean | Promise<boolean>) => {
    await vi.waitUntil(async () => {
      await page.clock.runFor(1);
      return isSo();
    }, WAIT);
  };
  const areRead = () => parts.every((part) => asked.includes(part));
  await open();
  await passUntil(areRead);
  await passUntil(() => page.getByText("Sending", { exact: true }).first().isVisible());
  const openedMs = await page.evaluate<number>("Date.now()");
  [isSending, asked] = [false, []];
  await page.clock.runFor(2_000);
  await passUntil(areRead);
  expect(await page.evaluate<number>("Date.now()")).toBeLessThan(openedMs + BEFORE_POLLS_MS);
}

test("a campaign report shows its first minutes, earlier campaigns and the clicks on its email", async () => {
  let campaignId = "";
  const { page } = await openDashboard(server, browser, async (project) => {
    await addContacts(project);
    const first = await sendCampaign(project, "October update");
    await openAndClick(project, first, "ada@example.com");
    await openAndClick(project, first, "grace@example.com");
    campaignId = await sendCampaign(project, "November update");
    await openAndClick(project, campaignId, "ada@example.com");
    return `/campaigns/${campaignId}`;
  });
  const clicked = page.getByRole("term").filter({ hasText: /^Clicked$/ });
  await clicked.locator("xpath=..").getByText("1 · average 50%").waitFor();
  const chart = page.getByRole("figure", { name: "Emails per minute" });
  await chart.getByRole("button", { name: "Show table" }).click();
  const rows = chart.getByRole("row");
  await rows.nth(1).waitFor();
  const sent = await chart.locator("tbody tr td:nth-child(2)").allTextContents();
  expect(sent.reduce((sum, text) => sum + Number(text), 0)).toBe(4);
  const file = await textOfFile(page, "Emails per minute as CSV");
  expect(file.split("\r\n")[0]).toBe("Time,Sent,Opened,Clicked");
  await page.getByRole("button", { name: "First 2 days" }).click();
  await page.getByRole("figure", { name: "Emails per 15 minutes" }).waitFor();
  const previous = page.getByRole("region", { name: "Previous campaigns" });
  expect(await previous.getByRole("row").allTextContents()).toEqual([
    expect.stringContaining("Campaign"),
    expect.stringContaining("This campaign"),
    expect.stringContaining("Average of the others"),
    expect.stringContaining("October update"),
  ]);
  expect(await textOfFile(page, "Results as CSV")).toContain("Clicked,1,25\r\n");
  await page.getByRole("button", { name: "Clicked 1" }).click();
  await page.getByText("1 recipient", { exact: true }).waitFor();
  await page.getByRole("button", { name: "All 4" }).waitFor();

  await page.getByRole("button", { name: "Click map" }).click();
  const email = page.frameLocator("iframe");
  await email.getByRole("link", { name: "Sale 1 · 100%" }).waitFor();
  await email.getByRole("link", { name: "Help 0" }).waitFor();
  await page.getByRole("region", { name: "Links" }).getByText(OTHER_LINK).waitFor();
  expect(await email.locator("body").textContent()).toContain("Hello");

  await endWhileShown(page, `/campaigns/${campaignId}`, async () => {
    await page.getByRole("button", { name: "Report", exact: true }).click();
    await page.reload();
  });
});

test("tiles choose the chart, which has the previous period, limits and custom days", async () => {
  const { page, project } = await openDashboard(server, browser, async (made) => {
    await addContacts(made);
    const id = await sendCampaign(made, "News");
    await openAndClick(made, id, "ada@example.com");
    return "/reports";
  });
  const zone = await page.evaluate<string>("Intl.DateTimeFormat().resolvedOptions().timeZone");
  await page.getByText(`Daily totals, ${zone}.`).waitFor();
  const tiles = page.getByRole("group", { name: "Number in the chart" });
  await page.getByRole("figure", { name: "Sent by day" }).getByText("Previous period").waitFor();
  await tiles.getByRole("button", { name: /^Opened/ }).click();
  const opened = page.getByRole("figure", { name: "Opened by day, in percent of sent emails" });
  await opened.getByText("25%").waitFor();
  await page.getByRole("button", { name: "Count" }).click();
  await page.getByRole("figure", { name: "Opened by day", exact: true }).waitFor();
  await tiles.getByRole("button", { name: /^Bounced/ }).click();
  await page.getByRole("button", { name: "Rate", exact: true }).click();
  const bounced = page.getByRole("figure", { name: "Bounced by day, in percent" });
  await bounced.getByText("Warning at 5%").waitFor();

  // All hours of the week have the same width.
  const week = page.locator("table").filter({ hasText: "Mon" }).last();
  await week.scrollIntoViewIfNeeded();
  const widths: number[] = [];
  for (const cell of await week.locator("tbody tr").first().locator("td").all())
    widths.push(Math.round((await cell.boundingBox())?.width ?? 0));
  expect(widths).toHaveLength(24);
  expect(Math.min(...widths)).toBeGreaterThan(5);
  expect(Math.max(...widths) - Math.min(...widths)).toBeLessThanOrEqual(1);

  await page.getByRole("button", { name: "Custom" }).click();
  await page.getByLabel("First day").fill("2026-02-01");
  await page.getByLabel("Last day").fill("2026-01-01");
  await page.getByRole("alert").getByText("The last day must not be before the first").waitFor();
  await page.getByLabel("First day").fill("2025-12-01");
  await page.getByRole("button", { name: "Apply" }).click();
  await expect.poll(() => page.url()).toContain("from=2025-12-01&to=2026-01-01");
  await tiles.getByText("vs 0 in the previous 32 days").first().waitFor();

  await page.getByRole("button", { name: "Audience" }).click();
  await page.getByRole("button", { name: "7 days", exact: true }).click();
  const added = page.getByRole("term").filter({ hasText: "Added as subscribed" }).locator("xpath=..");
  await added.getByText("4", { exact: true }).waitFor();
  await page.goto(`/app/${project.id}/settings?tab=reputation`);
  // The limits count by the time of sending, so the trend doesn't show them.
  await page.getByRole("figure", { name: "Bounce rate" }).waitFor();
  await page.getByText("Bounces and complaints count on the day they arrive.").waitFor();
  await page.getByText("No bounces or complaints in the last 7 days.").waitFor();
});

test("the tiles of the home page follow new emails without a reload", async () => {
  const { page, project } = await openDashboard(server, browser, () => "/contacts");
  await page.clock.install();
  await page.getByRole("link", { name: "Home" }).click();
  const sent = page.getByRole("definition").first();
  await expect.poll(() => sent.textContent()).toBe("0");
  const mail = { to: "ada@example.com", from: "a@sandbox.localhost", subject: "Hi", body: "<p>Hi</p>" };
  await server.call("POST", "/v1/send", project.byKey, mail);
  await page.getByText("Email delivered").waitFor();
  while (await countNews(server.database, { lagSeconds: 0 }));
  await page.clock.fastForward(10_000);
  await expect.poll(() => sent.textContent()).toBe("1");
});

/** Lets a contact complete a workflow with one email. */
async function completeWorkflow(project: TestProject, email: string): Promise<void> {
  const template = { name: "Tips", type: "MARKETING", subject: "Tips", body: "<p>Hi</p>" };
  const from = "news@sandbox.localhost";
  const templateId = await make(server, project, "/templates", { ...template, from });
  const id = await make(server, project, "/workflows", { name: "Onboarding", eventName: "signed-up" });
  const step = { type: "SEND_EMAIL", name: "Tips", config: { templateId }, autoConnect: true };
  await make(server, project, `/workflows/${id}/steps`, step);
  await server.call("PATCH", `/workflows/${id}`, project.byKey, { enabled: true });
  await server.call("POST", "/v1/track", project.byKey, { email, event: "signed-up" });
  await vi.waitUntil(async () => {
    const path = `/workflows/${id}/executions?status=COMPLETED`;
    return (await server.call<{ total: number }>("GET", path, project.byKey)).body.total === 1;
  }, WAIT);
}

test("a contact's timeline starts with the arrival and names the campaign of an unsubscribe", async () => {
  let receiptId = "";
  const { page, project } = await openDashboard(server, browser, async (made) => {
    await addContacts(made);
    const campaignId = await sendCampaign(made, "November update");
    const [mail] = await server.rows<{ id: string; contactId: string }>(
      "select id, contact_id from emails where project_id = $1 and campaign_id = $2 and to_address = 'ada@example.com'",
      made.id,
      campaignId,
    );
    const id = mail?.contactId ?? "";
    await server.rows(
      `with changed as (
         update contacts set subscribed = false where project_id = $1 and id = $2 returning id
       ), logged as (
         insert into consent_changes (project_id, contact_id, id, subscribed, source, email_id)
         select $1, id, gen_random_uuid(), false, 'one-click', $3 from changed
       )
       insert into events (project_id, id, contact_id, name)
       select $1, sent_event_id(gen_random_uuid(), now()), id, 'contact.unsubscribed' from changed`,
      made.id,
      id,
      mail?.id,
    );
    await completeWorkflow(made, "ada@example.com");
    const receipt = { from: "a@sandbox.localhost", subject: "Receipt", body: "<p>1</p>" };
    await server.call("POST", "/v1/send", made.byKey, { ...receipt, to: "buyer@example.com" });
    const [buyer] = await server.rows<{ id: string }>(
      "select id from contacts where project_id = $1 and email = 'buyer@example.com'",
      made.id,
    );
    receiptId = buyer?.id ?? "";
    return `/contacts/${id}`;
  });
  const left = page.getByRole("listitem").filter({ hasText: "Unsubscribed" });
  await left.getByText("through November update").waitFor();
  await left.getByRole("link", { name: "November update" }).waitFor();
  await page.getByText("Added through the API").waitFor();
  await page.getByText("This contact gets transactional email only.").waitFor();
  // The workflow completed, but its email was not sent.
  const completed = page.getByRole("listitem").filter({ hasText: "Workflow completed" });
  await completed.getByRole("link", { name: "1 email skipped: The contact is not subscribed." }).click();
  const skipped = page.getByRole("region", { name: "1 email skipped" });
  await skipped.getByText("Tips: The contact is not subscribed.").waitFor();
  // Someone who only got a receipt never unsubscribed.
  await page.goto(`/app/${project.id}/contacts/${receiptId}?tab=consent`);
  await page.getByText("Added through the API").waitFor();
  await page.getByText("Not subscribed").first().waitFor();
  expect(await page.getByText("Unsubscribed", { exact: true }).count()).toBe(0);
});

test("the audit log is filtered, and roles are shown as a matrix", async () => {
  const { page, project } = await openDashboard(server, browser, async (made) => {
    await server.call("PATCH", `/users/@me/projects/${made.id}`, made.bySession, { name: "Renamed" });
    return "/settings?tab=audit";
  });
  await page.getByRole("cell", { name: "Project created" }).waitFor();
  await page.getByText("2 entries").waitFor();
  await page.getByLabel("Action").selectOption({ label: "Settings changed" });
  await page.getByText("1 entry", { exact: true }).waitFor();
  await page.getByLabel("Actor").selectOption({ label: "Postloft" });
  await page.getByText("No matching entries").waitFor();
  await page.getByRole("button", { name: "Clear filters" }).click();
  await page.getByText("2 entries").waitFor();
  await page.getByLabel("Last day").fill("2026-01-01");
  await page.getByText("No matching entries").waitFor();

  await page.goto(`/app/${project.id}/settings?tab=members`);
  const matrix = page.getByRole("region", { name: "Roles" });
  const row = (name: string) => matrix.getByRole("row", { name }).getByRole("cell").allTextContents();
  await matrix.getByText("Transfer ownership").waitFor();
  expect(await row("Transfer ownership")).toEqual(["Yes", "No", "No"]);
  expect(await row("Domains")).toEqual(["Yes", "Yes", "No"]);
  expect(await row("Suppression list")).toEqual(["Yes", "Yes", "Yes"]);
});

test("an API request shows its response and is copied as a command", async () => {
  const { page, project } = await openDashboard(server, browser, async (made) => {
    await server.call("POST", "/v1/send", made.byKey, { to: "ada@example.com" });
    return "/activity?view=requests";
  });
  await page.context().grantPermissions(["clipboard-read", "clipboard-write"]);
  await page.getByRole("button", { name: "POST /v1/send" }).click();
  const dialog = page.getByRole("dialog");
  await dialog.getByRole("region", { name: "Response" }).getByText("VALIDATION_ERROR").waitFor();
  await dialog.getByRole("button", { name: "Copy as curl" }).click();
  const copied = await page.evaluate<string>("navigator.clipboard.readText()");
  expect(copied).toContain(`curl -X POST '${server.url}/v1/send'`);
  expect(copied).toContain('"to": "[…]@example.com"');
  expect(copied).not.toContain(project.secretKey);
});
