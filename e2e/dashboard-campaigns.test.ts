// Tests campaigns in the dashboard in a real browser, from writing to the report.
import type { Locator, Page } from "playwright-core";
import { expect, test } from "vitest";
import { dnsMessage } from "../contract/src/dns-advice.ts";
import { useTestServer, type TestProject } from "../server/src/testing/test-server.ts";
import { htmlOf, writeHtml } from "./browser.ts";
import { useBrowser } from "./use-browser.ts";

const server = useTestServer();
const browser = useBrowser();

const NAME = "<script>alert(1)</script> مرحبا 🦀";

/** Opens the campaigns of a new project as its owner. */
async function openCampaigns(): Promise<{ page: Page; project: TestProject; faults: string[] }> {
  const project = await server.createProject();
  for (const [email, subscribed] of [
    ["ada@example.com", true],
    ["grace@example.com", true],
    ["gone@example.com", false],
  ] as const)
    await server.call("POST", "/contacts", project.byKey, { email, subscribed, data: { firstName: "You" } });
  const context = await browser.newContext({ baseURL: server.url });
  const { email, password } = project.owner;
  await context.request.post("/auth/login", { data: { email, password } });
  const page = await context.newPage();
  page.setDefaultTimeout(15_000);
  const faults: string[] = [];
  page.on("pageerror", (error) => faults.push(error.message));
  page.on("dialog", (dialog) => {
    faults.push(dialog.message());
    void dialog.dismiss();
  });
  await page.goto(`/app/${project.id}/campaigns`);
  return { page, project, faults };
}

/** @param beginning what it begins with; HTML unless said otherwise */
async function createDraft(page: Page, beginning = "Custom HTML"): Promise<void> {
  await page.getByText("No campaigns yet").waitFor();
  await page.getByRole("button", { name: "New campaign" }).click();
  const dialog = page.getByRole("dialog");
  await dialog.getByLabel("Name").fill(NAME);
  await dialog.getByLabel("Start from").selectOption({ label: beginning });
  await dialog.getByRole("button", { name: "Create draft" }).click();
  await page.getByRole("heading", { level: 1, name: NAME }).waitFor();
}

/** Returns the subjects of all emails in the local mailbox for an address. */
async function receivedBy({ byKey }: TestProject, address: string): Promise<string[]> {
  const { body } = await server.call<{ data: Array<{ subject: string }> }>(
    "GET",
    `/mailbox/messages?to=${address}`,
    byKey,
  );
  return body.data.map(({ subject }) => subject);
}

