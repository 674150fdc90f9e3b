// Tests the dashboard in a real browser, from sign-up to a delivered email.
import type { BrowserContext, Page } from "playwright-core";
import { afterAll, expect, test } from "vitest";
import { simulatePlainHttp, writeHtml } from "./browser.ts";
import { useBrowser } from "./use-browser.ts";
import { readPlatformEmails } from "../server/src/testing/platform-emails.ts";
import { fromBase32 } from "../server/src/testing/base32.ts";
import { FAKE_CLIENT, startIdentityFake } from "../server/src/testing/identity-fake.ts";
import { startStripeFake } from "../server/src/testing/stripe-fake.ts";
import { useTestServer } from "../server/src/testing/test-server.ts";
import { drawWorkflow } from "../server/src/testing/workflow-fixture.ts";
import { codeAt } from "../server/src/users/second-factor/totp.ts";

const identities = await startIdentityFake();
const stripe = await startStripeFake("sk_test_1");
const server = useTestServer({
  STRIPE_SECRET_KEY: "sk_test_1",
  STRIPE_WEBHOOK_SECRET: "whsec_1",
  STRIPE_PRICE: "price_1",
  STRIPE_API_URL: stripe.url,
  OIDC_ISSUER: identities.url,
  OIDC_CLIENT_ID: FAKE_CLIENT.id,
  OIDC_CLIENT_SECRET: FAKE_CLIENT.secret,
  OIDC_NAME: "Acme ID",
});
const browser = useBrowser();
afterAll(async () => {
  await identities.close();
  await stripe.close();
});

async function signUp(page: Page, email: string, url = server.url): Promise<void> {
  await page.goto(`${url}/app`);
  await page.getByRole("link", { name: "Create account" }).click();
  await page.getByLabel("Email").fill(email);
  await page.getByLabel("Password").fill("correct horse battery staple");
  await page.getByRole("button", { name: "Create account" }).click();
  await page.getByLabel("Project name").fill("Acme <b>& Söhne</b>");
  await page.getByRole("button", { name: "Create project" }).click();
  await page.getByRole("heading", { name: "Getting started" }).waitFor();
}

async function addContact(page: Page, address: string): Promise<void> {
  await page.getByRole("link", { name: "Contacts", exact: true }).click();
  await page.getByRole("button", { name: "Add contact" }).click();
  const dialog = page.getByRole("dialog");
  await dialog.getByLabel("Email address").fill(address);
  await dialog.getByRole("button", { name: "Add contact" }).click();
  await page.getByRole("heading", { name: address }).waitFor();
}

test("sign-up by email works, sign-out clears drafts in all tabs, and the account is deleted", async () => {
  // A separate server that fails to send, because its outage would appear on every page of the tests below.
  const leaving = await server.startAnother({ MAIL_TRANSPORT: "smtp://127.0.0.1:9", ROLES: "api" });
  const page = await (await browser.newContext()).newPage();
  const email = "by-email@example.com";
  const password = "correct horse battery staple";
  await page.goto(`${leaving.url}/app/sign-up`);
  await page.getByLabel("Email").fill(email);
  await page.getByRole("button", { name: "Continue" }).click();
  await page.getByText(`We sent a link to ${email}`).waitFor();
  const [mail] = await readPlatformEmails(server.pool, { to: email });
  await page.goto(/http\S+\/account\/sign-up\/\S+/.exec(mail?.text ?? "")?.[0] ?? "");
  await page.getByLabel("Choose a password").fill(password);
  await page.getByRole("button", { name: "Create account" }).click();
  await page.getByRole("link", { name: "Sign in" }).click();
  const signIn = async () => {
    await page.getByLabel("Email").fill(email);
    await page.getByLabel("Password").fill(password);
    await page.getByRole("button", { name: "Sign in", exact: true }).click();
  };
  await signIn();
  await page.getByRole("button", { name: "Delete account" }).waitFor();
  const tab = await page.context().newPage();
  await tab.goto(page.url());
  await tab.getByRole("button", { name: "Sign out" }).waitFor();
  for (const one of [page, tab])
    await one.evaluate(() => {
      for (const store of [sessionStorage, localStorage])
        for (const name of ["postloft.draft.of.it", "postloft.imported-file.of", "postloft.theme"])
          store.setItem(name, "dark");
    });
  await page.getByRole("button", { name: "Sign out" }).click();
  await page.getByRole("button", { name: "Sign in", exact: true }).waitFor();
  for (const one of [page, tab])
    await expect
      .poll(() => one.evaluate(() => [Object.keys(sessionStorage), Object.keys(localStorage)].flat()))
      .toEqual(["postloft.theme", "postloft.theme"]);
  await tab.close();
  await signIn();
  await page.getByRole("button", { name: "Delete account" }).click();
  const dialog = page.getByRole("dialog");
  await dialog.getByLabel(`Type ${email} to confirm`).fill(email);
  await dialog.getByLabel("Current password").fill(password);
  await dialog.getByRole("button", { name: "Delete account" }).click();
  await page.getByRole("heading", { name: "Sign in to Postloft" }).waitFor();
  await signIn();
  expect(await page.getByRole("alert").textContent()).toContain("password");
});

test("an unconfirmed address invites no one by email, and the dialog sends the confirmation email", async () => {
  const leaving = await server.startAnother({ MAIL_TRANSPORT: "smtp://127.0.0.1:9", ROLES: "api" });
  const { id, owner } = await server.createProject(await server.signUp());
  const context = await browser.newContext({ baseURL: leaving.url });
  const { email, password } = owner;
  await context.request.post("/auth/login", { data: { email, password } });
  const page = await context.newPage();
  await page.goto(`/app/${id}/settings?tab=members`);
  await page.getByRole("button", { name: "Invite" }).click();
  const dialog = page.getByRole("dialog");
  await dialog.getByLabel("Email").fill("stranger@example.com");
  await dialog.getByRole("button", { name: "Invite" }).click();
  await dialog.getByText("Your email address is not confirmed yet.").waitFor();
  await dialog.getByRole("button", { name: "Send confirmation email" }).click();
  await dialog.getByText(`Confirmation email sent to ${email}`).waitFor();
  const mails = await readPlatformEmails(server.pool, { to: email, subject: /^Confirm/ });
  expect(mails.at(-1)?.text).toContain(`The account ${email} asked to confirm its address`);
});

