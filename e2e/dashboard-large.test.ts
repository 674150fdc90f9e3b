// Tests maximum sizes and lost connections in a real browser: nothing is lost, and the page stays fast.
import type { Page } from "playwright-core";
import { expect, test } from "vitest";
import { LIMITS } from "@postloft/contract/limits/limits.ts";
import { useTestServer, type TestProject } from "../server/src/testing/test-server.ts";
import { htmlOf } from "./browser.ts";
import { make } from "./open-dashboard.ts";
import { useBrowser } from "./use-browser.ts";

const server = useTestServer();
const browser = useBrowser();

/** Opens a page of the project as its owner. */
async function open(project: TestProject, path: string): Promise<Page> {
  const context = await browser.newContext({ baseURL: server.url });
  const { email, password } = project.owner;
  await context.request.post("/auth/login", { data: { email, password } });
  const page = await context.newPage();
  page.setDefaultTimeout(30_000);
  await page.goto(`/app/${project.id}/${path}`);
  return page;
}

const create = (project: TestProject, path: string, body: object) => make(server, project, path, body);

test("a segment with 200 conditions is shown, changed at the last one and saved in full", async () => {
  const project = await server.createProject();
  for (const person of ["ada", "grace"])
    await create(project, "/contacts", {
      email: `${person}@example.com`,
      data: { name: "مرحبا 🦀 <script>" },
    });
  const conditions = Array.from({ length: LIMITS.filterConditions.value }, (_, at) => ({
    field: "email",
    operator: "notEquals",
    value: `nobody${at}@example.com`,
  }));
  const filters = { operator: "AND", conditions };
  const id = await create(project, "/segments", { name: "All but some", filters, trackMembership: false });
  const page = await open(project, `segments/${id}`);
  await page.getByText("2 contacts", { exact: true }).waitFor();
  const last = page.getByLabel("Value").last();
  expect(await last.inputValue()).toBe("nobody199@example.com");
  await last.fill("ada@example.com");
  await page.getByText("1 contact", { exact: true }).waitFor();
  await page.getByRole("button", { name: "Save" }).click();
  await page.getByText("Segment saved").waitFor();
  const { body } = await server.call<{ filters: typeof filters }>("GET", `/segments/${id}`, project.byKey);
  expect(body.filters.conditions).toEqual(
    conditions.with(conditions.length - 1, {
      field: "email",
      operator: "notEquals",
      value: "ada@example.com",
    }),
  );
});

test("a template of 1 MB is shown, edited at its end and saved byte for byte", async () => {
  const project = await server.createProject();
  // One paragraph in a hundred has non-Latin letters, because browsers lay those out slowly.
  const hundred = `<p>A paragraph of a long letter, مرحبا 🦀</p>\n${"<p>And another one, as long</p>\n".repeat(99)}`;
  const body = `<p>Dear {{firstName}}</p>${hundred.repeat(Math.floor(1_000_000 / Buffer.byteLength(hundred)))}`;
  const id = await create(project, "/templates", {
    name: "Long",
    subject: "Hello",
    body,
    from: "hello@sandbox.localhost",
    type: "MARKETING",
  });
  const page = await open(project, `templates/${id}`);
  await page.frameLocator("iframe").getByText("مرحبا").first().waitFor({ timeout: 90_000 });
  await htmlOf(page).click();
  await page.keyboard.press("Control+End");
  await page.keyboard.insertText("<p>The end</p>");
  await page.keyboard.press("Control+s");
  await page.getByRole("button", { name: "Saved", exact: true }).waitFor();
  const { body: stored } = await server.call<{ body: string }>("GET", `/templates/${id}`, project.byKey);
  expect(stored.body === `${body}<p>The end</p>`).toBe(true);
});

test("a rare match is searched in partial pages until all contacts were searched", async () => {
  const project = await server.createProject();
  await server.rows(
    `insert into contacts (project_id, id, email, subscribed, data)
     select $1, new_id(), 'person' || n || '@example.com', true,
       jsonb_build_object('text', repeat('b', 2000) || case when n in (500, 29000) then 'a' else '' end)
     from generate_series(1, 30000) n`,
    project.id,
  );
  const filter = { operator: "AND", conditions: [{ field: "data.text", operator: "contains", value: "a" }] };
  const page = await open(project, "segments");
  const pieces: string[] = [];
  page.on("requestfinished", (request) => {
    if (request.url().endsWith("/contacts/search")) pieces.push(request.postData() ?? "");
  });
  await page.goto(`/app/${project.id}/contacts?filter=${encodeURIComponent(JSON.stringify(filter))}`);
  await page.getByText("2 contacts", { exact: true }).first().waitFor();
  for (const person of ["person500@", "person29000@"])
    await page.getByRole("link", { name: `${person}example.com` }).waitFor();
  expect(pieces.filter((body) => body.includes('"cursor"')).length).toBeGreaterThan(0);
  expect(await page.getByText("Still searching…").count()).toBe(0);
});