test("a campaign is written, tested, checked and sent once to each, and the report agrees", async () => {
  const { page, project, faults } = await openCampaigns();
  const dialog = page.getByRole("dialog");
  await createDraft(page);
  await page.getByText("2 of 3").waitFor();
  await page.getByText("1 not subscribed").waitFor();
  await page.getByLabel("Custom filter").check();
  expect(await page.getByRole("button", { name: "Continue" }).isDisabled()).toBe(true);
  await page.getByLabel("Everyone").check();
  await page.getByRole("button", { name: "Continue" }).click();

  // Unsaved text survives a reload, and valid text is saved automatically.
  await writeHtml(page, "<p>Dear {{#if");
  await page.getByText("Unsaved changes").waitFor();
  await page.reload();
  await expect.poll(() => htmlOf(page).textContent()).toBe("<p>Dear {{#if");
  await writeHtml(page, "<p>Dear {{firstName}} مرحبا</p><img src=x onerror=alert(1)>");
  await page.getByLabel("Subject").fill("News for {{firstName}}");
  // If a full address is typed, the part after the @ selects the domain.
  const from = page.getByLabel("From", { exact: true });
  await from.fill("");
  await from.pressSequentially("hello@sand");
  await page.getByLabel("Subject").focus();
  expect(await from.inputValue()).toBe("hello");
  expect(await page.getByLabel("Domain").inputValue()).toBe("sandbox.localhost");
  await page.getByRole("button", { name: "Continue" }).click();

  await page.getByText("Ready to send, with suggestions").waitFor();
  await page.frameLocator("iframe").getByText("مرحبا").waitFor();
  // A suggestion leads to its field.
  await page.getByRole("button", { name: "Preview text", exact: true }).click();
  const previewText = page.getByRole("textbox", { name: "Preview text" });
  await previewText.and(page.locator(":focus")).waitFor();
  await previewText.fill("Read on, {{firstName}}");
  await page.getByRole("region", { name: "Inbox" }).getByText("Read on, You").last().waitFor();
  await page.getByRole("button", { name: "Continue" }).click();
  for (const fact of ["News for {{firstName}}", "Read on, {{firstName}}", "Everyone"])
    await page.getByRole("definition").filter({ hasText: fact }).waitFor();
  await page.getByText("No preview text.").waitFor({ state: "detached" });
  expect(await page.getByText("We'll add an unsubscribe footer.").count()).toBe(0);
  await page.goBack();
  expect(await page.getByLabel("Subject").inputValue()).toBe("News for {{firstName}}");
  await page.goForward();
  await page.getByRole("button", { name: "Send test" }).click();
  await dialog.getByLabel("Email address").fill("ada@example.com");
  await dialog.getByRole("button", { name: "Send test" }).click();
  await page.getByText("Test email sent").waitFor();

  await page.getByRole("button", { name: "Send now…" }).click();
  await dialog.getByRole("heading", { name: "Send to 2 contacts now?" }).waitFor();
  await dialog.getByRole("button", { name: "Send now" }).click();
  await page.getByText("2 recipients").waitFor();
  await page.getByText(/^Sent .*\d{4}/).waitFor();
  await page.reload();
  for (const address of ["ada@example.com", "grace@example.com"])
    await page.getByRole("row", { name: address }).getByText("Delivered").waitFor();
  expect((await receivedBy(project, "ada@example.com")).toSorted()).toEqual([
    "News for You",
    "[TEST] News for You",
  ]);
  expect(await receivedBy(project, "gone@example.com")).toEqual([]);
  const others = page.getByRole("region", { name: "By provider" }).getByRole("row", { name: "Others" });
  await others.getByRole("cell", { name: "2", exact: true }).waitFor();
  expect(faults).toEqual([]);
  await page.getByRole("figure", { name: "Emails per minute" }).waitFor();
  await page.getByRole("button", { name: "By day" }).click();
  await page.getByRole("figure", { name: "Emails per day" }).waitFor();

  const find = page.getByLabel("Find an address");
  await find.fill("grace@example.com");
  await page.getByRole("row", { name: "ada@example.com" }).waitFor({ state: "detached" });
  await page.getByRole("row", { name: "grace@example.com" }).getByText("Delivered").waitFor();
  await find.fill("gone@example.com");
  await page.getByText("No recipient has the address gone@example.com").waitFor();
  await page.getByText(/^Not subscribed since it was added on/).waitFor();
  await server.call("POST", "/contacts", project.byKey, { email: "late@example.com" });
  await find.fill("late@example.com");
  await page.getByText(/^The contact was added on .*, after the campaign started\./).waitFor();
  await page.getByRole("link", { name: "View contact" }).click();
  await page.getByRole("heading", { level: 1, name: "late@example.com" }).waitFor();
  expect(faults).toEqual([]);
});

test("a campaign is written with blocks, saved while typing, and continued in HTML", async () => {
  const { page, project, faults } = await openCampaigns();
  await createDraft(page, "Announcement");
  await page.getByRole("button", { name: "Continue" }).click();
  await page.getByRole("button", { name: /^Heading/ }).click();
  await page.getByRole("textbox", { name: "Heading" }).fill("Autumn & <script>");
  const stored = async () => {
    const [row] = await server.rows<{ body: string; design: { blocks: object[] } | null }>(
      "select body, design from campaigns where project_id = $1",
      project.id,
    );
    return row;
  };
  await expect.poll(async () => (await stored())?.body).toContain("Autumn &amp; &lt;script&gt;");
  expect((await stored())?.design?.blocks[0]).toMatchObject({ text: "Autumn & <script>" });
  await page.getByRole("status").getByText("Saved", { exact: true }).waitFor();
  await page.reload();
  await page.getByRole("button", { name: /^Heading Autumn/ }).waitFor();
  // Text that was never replaced is the first thing to check above the email, and stops the review. Blocks have no lines.
  await page.getByText(/^\d things to check$/).waitFor();
  await page.locator("summary").getByText("is placeholder text").waitFor();
  await page.getByRole("button", { name: "Review and send" }).click();
  await page.getByText("Not ready").waitFor();
  await page.getByText("is placeholder text").first().waitFor();
  expect(await page.getByText(/^Line \d+$/).count()).toBe(0);
  await page.goBack();
  await page.getByRole("button", { name: "Preview", exact: true }).click();
  await page.frameLocator("iframe").getByRole("heading", { name: "Autumn & <script>" }).waitFor();
  await page.getByRole("button", { name: "Convert to HTML" }).click();
  await page.getByRole("dialog").getByRole("button", { name: "Convert to HTML" }).click();
  await expect.poll(async () => (await stored())?.design).toBeNull();
  expect((await stored())?.body).toContain("Autumn &amp; &lt;script&gt;");
  await page.getByRole("button", { name: "Use the block editor" }).click();
  await page.getByRole("dialog").getByRole("button", { name: "Start empty" }).click();
  await expect.poll(async () => (await stored())?.design?.blocks.length).toBe(1);
  expect(faults).toEqual([]);
});

