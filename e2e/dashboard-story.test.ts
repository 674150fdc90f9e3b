// Plays a new user's first day in a real browser on an empty data folder, from sign-up to a campaign, its report, an unsubscribe and the
// export.
import type { Page } from "playwright-core";
import { afterAll, beforeAll, expect, test } from "vitest";
import { makeDataFolder, startProgram, type Program } from "./program.ts";
import { useBrowser } from "./use-browser.ts";
import { waitUntil } from "./wait-until.ts";

const browser = useBrowser();
let folder: Awaited<ReturnType<typeof makeDataFolder>>;
let program: Program;
beforeAll(async () => {
  folder = await makeDataFolder();
  program = await startProgram({ DATA_DIR: folder.path });
});
afterAll(async () => {
  await program.kill();
  await folder.remove();
});

const DELIVERY_MS = 20_000;
const PEOPLE = [
  "email,firstName,plan",
  "ada@example.com,Ada,pro",
  "grace@example.com,Grace,pro",
  "joan@example.com,Joan,free",
];

const link = (page: Page, name: string) => page.getByRole("link", { name, exact: true });
const button = (page: Page, name: string) => page.getByRole("button", { name, exact: true });

async function call<Response>(path: string, key: string, body?: object): Promise<Response> {
  const init = body === undefined ? {} : { method: "POST", body: JSON.stringify(body) };
  const headers = { authorization: `Bearer ${key}`, "content-type": "application/json" };
  const response = await fetch(new URL(path, program.url), { ...init, headers });
  expect(response.status).toBe(200);
  return (await response.json()) as Response;
}

interface Received {
  id: string;
  subject: string;
}

/** Returns the emails in the local mailbox for an address. */
const receivedBy = async (address: string, key: string) =>
  (await call<{ data: Received[] }>(`/mailbox/messages?to=${address}`, key)).data;

async function signUp(page: Page): Promise<void> {
  await page.goto("/app");
  await link(page, "Create account").click();
  await page.getByLabel("Email").fill("owner@example.com");
  await page.getByLabel("Password").fill("correct horse battery staple");
  await button(page, "Create account").click();
  await page.getByLabel("Project name").fill("Acme");
  await button(page, "Create project").click();
  await page.getByRole("heading", { level: 1, name: "Acme" }).waitFor();
}

/** Sends with the key shown on the page. @returns the key */
async function sendFirstMail(page: Page): Promise<string> {
  await link(page, "API keys").click();
  await button(page, "Show secret key").click();
  const key = (await page.getByText(/^sk_\w+$/).textContent()) ?? "";
  const mail = {
    to: "me@example.com",
    from: "hello@sandbox.localhost",
    subject: "First",
    body: "<p>Hello</p>",
  };
  await call("/v1/send", key, mail);
  await link(page, "Activity").click();
  await page.getByText("me@example.com").first().waitFor();
  return key;
}

async function addDomain(page: Page): Promise<void> {
  await link(page, "Domains").click();
  await button(page, "Add domain").click();
  const dialog = page.getByRole("dialog");
  await dialog.getByLabel("Domain", { exact: true }).fill("story.example.com");
  await dialog.getByRole("button", { name: "Add domain" }).click();
  await button(page, "Check now").click();
  await page.getByText("story.example.com is assumed verified").waitFor();
  await button(page, "Set link domain").click();
  await dialog.getByLabel("Domain", { exact: true }).fill("go.story.example.com");
  await dialog.getByRole("button", { name: "Set link domain" }).click();
  await page.getByText("_postloft.go.story.example.com").waitFor();
  await button(page, "Change link domain").waitFor();
}

async function bringContacts(page: Page): Promise<void> {
  await link(page, "Contacts").click();
  await link(page, "Import").click();
  const buffer = Buffer.from(PEOPLE.join("\n"));
  await page.locator("input[type=file]").setInputFiles({ name: "people.csv", mimeType: "text/csv", buffer });
  await button(page, "Import 3 rows").click();
  await page.getByText("Import complete").waitFor();
}