test("an email is found by recipient or subject, the URL keeps it, and a missing one is explained", async () => {
  const project = await server.createProject();
  const mail = { from: "news@sandbox.localhost", body: "<p>Hi</p>" };
  await create(project, "/contacts", { email: "bob@example.com", subscribed: false });
  await server.call("POST", "/suppressions", project.byKey, { emails: ["bob@example.com"] });
  await server.call("POST", "/v1/send", project.byKey, {
    ...mail,
    to: "ada@example.com",
    subject: "Your order",
  });
  // Enough newer emails that the subject of the first is found in partial pages only.
  await server.rows(
    `insert into emails (project_id, id, content_id, priority, to_address, status, subject)
     select project_id, new_id(), content_id, 1, 'c' || n || '@example.com', 'SENT', 'Invoice ' || n
     from emails, generate_series(1, 30000) n where project_id = $1`,
    project.id,
  );
  const page = await open(project, "emails");
  const rows = page.getByRole("row");
  await rows
    .filter({ hasText: /Invoice \d/ })
    .first()
    .waitFor();
  await page.getByLabel("Search by recipient").fill("ADA@");
  const found = rows.filter({ hasText: "Your order" });
  await found.waitFor();
  expect(await found.textContent()).toMatch(/^ada@example\.comYour orderTransactional/);
  await page.getByLabel("Status").selectOption("Bounced");
  await page.getByText("No matching emails").waitFor();
  await page.goBack();
  await found.waitFor();

  await page.getByLabel("Search in").selectOption("Subject");
  await page.getByLabel("Search by subject").fill("your ORD");
  await page.waitForURL(/search=your/);
  await found.waitFor();
  expect(await page.getByText("Still searching…").count()).toBe(0);
  const other = await page.context().newPage();
  await other.goto(page.url());
  await other.getByRole("link", { name: "ada@example.com" }).click();
  await other.getByRole("heading", { level: 1, name: "Your order" }).waitFor();
  const id = await other.locator("dd", { hasText: "@sandbox.localhost" }).last().textContent();
  await other.goBack();
  await other.getByLabel("Search in").selectOption("Message-ID");
  await other.getByLabel("Search by Message-ID").fill(`<${id}>`);
  await other.getByRole("link", { name: "ada@example.com" }).waitFor();

  await page.goto(`/app/${project.id}/emails?search=bob@example.com`);
  await page.getByRole("heading", { name: "No email to bob@example.com" }).waitFor();
  await page
    .getByText(/^Not subscribed since it was added on .* This contact gets transactional email only[.]/)
    .waitFor();
  expect(await page.getByText("suppression").count()).toBe(0);
  await page.getByRole("link", { name: "View contact" }).click();
  await page.getByRole("heading", { name: "bob@example.com" }).waitFor();
  await page
    .getByText(/^Not subscribed since it was added on .* This contact gets transactional email only[.]/)
    .waitFor();
  await page.goBack();
  await page.getByRole("heading", { name: "No email to bob@example.com" }).waitFor();

  // A list that the project applies is the reason, also on the page of the contact.
  await server.call("PATCH", `/users/@me/projects/${project.id}`, project.bySession, {
    suppressionList: true,
  });
  await page.reload();
  await page.getByText("This address gets no email.").waitFor();
  await page.getByRole("link", { name: "View suppression" }).click();
  await page.getByText("Added manually").waitFor();
});