test("a sending campaign is paused, resumed and cancelled, and the report keeps everyone mailed", async () => {
  const { page, project, faults } = await openCampaigns();
  const dialog = page.getByRole("dialog");
  const settings = `/users/@me/projects/${project.id}`;
  await server.call("PATCH", settings, project.bySession, { sendingRate: 1 });
  for (let person = 0; person < 10; person++)
    await server.call("POST", "/contacts", project.byKey, { email: `person${person}@example.com` });
  await createDraft(page);
  await page.getByRole("button", { name: "Review and send" }).click();
  // Nothing was written, so the placeholder text has to be confirmed.
  await page.getByLabel("I checked these. Send anyway.").check();
  await page.getByRole("button", { name: "Send now…" }).click();
  await dialog.getByRole("button", { name: "Send now" }).click();
  await page.getByRole("button", { name: "Pause" }).click();
  await page.getByRole("progressbar", { name: "Paused" }).waitFor();
  // The home page shows the pause and links to the campaign.
  await page.getByRole("link", { name: "Home" }).click();
  await page.getByRole("alert").getByText(NAME).waitFor();
  await page.getByRole("link", { name: "Resume or cancel" }).click();
  await page.getByRole("button", { name: "Resume" }).click();
  await page.getByRole("progressbar", { name: "Sending" }).waitFor();
  await page.getByRole("button", { name: "Cancel sending…" }).click();
  await dialog.getByRole("button", { name: "Keep sending" }).click();
  await page.getByRole("button", { name: "Cancel sending…" }).click();
  await dialog.getByRole("button", { name: "Cancel sending" }).click();
  await page.getByText("Canceled", { exact: true }).first().waitFor();
  await page.getByText("12 recipients").waitFor();
  await page.getByRole("button", { name: "Email", exact: true }).click();
  await page.getByText("news@sandbox.localhost").first().waitFor();
  expect(faults).toEqual([]);
});

test("a wrong campaign is stopped while it sends, and its report says how many were emailed", async () => {
  const { page, project, faults } = await openCampaigns();
  const dialog = page.getByRole("dialog");
  const settings = `/users/@me/projects/${project.id}`;
  await server.call("PATCH", settings, project.bySession, { sendingRate: 1 });
  const addresses = ["ada", "grace", ...Array.from({ length: 28 }, (_, at) => `person${at}`)].map(
    (name) => `${name}@example.com`,
  );
  for (const email of addresses.slice(2)) await server.call("POST", "/contacts", project.byKey, { email });
  await createDraft(page);
  await page.getByRole("button", { name: "Continue" }).click();
  await page.getByLabel("Subject").fill("50% off, instead of 5%");
  await page.getByRole("button", { name: "Continue" }).click();
  await page.getByLabel("I checked these. Send anyway.").check();
  await page.getByRole("button", { name: "Send now…" }).click();
  await dialog.getByRole("heading", { name: "Send to 30 contacts now?" }).waitFor();
  await dialog.getByRole("button", { name: "Send now" }).click();
  // The first recipients have the email when its author notices the mistake.
  await page.getByRole("row").getByText("Delivered").first().waitFor();
  await page.getByRole("button", { name: "Cancel sending…" }).click();
  await dialog.getByRole("button", { name: "Cancel sending" }).click();

  const outcome = page.getByText(/^Canceled after/);
  await outcome.waitFor();
  const got: string[] = [];
  for (const address of addresses) if ((await receivedBy(project, address)).length > 0) got.push(address);
  expect(got.length).toBeGreaterThan(0);
  const missed = addresses.length - got.length;
  expect(missed).toBeGreaterThan(1);
  await expect
    .poll(() => outcome.innerText())
    .toBe(`Canceled after ${got.length} of 30 emails. ${missed} recipients were not emailed.`);
  // The list names both groups, and the rest doesn't leave later.
  await page.reload();
  const filters = page.getByRole("group", { name: "Status" });
  const listed = async (status: string) => {
    await filters.getByRole("button", { name: new RegExp(`^${status}`) }).click();
    await page.waitForURL(/status=/);
    const links = page.getByRole("table").last().getByRole("link");
    return async () => (await links.allInnerTexts()).toSorted();
  };
  await expect.poll(await listed("Delivered")).toEqual(got.toSorted());
  const others = addresses.filter((address) => !got.includes(address));
  await expect.poll(await listed("Skipped")).toEqual(others.toSorted());
  await page.getByText("The campaign was canceled.").and(page.locator(":visible")).first().waitFor();
  await page.getByRole("link", { name: "All campaigns" }).click();
  await page.getByRole("row", { name: NAME }).getByText("Canceled").waitFor();
  expect(faults).toEqual([]);
});