test("an account, a project, a contact and a mail with the key on the page; reload and a lost session keep the place", async () => {
  const context = await browser.newContext();
  const page = await context.newPage();
  const faults: string[] = [];
  page.on("pageerror", (error) => faults.push(error.message));
  page.on("console", (said) => /Content.Security.Policy/i.test(said.text()) && faults.push(said.text()));
  await signUp(page, "story@example.com");
  expect(await page.getByRole("heading", { level: 1 }).textContent()).toBe("Acme <b>& Söhne</b>");

  await page.getByText("No delays").waitFor();
  // One step after the other is open; what a program sent is seen without anybody asking.
  await page.getByText("1 of 4 done").waitFor();
  await page.getByText("Waiting for your first email…").waitFor();
  await page.getByRole("button", { name: "Python" }).click();
  await page.getByText("import requests").waitFor();
  const projectId = new URL(page.url()).pathname.split("/")[2] ?? "";
  const firstMail = { to: "hedy@example.com", from: "hello@sandbox.localhost", subject: "First", body: "1" };
  await page.request.post(`${server.url}/v1/send`, {
    headers: { "x-project-id": projectId },
    data: firstMail,
  });
  await page.getByText("2 of 4 done").waitFor();
  await page.getByText(/^Sent .*\d/).waitFor();
  // The step stays open, because it leads to the email.
  await page.getByRole("link", { name: "View emails" }).waitFor();
  await page.getByRole("link", { name: "Open the mailbox" }).waitFor();
  await page.getByRole("button", { name: "Continue" }).click();
  await page.getByRole("link", { name: "Add domain" }).waitFor();
  await page.getByRole("button", { name: "Skip step" }).click();
  await page.getByRole("button", { name: "Send test email" }).click();
  await page.getByRole("status").getByText("Delivered").waitFor();
  await page.getByText("You're all set.").waitFor();
  await page.reload();
  await page.getByRole("button", { name: "Send test email" }).click();
  expect(await page.getByRole("heading", { name: "Getting started" }).count()).toBe(0);
  await page.getByText("250 2.0.0 kept in the local mailbox").waitFor();
  // A mail in doubt: what is said of it counts at once, so it is asked first.
  await page.getByRole("link", { name: "View details" }).click();
  await page.waitForURL(/\/emails\//);
  const mailId = new URL(page.url()).pathname.split("/").at(-1) ?? "";
  await server.rows("update emails set status = 'UNCONFIRMED' where id = $1", mailId);
  await page.reload();
  await page.getByRole("button", { name: "Mark as failed…" }).click();
  await page.getByRole("dialog").getByRole("button", { name: "Cancel" }).click();
  await page.getByRole("button", { name: "Mark as failed…" }).click();
  await page.getByRole("dialog").getByRole("button", { name: "Mark as failed" }).click();
  await page.getByText("Resolved manually").waitFor();

  await addContact(page, "ada@example.com");
  await page.getByRole("button", { name: "Unsubscribe" }).click();
  await page.getByRole("button", { name: "Subscribe", exact: true }).waitFor();
  await page.getByRole("link", { name: "All contacts" }).click();
  await page.getByRole("button", { name: "Subscribed", exact: true }).click();
  await page.getByText("No matching contacts").waitFor();
  await page.reload();
  await page.getByText("No matching contacts").waitFor();
  await page.route("**/users/@me/projects", (route) => route.fulfill({ status: 403 }));
  await page.reload();
  await page.getByText("Unexpected response from the server (403). Try again.").waitFor();
  await page.unroute("**/users/@me/projects");
  await page.getByRole("button", { name: "Try again" }).click();
  await page.getByText("No matching contacts").waitFor();
  await page.goBack();
  await page.getByRole("link", { name: "ada@example.com" }).waitFor();

  await page.getByRole("link", { name: "API keys" }).click();
  await page.getByRole("button", { name: "Show secret key" }).click();
  const key = (await page.getByText(/^sk_\w+$/).textContent()) ?? "";
  const sent = await server.call(
    "POST",
    "/v1/send",
    { key },
    {
      to: "ada@example.com",
      from: "hello@sandbox.localhost",
      subject: "Hello",
      body: "<p>It works.</p>",
    },
  );
  expect(sent.status).toBe(200);
  await page.goBack();
  await page.getByRole("link", { name: "ada@example.com" }).click();
  await page.getByRole("group", { name: "Section" }).getByRole("button", { name: "Emails" }).click();
  await page.getByRole("link", { name: "Hello", exact: true }).click();
  await page.getByRole("heading", { level: 1, name: "Hello" }).waitFor();
  await page.getByRole("button", { name: "Headers" }).click();
  await page.getByText("All headers, as received by the local mailbox.").waitFor();
  await page.locator("dd", { hasText: "hello@sandbox.localhost" }).last().waitFor();
  await page.getByRole("link", { name: "API keys" }).click();
  await page.getByRole("button", { name: "Show secret key" }).click();

  await page.getByRole("button", { name: "New key" }).click();
  await page.getByLabel("Name").fill("Staging");
  await page.getByLabel("Access").selectOption({ label: "Test emails" });
  await page.getByRole("button", { name: "Create key" }).click();
  const testKey = (await page.getByRole("dialog").locator("code").textContent()) ?? "";
  await page.getByRole("button", { name: "Done" }).click();
  const messages = () => server.call("GET", "/mailbox/messages", { key: testKey });
  expect((await messages()).status).toBe(200);
  await page.getByRole("button", { name: "Revoke Staging" }).click();
  await page.getByRole("button", { name: "Revoke key" }).click();
  await page.getByText("No scoped keys yet.").waitFor();
  expect((await messages()).status).toBe(401);

  await page.getByRole("button", { name: "Replace both keys" }).click();
  const replacing = page.getByRole("dialog", { name: "Replace both keys?" });
  await replacing.getByRole("textbox").fill("Acme");
  expect(await replacing.getByRole("button", { name: "Replace both keys" }).isDisabled()).toBe(true);
  await replacing.getByRole("textbox").fill("Acme <b>& Söhne</b>");
  await replacing.getByRole("button", { name: "Replace both keys" }).click();
  await page.getByText("Keys replaced").waitFor();
  expect((await server.call("GET", "/contacts", { key })).status).toBe(401);
  const newKey = (await page.getByText(/^sk_\w+$/).textContent()) ?? "";
  expect((await server.call("GET", "/contacts", { key: newKey })).status).toBe(200);

  await context.clearCookies();
  await page.getByRole("link", { name: "Templates" }).click();
  const renewal = page.getByRole("dialog", { name: "Your session has ended" });
  await renewal.getByRole("link", { name: "Continue with Acme ID" }).waitFor();
  await renewal.getByLabel("Email").fill("story@example.com");
  await renewal.getByLabel("Password").fill("correct horse battery staple");
  await renewal.getByRole("button", { name: "Sign in", exact: true }).click();
  await page.getByText("No templates yet").waitFor();

  await page.getByRole("link", { name: "Domains" }).click();
  await page.getByRole("heading", { name: "sandbox.localhost" }).waitFor();
  await page.getByRole("button", { name: "Add domain" }).click();
  await page.getByLabel("Domain", { exact: true }).fill("story.example.com");
  await page.getByRole("dialog").getByRole("button", { name: "Add domain" }).click();
  await page.getByRole("button", { name: "Rotate key" }).click();
  const rotating = page.getByRole("dialog", { name: "Rotate DKIM key?" });
  await rotating.getByRole("button", { name: "Rotate key" }).click();
  await page.getByText("The next key. We sign with it as soon as").waitFor();
  expect(await page.getByRole("button", { name: "Rotate key" }).isDisabled()).toBe(true);
  // With the local mailbox DNS is not queried.
  const domains = "**/domains/project/*";
  await page.route(domains, async (route) => {
    const [own, ...others] = (await (await route.fetch()).json()) as Array<{ records: object[] }>;
    const lookup = { lookedUpAt: "2026-01-02T03:04:05.000Z", servers: ["9.9.9.9", "[::1]:5353"] };
    const records = own?.records.map((record) => ({ ...record, ...lookup }));
    await route.fulfill({ json: [{ ...own, records, lastCheckedAt: lookup.lookedUpAt }, ...others] });
  });
  await page.reload();
  await page.getByText("by 9.9.9.9, [::1]:5353").first().waitFor();
  await page.unroute(domains);
  // The code sample uses your own domain as soon as there is one.
  await page.getByRole("button", { name: "Check now" }).click();
  // DNS is not asked while mail stays here, and nobody is told that it was.
  await page.getByText("story.example.com is assumed verified").waitFor();
  const card = page.locator("section", { has: page.getByRole("heading", { name: "story.example.com" }) });
  await card.getByText("Assumed verified").waitFor();
  await card.getByText("Assumed found").first().waitFor();
  expect(await card.getByText(/^(Verified|Found)$/).count()).toBe(0);
  await page.getByText("so we don't check DNS.").waitFor();
  await page.getByRole("link", { name: "API keys" }).click();
  await page.getByText('"from": "hello@story.example.com"').waitFor();
  expect(faults).toEqual([]);
});

test("a segment shows live matches, explains a contact and keeps value types", async () => {
  const context = await browser.newContext();
  const page = await context.newPage();
  await signUp(page, "segments@example.com");
  for (const address of ["ada@example.com", "grace@example.net"]) await addContact(page, address);
  const projectId = new URL(page.url()).pathname.split("/")[2] ?? "";
  const written = await page.request.post(`${server.url}/contacts`, {
    headers: { "x-project-id": projectId },
    data: { email: "ada@example.com", data: { zip: "01234", "<script>": "مرحبا" } },
  });
  expect(written.status()).toBe(200);
  await page.getByRole("link", { name: "Segments", exact: true }).click();
  await page.getByRole("link", { name: "New segment" }).first().click();
  await page.getByLabel("Name").fill("At example.com");
  await page.getByRole("combobox", { name: "Field" }).click();
  await page.getByRole("option", { name: "Email address" }).click();
  await page.getByLabel("Operator").selectOption({ label: "contains" });
  await page.getByLabel("Value").fill("example.com");
  await page.getByText("1 contact", { exact: true }).waitFor();

  await page.getByRole("button", { name: "Add group" }).click();
  await page.getByRole("combobox", { name: "Field" }).nth(1).click();
  await page.getByRole("combobox", { name: "Search" }).fill("zip");
  await page.locator("[role=option][data-highlighted]", { hasText: "zip" }).waitFor();
  await page.keyboard.press("Enter");
  await page.getByLabel("Operator").nth(1).selectOption({ label: "is one of" });
  await page.getByLabel("Add value").fill("01234");
  await page.getByLabel("Add value").press("Enter");
  await page.getByLabel("Add value").fill("5, مرحبا");
  await page.getByLabel("Add value").press("Enter");
  await page
    .getByText("Contacts where Email address contains “example.com” and zip is one of “01234” or “5, مرحبا”.")
    .waitFor();
  await page.getByRole("button", { name: "Choose a contact…" }).click();
  await page.getByRole("button", { name: "grace@example.net" }).click();
  await page.getByText("Value: grace@example.net").waitFor();
  await page.getByText("Doesn't match", { exact: true }).waitFor();
  await page.getByRole("button", { name: "Create segment" }).click();
  await page.getByRole("heading", { level: 1, name: "At example.com" }).waitFor();
  await page.reload();
  await page.getByRole("link", { name: "ada@example.com" }).first().waitFor();
  expect(await page.getByLabel("Value").first().inputValue()).toBe("example.com");
  const [stored] = await server.rows<{ filters: unknown }>(
    "select filters from segments where name = 'At example.com'",
  );
  expect(stored?.filters).toEqual({
    operator: "AND",
    conditions: [
      { field: "email", operator: "contains", value: "example.com" },
      { operator: "OR", conditions: [{ field: "data.zip", operator: "in", value: ["01234", "5, مرحبا"] }] },
    ],
  });

  await page.getByRole("link", { name: "ada@example.com" }).first().click();
  const tabs = page.getByRole("group", { name: "Section" });
  await tabs.getByRole("button", { name: "Segments" }).click();
  await page.locator("main").getByRole("link", { name: "At example.com" }).waitFor();
  await tabs.getByRole("button", { name: "Workflows" }).click();
  await page.getByText("Not in a workflow yet").waitFor();
  await tabs.getByRole("button", { name: "Emails" }).click();
  await page.getByText("No emails yet").waitFor();
  await tabs.getByRole("button", { name: "Workflows" }).click();
  const workflow = await drawWorkflow(server.database, projectId, {
    name: "Welcome",
    steps: [
      ["Trigger", "TRIGGER"],
      ["A break", "DELAY", { amount: 3, unit: "days" }],
    ],
    links: [["Trigger", "A break"]],
  });
  const { id: contactId } = (await written.json()) as { id: string };
  await page.request.post(`${server.url}/workflows/${workflow.id}/executions`, {
    headers: { "x-project-id": projectId },
    data: { contactId },
  });
  await page.reload();
  await page.getByText(/^A break · continues /).waitFor();
  await page.getByText("Welcome", { exact: true }).waitFor();
  await tabs.getByRole("button", { name: "Subscription" }).click();
  const unsubscribeUrl = (await page.getByText(/\/unsubscribe\//).textContent()) ?? "";
  expect(
    (await page.request.post(unsubscribeUrl, { form: { "List-Unsubscribe": "One-Click" } })).status(),
  ).toBe(200);
  await page.reload();
  await page.getByText(/^Unsubscribe button in the email app/).waitFor();
});

test("an import guesses columns, previews, survives reloads, and a bulk change affects all", async () => {
  const context = await browser.newContext();
  const page = await context.newPage();
  await signUp(page, "import@example.com");
  await page.getByRole("link", { name: "Contacts", exact: true }).click();
  await page.getByRole("link", { name: "Import" }).click();
  const choose = (name: string, buffer: Buffer) =>
    page.locator("input[type=file]").setInputFiles({ name, mimeType: "text/csv", buffer });
  await choose("people.zip", Buffer.from("504b0304", "hex"));
  await page.getByText("This ZIP file can't be read.").waitFor();
  await choose("unclosed.csv", Buffer.from('\nName;E-Mail\nBo;"bo@example.com\nCy;cy@example.com\n'));
  await page.getByText("Row 3 opens a quoted cell that is never closed.").waitFor();
  await choose(
    "faulty.csv",
    Buffer.from('Name;E-Mail\n\nBo;"bo@example.com" x\nCy;cy@example.com;z\nDi;d@example.com'),
  );
  await page.getByText("Row 3: There is text after a closing quote.").waitFor();
  await page.getByText("Row 4: The row has 3 cells but the file has 2 columns.").waitFor();
  await page.getByRole("button", { name: "Preview import" }).click();
  await page.getByRole("row", { name: "3 Bo There is text after a closing quote." }).waitFor();
  await page.getByRole("row", { name: "4 cy@example.com The row has 3 cells" }).waitFor();
  await page.getByRole("button", { name: "Choose another file" }).click();
  await choose("excel.csv", Buffer.from("Name;E-Mail\nMüller;mueller@example.com\n", "latin1"));
  await page.getByText("Do these look right? Müller").waitFor();
  await page.getByRole("button", { name: "Preview import" }).click();
  await page.getByText("Preview: nothing has changed").waitFor();
  await page.reload();
  await page.getByText("Preview: nothing has changed").waitFor();
  await page.goBack();
  await page.getByText("Preview: nothing has changed").waitFor({ state: "detached" });
  await page.getByLabel("Target of Name").waitFor();
  await page.goBack();
  await page.getByRole("link", { name: "Continue with this file" }).waitFor();
  const rows = Array.from(
    { length: 60 },
    (_, at) => `"Person ${at}, <b>";person${at}@example.com;pro;;${at}`,
  );
  const file = ["Name;E-Mail;Plan;Internal;Zip", ...rows, "نور;not an address;free;;007"].join("\n");
  await choose("people.csv", Buffer.from(file));
  await page.getByLabel("Target of Internal").waitFor();
  expect(await page.getByText("Preview: nothing has changed").count()).toBe(0);
  await page.getByText("Text: 1 · Number: 60").waitFor();
  await page.getByLabel("Type of Zip").selectOption({ label: "Text" });
  await page.getByLabel("Target of Internal").selectOption({ label: "Don't import" });
  await page.getByLabel("Field for Name").fill("fullName");
  await page.getByRole("button", { name: "Preview import" }).click();
  await page.getByText("Preview: nothing has changed").waitFor();
  expect(await server.rows("select 1 from contacts where email like 'person%'")).toHaveLength(0);
  await page.getByRole("button", { name: "Import 61 rows" }).click();
  await page.getByText("Import complete").waitFor();
  await page.goBack();
  await page.getByText("You already imported this file.").waitFor();
  await page.reload();
  await page.getByText("Choose the file again.").waitFor();
  await page.goForward();
  await page.getByText("Import complete").waitFor();
  await page.reload();
  await page.getByText("Import complete").waitFor();
  await page.getByRole("cell", { name: "not an address" }).waitFor();
  await page.getByRole("link", { name: "Import another file" }).click();
  await page.getByText("Choose a CSV file, or drop it here").waitFor();
  await page.goBack();
  const [known] = await server.rows<{ data: unknown }>(
    "select data from contacts where email = 'person7@example.com'",
  );
  expect(known?.data).toEqual({ fullName: "Person 7, <b>", plan: "pro", zip: "7" });

  await page.getByRole("link", { name: "All contacts" }).click();
  await page.getByRole("button", { name: "Columns" }).click();
  await page.getByRole("menuitem", { name: "fullName" }).click();
  await page.getByRole("cell", { name: "Person 7, <b>" }).waitFor();
  await page.reload();
  await page.getByRole("cell", { name: "Person 7, <b>" }).waitFor();
  await page.getByLabel("Select all shown").check();
  await page.getByRole("button", { name: "Select all 60 matches" }).click();
  await page.getByLabel("Select person59@example.com").uncheck();
  const chosen = page.getByRole("region", { name: "Selected contacts" });
  let isResponded = false;
  await page.route("**/contacts/bulk/*", (route) =>
    isResponded ? route.continue() : route.fulfill({ status: 403 }),
  );
  await chosen.getByRole("button", { name: "Unsubscribe" }).click();
  const asked = page.getByRole("dialog", { name: "Unsubscribe 59 contacts?" });
  await asked.getByRole("button", { name: "Unsubscribe" }).click();
  await page.getByRole("button", { name: "Try again" }).click();
  await page.getByText("Unexpected response from the server (403). Try again.").waitFor();
  isResponded = true;
  await page.getByText("59 updated, 0 unchanged, 0 failed.").waitFor();
  await page.reload();
  await page.getByText("59 updated, 0 unchanged, 0 failed.").waitFor();
  const saving = page.waitForEvent("download");
  await page.getByRole("button", { name: "Export" }).click();
  expect((await saving).suggestedFilename()).toBe("contacts.csv");
  await page.getByLabel("Select all shown").check();
  await page.getByRole("button", { name: "Select all 60 matches" }).click();
  await page.getByLabel("Select person59@example.com").uncheck();
  const [, projectId = ""] = /app\/([^/]+)/.exec(page.url()) ?? [];
  await context.request.post(`${server.url}/contacts`, {
    headers: { "x-project-id": projectId },
    data: { email: "late@example.com" },
  });
  const dialog = page.getByRole("dialog");
  const isSubscribed = async () =>
    (
      await server.rows<{ subscribed: boolean }>(
        "select subscribed from contacts where email = 'late@example.com'",
      )
    )[0]?.subscribed;
  for (const operation of ["Subscribe", "Unsubscribe", "Delete"]) {
    await chosen.getByRole("button", { name: operation, exact: true }).click();
    await dialog.getByRole("heading", { name: `${operation} 60 contacts?` }).waitFor();
    expect(await isSubscribed()).toBe(true);
    await page.keyboard.press("Escape");
    await dialog.waitFor({ state: "detached" });
  }
  await chosen.getByRole("button", { name: "Unsubscribe" }).click();
  await dialog.getByRole("button", { name: "Unsubscribe" }).click();
  await page.getByText("1 updated, 59 unchanged, 0 failed.").waitFor();
  expect(await isSubscribed()).toBe(false);
});

test("named resources open by name, and pages by shortcuts that can be turned off", async () => {
  const context = await browser.newContext();
  const page = await context.newPage();
  await signUp(page, "keys@example.com");
  await page.getByRole("button", { name: "Hide" }).click();
  await page.reload();
  await page.getByRole("button", { name: "Send test email" }).waitFor();
  expect(await page.getByRole("heading", { name: "Getting started" }).count()).toBe(0);
  await addContact(page, "ada@example.com");
  const heading = (name: string) => page.getByRole("heading", { level: 1, name }).waitFor();
  const palette = page.getByRole("combobox", { name: "Search and commands" });
  await page.keyboard.press("Control+k");
  await palette.waitFor();
  await page.keyboard.type("templ");
  await page.getByRole("option", { name: "Templates" }).waitFor();
  await page.keyboard.press("Enter");
  await heading("Templates");
  await page.keyboard.press("Control+k");
  await palette.waitFor();
  await page.keyboard.type("ada@");
  await page.getByRole("option", { name: "ada@example.com" }).waitFor();
  await page.keyboard.press("Enter");
  await heading("ada@example.com");
  await page.keyboard.type("gd");
  await heading("Domains");
  await page.keyboard.type("?");
  await page.getByLabel("Single-key shortcuts").uncheck();
  await page.keyboard.press("Escape");
  await page.getByRole("heading", { name: "Keyboard shortcuts" }).waitFor({ state: "detached" });
  await page.keyboard.type("gc");
  await page.keyboard.press("Control+k");
  expect(await page.locator("h1").textContent()).toBe("Domains");
  await palette.waitFor();
});

test("the palette creates resources, finds domains and emails, sets the theme and signs out", async () => {
  const context = await browser.newContext();
  const page = await context.newPage();
  await signUp(page, "palette@example.com");
  await page.getByRole("button", { name: "Send yourself a test email" }).click();
  await page.getByRole("button", { name: "Send test email" }).click();
  await page.getByRole("link", { name: "View details" }).waitFor();
  const palette = page.getByRole("combobox", { name: "Search and commands" });
  // On a busy browser, letters typed before the palette is drawn must still reach it.
  await page.evaluate(
    "const draw = requestAnimationFrame; requestAnimationFrame = (then) => draw(() => setTimeout(() => draw(then), 300))",
  );
  const choose = async (typed: string, name: string) => {
    await page.keyboard.press("Control+k");
    await palette.waitFor();
    await page.keyboard.type(typed);
    await page.getByRole("option", { name }).click();
    await palette.waitFor({ state: "detached" });
  };
  await choose("new temp", "New template");
  await page
    .getByRole("dialog", { name: "New template" })
    .getByLabel("Name", { exact: true })
    .fill("By name");
  await page.keyboard.press("Enter");
  await page.getByRole("heading", { level: 1, name: "By name" }).waitFor();
  await page.getByRole("dialog", { name: "New template" }).waitFor({ state: "detached" });
  for (const [typed, name, title] of [
    ["new camp", "New campaign", "New campaign"],
    ["new cont", "New contact", "Add contact"],
    ["add dom", "Add domain", "Add domain"],
  ] as const) {
    await choose(typed, name);
    await page.getByRole("dialog", { name: title }).waitFor();
    await page.keyboard.press("Escape");
    await page.getByRole("dialog", { name: title }).waitFor({ state: "detached" });
  }

  await choose("sandbox", "sandbox.localhost");
  await page.getByRole("heading", { level: 1, name: "Domains" }).waitFor();
  expect(new URL(page.url()).hash).toBe("#sandbox.localhost");
  await choose("palette@", "Test email to palette@example.com");
  await page.getByRole("heading", { level: 1, name: "Test email" }).waitFor();
  const emailId = new URL(page.url()).pathname.split("/").at(-1) ?? "";
  await choose("sandbox", "sandbox.localhost");
  await choose(emailId, "Test email to palette@example.com");
  await page.getByRole("heading", { level: 1, name: "Test email" }).waitFor();

  // A failed search is not reported as an empty result.
  await page.route("**/templates?*", (route) => route.fulfill({ status: 500, json: {} }));
  await page.keyboard.press("Control+k");
  await page.keyboard.type("welcome");
  await page.getByRole("dialog").getByRole("alert").waitFor();
  expect(await page.getByText("No results").count()).toBe(0);
  await page.unroute("**/templates?*");
  await page.getByRole("button", { name: "Try again" }).click();
  await page.getByText("No results").waitFor();
  await page.keyboard.press("Escape");
  // An address without a contact leads to the reasons why it got no email.
  await choose("gone@exmaple.com", "All emails to gone@exmaple.com");
  await page.getByText("No contact has this address. Check its spelling.").waitFor();
  await page.goBack();
  await palette.waitFor({ state: "detached" });

  await choose("dark", "Dark theme");
  // The dark theme applies before anything is shown, even on a slow connection.
  await page.addInitScript(
    "new MutationObserver(() => { globalThis.themedAtMs ??= performance.now(); }).observe(document, { attributeFilter: ['data-theme'], subtree: true })",
  );
  const line = await context.newCDPSession(page);
  const speed = { offline: false, downloadThroughput: -1, uploadThroughput: -1 };
  await line.send("Network.emulateNetworkConditions", { ...speed, latency: 400 });
  await page.reload();
  await page.getByRole("heading", { level: 1, name: "Test email" }).waitFor();
  const scheme = () => page.evaluate<string>("getComputedStyle(document.documentElement).colorScheme");
  await expect.poll(scheme).toBe("dark");
  await line.detach();
  const paintedAfterMs = "performance.getEntriesByName('first-paint')[0].startTime - themedAtMs";
  expect(await page.evaluate<number>(paintedAfterMs)).toBeGreaterThan(0);
  await choose("system th", "System theme");
  expect(await scheme()).toBe("light dark");
  await choose("sign o", "Sign out");
  await page.getByRole("heading", { name: "Sign in to Postloft" }).waitFor();
});

test("a second factor is turned on, requested at sign-in, and passed with a recovery code", async () => {
  const context = await browser.newContext();
  await simulatePlainHttp(context);
  const page = await context.newPage();
  await signUp(page, "factor@example.com");
  await page.getByRole("button", { name: "Signed in as factor@example.com" }).click();
  await page.getByRole("menuitem", { name: "Your account" }).click();
  await page.getByRole("button", { name: "Turn on" }).click();
  const dialog = page.getByRole("dialog");
  await dialog.getByLabel("Current password").fill("not the password");
  await page.getByRole("button", { name: "Continue" }).click();
  await page.getByText("The current password is wrong.").waitFor();
  await dialog.getByLabel("Current password").fill("correct horse battery staple");
  await page.getByRole("button", { name: "Continue" }).click();
  await page.getByRole("img", { name: "QR code" }).waitFor();
  const secret = fromBase32((await dialog.locator("code").textContent()) ?? "");
  await dialog.getByLabel("Code from the app").fill(codeAt(secret, Math.floor(Date.now() / 30_000)));
  await dialog.getByRole("button", { name: "Turn on" }).click();
  await page.getByRole("heading", { name: "Save your recovery codes" }).waitFor();
  const recoveryCode = (await dialog.getByRole("listitem").first().textContent()) ?? "";
  // A click outside does not close the dialog, and without clipboard access the codes can be read in full.
  await page.mouse.click(5, 5);
  await page.evaluate("document.execCommand = () => false");
  await page.getByRole("button", { name: "Copy recovery codes" }).click();
  const byHand = page.getByRole("dialog", { name: "Couldn't copy" });
  expect(await byHand.getByLabel("Text to copy").inputValue()).toContain(recoveryCode);
  expect(await page.evaluate("getSelection().toString()")).toContain(recoveryCode);
  await byHand.getByRole("button", { name: "Close" }).click();
  await page.evaluate("delete document.execCommand");
  await page.getByRole("button", { name: "Copy recovery codes" }).click();
  await page.getByRole("button", { name: "Copied" }).waitFor();
  await page.getByRole("button", { name: "I saved them" }).click();
  await page.getByText("10 recovery codes left.").waitFor();

  await context.clearCookies();
  await page.reload();
  await page.getByLabel("Email").fill("factor@example.com");
  await page.getByLabel("Password").fill("correct horse battery staple");
  await page.getByRole("button", { name: "Sign in", exact: true }).click();
  await page.getByLabel("Code from the app or recovery code").fill(recoveryCode);
  await page.getByRole("button", { name: "Sign in", exact: true }).click();
  expect(await page.getByText("9 recovery codes left.").textContent()).toBeTruthy();
});

/** Adds a virtual passkey device that always approves. */
async function withAuthenticator(context: BrowserContext, page: Page): Promise<void> {
  const authenticator = await context.newCDPSession(page);
  await authenticator.send("WebAuthn.enable");
  await authenticator.send("WebAuthn.addVirtualAuthenticator", {
    options: {
      protocol: "ctap2",
      transport: "internal",
      hasResidentKey: true,
      hasUserVerification: true,
      isUserVerified: true,
    },
  });
}

test("a passkey is added, signs in without a password, is renamed and removed", async () => {
  const context = await browser.newContext();
  const page = await context.newPage();
  await withAuthenticator(context, page);
  // Browsers do not support passkeys on IP addresses.
  await signUp(page, "passkey@example.com", server.url.replace("127.0.0.1", "localhost"));
  await page.getByRole("button", { name: "Signed in as passkey@example.com" }).click();
  await page.getByRole("menuitem", { name: "Your account" }).click();
  const account = page.url();
  await page.getByRole("button", { name: "Add passkey" }).click();
  const dialog = page.getByRole("dialog");
  await dialog.getByLabel("Name").fill("My laptop");
  await dialog.getByRole("button", { name: "Continue" }).click();
  await page.getByText("Never used").waitFor();

  await context.clearCookies();
  await page.goto(account);
  await page.getByRole("button", { name: "Sign in with a passkey" }).click();
  await page.getByText(/^Added .* Last used/).waitFor();
  await page.getByRole("button", { name: "Rename" }).click();
  await dialog.getByLabel("Name").fill("Old laptop");
  await dialog.getByRole("button", { name: "Save" }).click();
  await page.getByText("Old laptop", { exact: true }).waitFor();
  await page.getByRole("button", { name: "Remove" }).click();
  await dialog.getByRole("button", { name: "Remove" }).click();
  await page.getByText("Old laptop", { exact: true }).waitFor({ state: "detached" });
  expect(await page.getByRole("button", { name: "Rename" }).count()).toBe(0);
});

test("a passkey replaces the second-factor code after sign-in through another service", async () => {
  const context = await browser.newContext();
  const page = await context.newPage();
  await withAuthenticator(context, page);
  const origin = server.url.replace("127.0.0.1", "localhost");
  identities.person = { sub: "8", email: "katherine@example.com", email_verified: true };
  await page.goto(`${origin}/app`);
  await page.getByRole("link", { name: "Continue with Acme ID" }).click();
  await page.getByLabel("Project name").fill("Acme");
  await page.getByRole("button", { name: "Create project" }).click();
  await page.getByRole("heading", { name: "Getting started" }).waitFor();
  const account = `${page.url()}/account`;
  await page.goto(account);
  await page.getByRole("button", { name: "Add passkey" }).click();
  await page.getByRole("dialog").getByLabel("Name").fill("My laptop");
  await page.getByRole("dialog").getByRole("button", { name: "Continue" }).click();
  await page.getByText("Never used").waitFor();
  await server.rows(
    `insert into second_factors (user_id, sealed_secret, confirmed_at)
     select id, '', now() from users where email = $1`,
    identities.person.email,
  );
  await context.clearCookies();
  await page.goto(account);
  await page.getByRole("link", { name: "Continue with Acme ID" }).click();
  await page.getByRole("heading", { name: "Two-factor authentication" }).waitFor();
  await page.getByRole("button", { name: "Use a passkey instead" }).click();
  await page.getByText(/^Added .* Last used/).waitFor();
  expect(page.url()).toBe(account);
});

test("another service signs up, signs in, and is disconnected once there is a password", async () => {
  const context = await browser.newContext();
  const page = await context.newPage();
  identities.person = { sub: "7", email: "grace@example.com", email_verified: true };
  await page.goto(`${server.url}/app`);
  await page.getByRole("link", { name: "Continue with Acme ID" }).click();
  await page.getByLabel("Project name").fill("Acme");
  await page.getByRole("button", { name: "Create project" }).click();
  await page.getByRole("heading", { name: "Getting started" }).waitFor();
  await context.clearCookies();
  await page.goto(`${page.url()}/account`);
  await page.getByRole("link", { name: "Continue with Acme ID" }).click();
  await page.getByRole("heading", { name: "Your account" }).waitFor();
  await page.getByText("Your account has no password.", { exact: false }).waitFor();
  await page.getByRole("button", { name: "Disconnect" }).click();
  await page.getByText("This is the only way to sign in to your account.", { exact: false }).waitFor();
  await page.getByRole("button", { name: "Email me a link" }).click();
  await page.getByText("Email sent").waitFor();
  await server.rows(
    "update users set password_hash = 'set by mail' where email = $1",
    identities.person.email,
  );
  await page.reload();
  await page.getByLabel("New password").waitFor();
  await page.getByRole("button", { name: "Disconnect" }).click();
  await page.getByRole("link", { name: "Connect", exact: true }).click();
  await page.getByRole("button", { name: "Disconnect" }).waitFor();
  const connected = await server.rows("select email from identities where subject = '7'");
  expect(connected).toEqual([{ email: "grace@example.com" }]);
});

test("a subscription starts at Stripe, and the settings show invoices and the portal", async () => {
  const context = await browser.newContext();
  await context.route(/stripe\.com/, (request) => request.fulfill({ body: "a page of Stripe" }));
  const page = await context.newPage();
  await signUp(page, "payer@example.com");
  const settings = `${page.url()}/settings?tab=usage`;
  await page.goto(settings);
  await page.getByText("This project has no subscription.").waitFor();
  await page.getByText("No invoices yet.").waitFor();
  await page.getByRole("button", { name: "Subscribe" }).click();
  await page.waitForURL("https://checkout.stripe.com/**");
  const back = stripe.sent("POST /v1/checkout/sessions")?.["success_url"];
  expect(back?.replace("localhost", "127.0.0.1")).toBe(settings);

  const [customer = ""] = stripe.customers;
  stripe.setSubscription(customer, "active", { id: "sub_1" });
  stripe.addInvoice(customer, "paid");
  await server.rows(
    "update billing_customers set subscription_id = 'sub_1', subscription_status = 'active' where customer_id = $1",
    customer,
  );
  await page.goto(settings);
  await page.getByText(/^Next invoice \(estimate\): .*\d/).waitFor();
  await page.getByRole("region", { name: "Invoices" }).getByText("Paid").waitFor();
  await page.getByRole("button", { name: "Manage billing" }).click();
  await page.waitForURL("https://billing.stripe.com/**");
});

const openedWithin = (value: number, unit: string) =>
  encodeURIComponent(
    JSON.stringify({
      operator: "AND",
      conditions: [{ field: "event.opened", operator: "triggeredWithin", value, unit }],
    }),
  );

test("the dashboard uses the browser's language or the chosen one", async () => {
  const context = await browser.newContext({ locale: "de-AT" });
  const page = await context.newPage();
  await page.goto(`${server.url}/app/sign-in`);
  await page.getByRole("heading", { name: "Bei Postloft anmelden" }).waitFor();
  expect(await page.locator("html").getAttribute("lang")).toBe("de");
  await page.evaluate(`localStorage.setItem("postloft.language", "fr")`);
  await page.reload();
  await page.getByRole("heading", { name: "Se connecter à Postloft" }).waitFor();

  // Durations are inflected correctly in each language.
  const { id, owner } = server.project;
  const { email, password } = owner;
  await context.request.post(`${server.url}/auth/login`, { data: { email, password } });
  const says = async (language: string, filter: string, sentence: string) => {
    await page.evaluate(`localStorage.setItem("postloft.language", "${language}")`);
    await page.goto(`${server.url}/app/${id}/contacts?filter=${filter}`);
    await page.getByText(sentence).waitFor();
  };
  await says("de", openedWithin(30, "days"), "opened kam in den letzten 30 Tagen vor.");
  await says("es", openedWithin(3, "hours"), "opened ocurrió en las últimas 3 horas.");
  await says("es", openedWithin(1, "weeks"), "opened ocurrió en los últimos 7 días.");
  await page.goto(`${server.url}/app/${id}/reports?about=deliverability&days=365`);
  await page.getByText("Últimos 180 días").waitFor();
});

test("server messages about emails and files appear in the user's language", async () => {
  const context = await browser.newContext({ locale: "de-AT" });
  const page = await context.newPage();
  const { owner } = server.project;
  const project = await server.createProject(owner);
  const { email, password } = owner;
  await context.request.post(`${server.url}/auth/login`, { data: { email, password } });
  const opens = (path: string) => page.goto(`${server.url}/app/${project.id}/${path}`);
  const headers = { "x-project-id": project.id };
  const file = Buffer.from("email,subscribed\nnowhere,yes\nada@example.com,maybe\n");
  const upload = { file: { name: "people.csv", mimeType: "text/csv", buffer: file } };
  const queued = await context.request.post(`${server.url}/contacts/import`, { headers, multipart: upload });
  await opens(`contacts/import?job=${((await queued.json()) as { jobId: string }).jobId}`);
  await page.getByText("Die E-Mail-Adresse enthält kein „@“.").waitFor();
  await page.getByText('"maybe" in der Spalte subscribed ist kein bekannter Abonnementstatus.').waitFor();
  const mail = { subject: "NEWS FOR YOU", from: "news@sandbox.localhost", body: "<p>{{plam}}</p>" };
  const made = await context.request.post(`${server.url}/campaigns`, {
    headers,
    data: { ...mail, name: "News", audienceType: "ALL" },
  });
  const { data } = (await made.json()) as { data: { id: string } };
  await opens(`campaigns/${data.id}?step=review`);
  await page.getByText("Es gibt keine Empfänger. Wählen Sie andere.").waitFor();
  await page.getByText("Der Betreff besteht nur aus Großbuchstaben, was wie Spam wirkt.").waitFor();
  await page.getByText("Kein Kontakt hat „plam“").waitFor();
  expect(await page.getByText("No contact has").count()).toBe(0);
  await opens(`campaigns/${data.id}?step=content`);
  await writeHtml(page, "<p>\n{{#if plan}}</p>");
  await page.getByText("Zeile 2, Spalte 1: Dieser Block wird nie geschlossen.").waitFor();
  await opens(`campaigns/${project.id}`);
  await page.getByText("Kampagne nicht gefunden.").waitFor();
  const contact = await server.call<{ id: string }>("POST", "/contacts", project.byKey, {
    email: "grace@example.com",
  });
  await server.rows(
    `insert into events (project_id, id, contact_id, name, data)
     values ($1, new_id(), $2, 'email.skipped', '{"reason": "PUBLIC_KEY_LIMIT", "workflowName": "Welcome"}')`,
    project.id,
    contact.body.id,
  );
  await opens(`contacts/${contact.body.id}`);
  await page.getByText("E-Mail übersprungen").waitFor();
  await page.getByText("Welcome: Das Limit für E-Mails an einen Kontakt durch Ereignisse").waitFor();
  // Of a case the server names something in the midst of its sentence.
  await opens("settings?tab=members");
  await page.getByRole("button", { name: "Einladen", exact: true }).click();
  const dialog = page.getByRole("dialog");
  await dialog.getByLabel("E-Mail").fill(email);
  await dialog.getByRole("button", { name: "Einladen" }).click();
  await dialog.getByText(`${email} ist schon Mitglied.`).waitFor();
});

test("a field with mixed values gets the most frequent type, and says so", async () => {
  const context = await browser.newContext();
  const page = await context.newPage();
  const { owner } = server.project;
  const project = await server.createProject(owner);
  for (const [at, age] of ["unknown", 7, 8].entries())
    await server.call("POST", "/contacts", project.byKey, { email: `a${at}@example.com`, data: { age } });
  const { email, password } = owner;
  await context.request.post(`${server.url}/auth/login`, { data: { email, password } });
  await page.goto(`${server.url}/app/${project.id}/settings?tab=fields`);
  await page.getByRole("cell", { name: "Text" }).waitFor();
  await page.getByRole("button", { name: "age", exact: true }).click();
  await page.getByRole("button", { name: "Reset type" }).click();
  await page.getByText("2 of 3 values have this type.").waitFor();
  const dialog = page.getByRole("dialog", { name: "age" });
  await dialog.getByRole("button", { name: "Close" }).click();
  await page.getByRole("cell", { name: "Number" }).waitFor();
  expect(await page.getByRole("cell", { name: "Text" }).count()).toBe(0);
});

test("unknown search parameters are ignored", async () => {
  const context = await browser.newContext();
  const page = await context.newPage();
  const { owner } = server.project;
  const { id } = await server.createProject(owner);
  const { email, password } = owner;
  await context.request.post(`${server.url}/auth/login`, { data: { email, password } });
  const opens = async (path: string, shows: string) => {
    await page.goto(`${server.url}/app/${id}/${path}`);
    await page.getByText(shows).first().waitFor();
    expect(await page.getByText("Something went wrong").count()).toBe(0);
  };
  const filter = encodeURIComponent(JSON.stringify({ operator: "AND" }));
  await opens(`contacts?fields=7&status=bogus&filter=${filter}`, "No contacts yet");
  await opens("settings?tab=bogus", "Project name");
  await opens("activity?view=bogus", "No activity yet");
});