test("a scheduled email is found by its tag, moved to another time, and canceled", async () => {
  const project = await server.createProject();
  const scheduledFor = new Date(Date.now() + 2 * 86_400_000).toISOString();
  const mail = { from: "news@sandbox.localhost", body: "<p>Hi</p>", scheduledFor };
  const sent = await server.call<{ data: { emails: Array<{ email: string }> } }>(
    "POST",
    "/v1/send",
    project.byKey,
    {
      ...mail,
      to: "later@example.com",
      subject: "Your trial ends",
      tags: ["trial", "42"],
      metadata: { From: "1042" },
    },
  );
  await server.call("POST", "/v1/send", project.byKey, {
    ...mail,
    to: "other@example.com",
    subject: "Another one",
  });
  const id = sent.body.data.emails[0]?.email;
  const read = async () => {
    const { body } = await server.call<{ status: string; scheduledFor: string }>(
      "GET",
      `/emails/${id}`,
      project.byKey,
    );
    return body;
  };
  const page = await open(project, "emails");
  const rows = page.getByRole("row");
  await rows.filter({ hasText: "Another one" }).waitFor();
  await page.getByRole("button", { name: "More filters" }).click();
  await page.getByLabel("Tag").fill("Trial");
  await page.getByText("Enter the whole tag. Upper and lower case matter.").waitFor();
  await page.getByLabel("Tag").fill("trial");
  await rows.filter({ hasText: "Your trial ends" }).waitFor();
  expect(await rows.last().textContent()).toMatch(
    /^later@example\.comYour trial endstrial, 42TransactionalScheduledin 2 days$/,
  );
  expect(await rows.count()).toBe(2);

  await page.getByRole("link", { name: "later@example.com" }).click();
  await page.getByRole("heading", { name: /^Scheduled for / }).waitFor();
  await page.getByRole("region", { name: "Metadata" }).getByText("1042").waitFor();
  await page.getByRole("link", { name: "42", exact: true }).click();
  await page.waitForURL(/tag=%2242%22/);
  await page.getByRole("link", { name: "later@example.com" }).click();
  await page.getByRole("button", { name: "Reschedule…" }).click();
  await page.getByLabel("Date and time").fill("2036-01-02T10:30");
  await page.getByRole("button", { name: /^Schedule for / }).click();
  await page.getByText("Must be within 366 days.").waitFor();
  await page.getByRole("button", { name: /^Tomorrow, 2/ }).click();
  await page.getByRole("button", { name: /^Schedule for / }).click();
  await page.getByText("Email rescheduled").waitFor();
  const tomorrow = new Date();
  tomorrow.setDate(tomorrow.getDate() + 1);
  tomorrow.setHours(14, 0, 0, 0);
  expect((await read()).scheduledFor).toBe(tomorrow.toISOString());

  // The email leaves while the dialog is open, so the action is explained instead of done.
  await page.getByRole("button", { name: "Cancel email…" }).click();
  const dialog = page.getByRole("dialog", { name: "Cancel this email?" });
  await server.rows("update emails set status = 'SENT' where id = $1", id);
  await page.getByRole("heading", { name: /^Scheduled for / }).waitFor({ state: "detached" });
  await dialog.getByRole("button", { name: "Cancel email" }).click();
  await page.getByText("The email is SENT. Only a QUEUED email can be cancelled.").waitFor();
  await server.rows("update emails set status = 'QUEUED' where id = $1", id);
  await page.reload();
  await page.getByRole("button", { name: "Cancel email…" }).click();
  await dialog.getByRole("button", { name: "Cancel email" }).click();
  await page.getByText("The email was canceled and never sent.").waitFor();
  await page.getByText("Skipped").waitFor();
  await page.getByText("The email was canceled.").waitFor();
  expect(await page.getByRole("button", { name: "Cancel email…" }).count()).toBe(0);
  expect((await read()).status).toBe("SKIPPED");
});

test("text typed while offline is kept and saved automatically once online", async () => {
  const project = await server.createProject();
  const id = await create(project, "/campaigns", {
    name: "News",
    subject: "Before",
    body: "<p>Before</p>",
    from: "news@sandbox.localhost",
    audienceType: "ALL",
  });
  const page = await open(project, `campaigns/${id}?step=content`);
  await page.getByText("Saved", { exact: true }).waitFor();
  await page.context().setOffline(true);
  await page.getByText("You're offline").waitFor();
  await page.getByLabel("Subject").fill("Written in a tunnel");
  await page.getByText("Unsaved changes").waitFor();
  const stored = async () =>
    (await server.rows<{ subject: string }>("select subject from campaigns where id = $1", id))[0]?.subject;
  expect(await stored()).toBe("Before");
  await page.context().setOffline(false);
  await page.getByText("Saved", { exact: true }).waitFor();
  expect(await stored()).toBe("Written in a tunnel");
});

test("an address or name without a space does not exceed the width of a phone", async () => {
  const project = await server.createProject();
  const name = "N".repeat(LIMITS.nameLength.value);
  const mail = { subject: "S".repeat(300), body: "<p>Hello</p>", from: "news@sandbox.localhost" };
  const email = `${"a".repeat(60)}@${"b".repeat(60)}.${"c".repeat(60)}.example.com`;
  const filters = { operator: "AND", conditions: [{ field: "email", operator: "equals", value: email }] };
  const segmentId = await create(project, "/segments", { name, filters, trackMembership: false });
  const templateId = await create(project, "/templates", { name, ...mail, type: "MARKETING" });
  const campaignId = await create(project, "/campaigns", { name, ...mail, audienceType: "ALL" });
  const domain = `${"d".repeat(60)}.example.com`;
  await server.call("POST", "/domains", project.byKey, { domain });
  type Sent = { data: { emails: Array<{ contact: { id: string }; email: string }> } };
  const { body: sent } = await server.call<Sent>("POST", "/v1/send", project.byKey, { to: email, ...mail });
  const page = await open(project, "contacts");
  await page.setViewportSize({ width: 375, height: 812 });
  const widths: Record<string, number> = {};
  for (const [path, title, last] of [
    ["contacts", "Contacts", email],
    [`contacts/${sent.data.emails[0]?.contact.id}`, email, "Email delivered"],
    [`segments/${segmentId}`, name, email],
    [`templates/${templateId}`, name, `Subject: ${mail.subject}`],
    [`campaigns/${campaignId}?step=content`, name, `Subject: ${mail.subject}`],
    [`emails/${sent.data.emails[0]?.email}`, mail.subject, "Timeline"],
    ["domains", "Domains", domain],
    ["", "A project", `${domain} hasn't been checked yet.`],
  ] as const) {
    await page.goto(`/app/${project.id}/${path}`);
    await page.getByRole("heading", { level: 1, name: title }).waitFor();
    await page.getByText(last).first().waitFor();
    widths[path] = await page.evaluate<number>("document.documentElement.scrollWidth");
  }
  expect(Object.entries(widths).filter(([, width]) => width > 375)).toEqual([]);
});