/**
 * The largest number of actions for a newsletter from a blank page. In three minutes each of them may take 7.5 s on average: two or three to
 * find and click something, and about fifteen to type a line.
 */
const ACTIONS_MAX = 23;

test("a newsletter is written from a blank page and sent within 23 actions", async () => {
  const { page, project, faults } = await openCampaigns();
  const dialog = page.getByRole("dialog");
  const email = page.getByRole("group", { name: "Email content" });
  let actions = 0;
  const click = async (target: Locator) => {
    actions++;
    await target.click();
  };
  /** Types where the focus is, after a click or because the page put it there. */
  const type = async (text: string) => {
    actions++;
    await page.keyboard.type(text);
  };
  const press = async (key: string) => {
    actions++;
    await page.keyboard.press(key);
  };
  const clickButton = (name: string) => click(page.getByRole("button", { name, exact: true }));
  const addBlock = async (name: string) => {
    await clickButton("Add block");
    await click(page.getByRole("menuitem", { name, exact: true }));
    // The closing menu gives the focus to the block, faster than a person types.
    await email.locator(":focus").waitFor();
  };

  await clickButton("New campaign");
  await type("December news");
  actions++;
  await dialog.getByLabel("Start from").selectOption({ label: "Blank" });
  await press("Enter");
  await clickButton("Continue");
  // The placeholder of the subject needs no deletion.
  await click(page.getByLabel("Subject"));
  await type("Fresh bread in December");
  await press("Tab");
  await type("Three new loaves");
  await click(email.getByText("Write here."));
  await press("Control+a");
  await type("This month we bake rye, walnut and seeded bread.");
  await email.getByText("We add this footer when the email is sent.").waitFor();
  await addBlock("Button");
  await type("See the loaves");
  await click(page.getByLabel("Link", { exact: true }));
  await press("Control+a");
  await type("https://bakery.example.org/loaves");
  await clickButton("Continue");
  await clickButton("Send now…");
  await click(dialog.getByRole("button", { name: "Send now" }));

  await page.getByText(/^Sent .*\d{4}/).waitFor();
  for (const address of ["ada@example.com", "grace@example.com"])
    expect(await receivedBy(project, address)).toEqual(["Fresh bread in December"]);
  expect(await receivedBy(project, "gone@example.com")).toEqual([]);
  const [sent] = await server.rows<{ body: string }>(
    "select body from campaigns where project_id = $1",
    project.id,
  );
  for (const text of [
    "Three new loaves",
    "rye, walnut and seeded bread.",
    "See the loaves",
    "https://bakery.example.org/loaves",
  ])
    expect(sent?.body).toContain(text);
  expect(sent?.body).not.toContain("Write here.");
  expect(actions).toBeLessThanOrEqual(ACTIONS_MAX);
  expect(faults).toEqual([]);
});