async function describeSegment(page: Page): Promise<void> {
  await link(page, "Segments").click();
  await link(page, "New segment").first().click();
  await page.getByLabel("Name").fill("Pros");
  await page.getByRole("combobox", { name: "Field" }).click();
  await page.getByRole("combobox", { name: "Search" }).fill("plan");
  await page.locator("[role=option][data-highlighted]", { hasText: "plan" }).waitFor();
  await page.keyboard.press("Enter");
  await page.getByLabel("Value").fill("pro");
  await page.getByText("2 contacts", { exact: true }).waitFor();
  await button(page, "Create segment").click();
  await page.getByRole("heading", { level: 1, name: "Pros" }).waitFor();
}

async function sendCampaign(page: Page): Promise<void> {
  const dialog = page.getByRole("dialog");
  await link(page, "Campaigns").click();
  await button(page, "New campaign").click();
  await dialog.getByLabel("Name").fill("October news");
  await dialog.getByRole("button", { name: "Create draft" }).click();
  await page.getByRole("radio", { name: /^Segment/ }).check();
  await page.getByLabel("Segment", { exact: true }).selectOption({ label: "Pros" });
  await page.getByText("2 of 2").waitFor();
  await button(page, "Continue").click();
  await page.getByLabel("Subject").fill("News for {{firstName}}");
  await page.getByRole("button", { name: /^Heading/ }).click();
  await page.getByRole("textbox", { name: "Heading" }).fill("Dear {{firstName}}");
  await button(page, "Continue").click();
  // The content step has a button of the same name, which is shown until the next step has loaded.
  await page.getByRole("heading", { name: "Not ready" }).waitFor();
  await button(page, "Send test").click();
  await dialog.getByLabel("Email address").fill("me@example.com");
  await dialog.getByRole("button", { name: "Send test" }).click();
  await page.getByText("Test email sent").waitFor();
  // Placeholder text and a link to example.com are left, and have to be confirmed.
  await page.getByLabel("I checked these. Send anyway.").check();
  await button(page, "Send now…").click();
  await dialog.getByRole("button", { name: "Send now" }).click();
  await page.getByText("2 recipients").waitFor();
  await page.getByText(/^Sent .*\d{4}/).waitFor();
  await page.reload();
  for (const address of ["ada@example.com", "grace@example.com"])
    await page.getByRole("row", { name: address }).getByText("Delivered").waitFor();
}

/** Unsubscribes with the link in the received email. */
async function unsubscribe(page: Page, key: string): Promise<void> {
  const [mail] = await receivedBy("ada@example.com", key);
  const { html } = await call<{ html: string }>(`/mailbox/messages/${mail?.id ?? ""}`, key);
  const [, path = ""] = /href="[^"]*?(\/unsubscribe\/[^"]+)"/.exec(html) ?? [];
  await page.goto(path);
  await page.getByRole("button").click();
  await page.getByRole("heading", { level: 1 }).waitFor();
}

test("a new user gets from sign-up to a campaign, its report, an unsubscribe and an export", async () => {
  const context = await browser.newContext({ baseURL: program.url });
  const page = await context.newPage();
  page.setDefaultTimeout(20_000);
  const faults: string[] = [];
  page.on("pageerror", (error) => faults.push(error.message));
  await signUp(page);
  const key = await sendFirstMail(page);
  await addDomain(page);
  await bringContacts(page);
  await describeSegment(page);
  await sendCampaign(page);
  await waitUntil(
    "the test mail",
    DELIVERY_MS,
    async () => (await receivedBy("me@example.com", key)).length === 2,
  );
  expect((await receivedBy("me@example.com", key)).map(({ subject }) => subject).toSorted()).toEqual([
    "First",
    "[TEST] News for ",
  ]);
  expect((await receivedBy("ada@example.com", key)).map(({ subject }) => subject)).toEqual(["News for Ada"]);
  expect(await receivedBy("joan@example.com", key)).toEqual([]);

  const report = page.url();
  await unsubscribe(page, key);
  await page.goto(report);
  await link(page, "Contacts").click();
  await link(page, "ada@example.com").click();
  await page.getByRole("group", { name: "Section" }).getByRole("button", { name: "Subscription" }).click();
  await page.getByText(/^Subscription page/).waitFor();
  await page.getByText("This contact gets transactional email only.").waitFor();

  await link(page, "All contacts").click();
  const saving = page.waitForEvent("download");
  await button(page, "Export").click();
  const lines = [];
  for await (const chunk of await (await saving).createReadStream()) lines.push(String(chunk));
  expect(lines.join("")).toMatch(/^ada@example\.com,false,.*pro/m);
  expect(faults).toEqual([]);
});