test("a scheduled campaign becomes a draft again, and is copied and deleted from the list", async () => {
  const { page, faults } = await openCampaigns();
  const dialog = page.getByRole("dialog");
  await createDraft(page);
  await page.getByRole("button", { name: "Review and send" }).click();
  // Nothing was written, so the placeholder text has to be confirmed.
  await page.getByLabel("I checked these. Send anyway.").check();
  await page.getByRole("button", { name: "Schedule…" }).click();
  await dialog
    .getByRole("button", { name: /^Tomorrow/ })
    .first()
    .click();
  await dialog.getByRole("button", { name: /^Schedule for/ }).click();
  await page.getByRole("heading", { name: /^Scheduled for/ }).waitFor();
  await page.getByRole("button", { name: "Move back to draft" }).click();
  await page.getByRole("button", { name: "Schedule…" }).waitFor();

  await page.getByRole("link", { name: "All campaigns" }).click();
  await page.getByRole("button", { name: `Actions for ${NAME}` }).click();
  await page.getByRole("menuitem", { name: "Duplicate" }).click();
  await page.getByText("2 of 3").waitFor();
  await page.getByRole("link", { name: "All campaigns" }).click();
  await page.getByText("2 campaigns").waitFor();
  await page.getByRole("button", { name: `Actions for ${NAME}`, exact: true }).click();
  await page.getByRole("menuitem", { name: "Delete" }).click();
  await page.getByText("1 campaign", { exact: true }).waitFor();
  expect(faults).toEqual([]);
});

test("the audience counts as saved only when it is, and a failed save is sent again", async () => {
  const { page, project, faults } = await openCampaigns();
  await createDraft(page);
  await page.getByText("Saved", { exact: true }).waitFor();
  let isDown = true;
  await page.route("**/campaigns/*", (route) =>
    isDown && route.request().method() === "PUT" ? route.abort() : route.continue(),
  );
  await page.getByLabel("Custom filter").check();
  await page.getByRole("combobox", { name: "Field" }).click();
  await page.getByRole("option", { name: "Email address" }).click();
  await page.getByLabel("Value").fill("ada@example.com");
  await page.getByText("We can't reach the server.").waitFor();
  await page.getByText("Unsaved changes").waitFor();
  expect(await page.getByRole("button", { name: "Continue" }).isDisabled()).toBe(true);
  isDown = false;
  // Sent with the next save, or by the retry button.
  await page.getByLabel("Type", { exact: true }).selectOption({ label: "Transactional" });
  await page.getByText("Saved", { exact: true }).waitFor();
  await page.getByText("1 of 1").waitFor();
  isDown = true;
  await page.getByLabel("Everyone").check();
  await page.getByText("Unsaved changes").waitFor();
  isDown = false;
  await page.getByRole("button", { name: "Try again" }).click();
  await page.getByText("3 of 3").waitFor();
  const choices = "select audience_type, kind, audience_filter from campaigns where project_id = $1";
  expect(await server.rows(choices, project.id)).toEqual([
    { audienceType: "ALL", kind: "TRANSACTIONAL", audienceFilter: null },
  ]);
  // A campaign larger than what the cap leaves is refused when it is sent, so its audience says so.
  const cap = async (campaigns: number) => {
    const path = `/users/@me/projects/${project.id}/billing-limits`;
    await server.call("PUT", path, project.bySession, { campaigns });
    await page.reload();
    await page.getByText("3 of 3").waitFor();
  };
  const warning = page.getByRole("alert").filter({ hasText: "The monthly cap leaves 2 campaign emails" });
  await cap(2);
  await warning.getByRole("link", { name: "View usage" }).waitFor();
  const caps = page.waitForResponse((response) => response.url().endsWith("/billing-limits"));
  await cap(3);
  await caps;
  await warning.waitFor({ state: "detached" });
  expect(faults).toEqual([]);
});

test("the home page links to everything that waits for a decision", async () => {
  const { page, project, faults } = await openCampaigns();
  const mail = { to: "ada@example.com", from: "news@sandbox.localhost", subject: "Lost", body: "<p>Hi</p>" };
  await server.call("POST", "/v1/send", project.byKey, mail);
  await expect.poll(() => receivedBy(project, "ada@example.com")).toEqual(["Lost"]);
  await server.rows("update emails set status = 'UNCONFIRMED' where project_id = $1", project.id);
  // The local mailbox performs no DNS checks, so simulate a lost verification.
  await page.route("**/domains/project/*", async (route) => {
    const response = await route.fetch();
    const [domain] = (await response.json()) as [object];
    const lost = {
      domain: "lost.example.com",
      verified: false,
      lastErrorParts: [dnsMessage("dkim.missing")],
    };
    await route.fulfill({ json: [{ ...domain, ...lost }] });
  });
  await page.getByRole("link", { name: "Home" }).click();
  const needed = page.getByRole("alert");
  await needed.getByText("You can't send from lost.example.com:").waitFor();
  await needed.getByRole("link", { name: "Resolve" }).click();
  await page.getByRole("heading", { level: 1, name: "Emails" }).waitFor();
  await page.getByRole("row", { name: "Lost" }).getByRole("link").first().click();
  await page.getByText("The mail server didn't confirm this email").waitFor();
  await page.getByRole("link", { name: "Home" }).click();
  await needed.getByRole("link", { name: "View DNS records" }).click();
  await page.getByRole("heading", { name: "lost.example.com" }).waitFor();
  expect(faults).toEqual([]);
});

/** A made-up email in the style of Mailchimp's editor. */
const MAILCHIMP_HTML = `<!doctype html>
<html lang="en"><head><title>*|MC:SUBJECT|*</title></head><body>
<!--*|IF:MC_PREVIEW_TEXT|*--><span style="display:none">*|MC_PREVIEW_TEXT|*</span><!--*|END:IF|*-->
<h1>Dear *|FNAME|*</h1>
*|IF:PLAN=pro|*<p>Your beans are roasted on Monday.</p>*|ELSE:|*<p>Try the roastery for a month.</p>*|END:IF|*
<p><a href="https://acme.example/shop?for=*|EMAIL|*">Shop</a></p>
<p>&copy; *|CURRENT_YEAR|* *|LIST:COMPANY|*, *|LIST:ADDRESS|*</p>
<p><a href="*|UPDATE_PROFILE|*">Preferences</a> <a href="*|UNSUB|*">Unsubscribe</a></p>
</body></html>`;

test("a Mailchimp newsletter is blocked, converted with one click, and previewed with values", async () => {
  const { page, project, faults } = await openCampaigns();
  await server.call("PATCH", `/users/@me/projects/${project.id}`, project.bySession, {
    postalAddress: "1 High Street, London",
  });
  for (const email of ["ada@example.com", "grace@example.com"])
    await server.call("POST", "/contacts", project.byKey, { email, data: { plan: "pro" } });
  await page.reload();
  await createDraft(page);
  await page.getByRole("button", { name: "Continue" }).click();
  await page.getByLabel("Subject").fill("News for *|FNAME|*");
  await writeHtml(page, MAILCHIMP_HTML);
  const banner = page.getByRole("region", { name: "Merge tags" });
  await banner.getByText("This email contains Mailchimp merge tags.").waitFor();
  await page.getByText("Saved", { exact: true }).waitFor();

  // Every tag blocks the campaign and links to its line.
  await page.getByRole("button", { name: "Continue" }).click();
  await page.getByRole("heading", { name: "Not ready" }).waitFor();
  expect(await page.getByRole("button", { name: "Send now…" }).isDisabled()).toBe(true);
  await page.getByLabel("I checked these. Send anyway.").check();
  expect(await page.getByRole("button", { name: "Send now…" }).isDisabled()).toBe(false);
  const finding = page.getByRole("listitem").filter({ hasText: "*|UNSUB|* is a merge tag of Mailchimp" });
  await finding.getByText("Line 8").waitFor();
  await finding.getByRole("button", { name: "Content" }).click();
  expect(new URL(page.url()).searchParams.get("line")).toBe("8");
  await expect.poll(() => page.locator(".cm-content:focus").count()).toBe(1);

  const convert = banner.getByRole("button", { name: "Convert to Postloft variables" });
  await convert.click();
  await banner.getByText("merge tags converted.").waitFor();
  expect(await page.getByLabel("Subject").inputValue()).toBe("News for {{firstName}}");
  await banner.getByRole("button", { name: "Undo" }).click();
  expect(await page.getByLabel("Subject").inputValue()).toBe("News for *|FNAME|*");
  await expect.poll(() => htmlOf(page).textContent()).toContain("*|UNSUB|*");
  await convert.click();
  await page.getByText("Saved", { exact: true }).waitFor();

  await page.getByRole("button", { name: "Preview as…" }).click();
  await page.getByRole("dialog").getByRole("button", { name: "ada@example.com" }).click();
  const preview = page.frameLocator("iframe");
  await preview.getByRole("heading", { name: "Dear You" }).waitFor();
  await preview.getByText("Your beans are roasted on Monday.").waitFor();
  await preview.getByText(/^© \d{4} .+, 1 High Street, London$/).waitFor();
  expect(await preview.locator("body").textContent()).not.toContain("*|");
  expect(await preview.getByRole("link", { name: "Shop" }).getAttribute("href")).toContain("ada@example.com");
  await page.getByRole("button", { name: "Continue" }).click();
  await page.getByText("Ready to send, with suggestions").waitFor();
  expect(faults).toEqual([]);
});
