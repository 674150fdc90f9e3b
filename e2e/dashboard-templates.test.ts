// Tests templates in a real browser: blocks, HTML, test emails, versions and conflicts.
import type { Page } from "playwright-core";
import { expect, test } from "vitest";
import { useTestServer, type TestProject } from "../server/src/testing/test-server.ts";
import { simulatePlainHttp, htmlOf, writeHtml } from "./browser.ts";
import { useBrowser } from "./use-browser.ts";

const server = useTestServer();
const browser = useBrowser();

const NAME = "News <b> مرحبا";

/** Opens the templates of a new project as its owner. */
async function openTemplates(): Promise<{ page: Page; project: TestProject; faults: string[] }> {
  const project = await server.createProject();
  await server.call("POST", "/contacts", project.byKey, {
    email: "ada@example.com",
    data: { firstName: "Ada" },
  });
  const context = await browser.newContext({ baseURL: server.url });
  await simulatePlainHttp(context);
  const { email, password } = project.owner;
  await context.request.post("/auth/login", { data: { email, password } });
  const page = await context.newPage();
  page.setDefaultTimeout(30_000);
  const faults: string[] = [];
  page.on("pageerror", (error) => faults.push(error.message));
  await page.goto(`/app/${project.id}/templates`);
  return { page, project, faults };
}

async function create(page: Page, beginning: string): Promise<void> {
  await page.getByRole("button", { name: "New template" }).first().click();
  const dialog = page.getByRole("dialog");
  await dialog.getByLabel(beginning).check();
  await dialog.getByRole("textbox", { name: "Name" }).fill(NAME);
  await dialog.getByRole("button", { name: "Create template" }).click();
  await page.getByRole("heading", { level: 1, name: NAME }).waitFor();
}

interface Stored {
  previewText: string | null;
  body: string;
  design: { blocks: Array<{ kind: string }> } | null;
}

/** Returns the stored template. */
async function stored({ byKey }: TestProject, page: Page): Promise<Stored> {
  const id = new URL(page.url()).pathname.split("/").at(-1) ?? "";
  return (await server.call<Stored>("GET", `/templates/${id}`, byKey)).body;
}
const kindsOf = ({ design }: Stored) => design?.blocks.map(({ kind }) => kind);

async function save(page: Page): Promise<void> {
  await page.keyboard.press("Control+s");
  await page.getByRole("button", { name: "Saved", exact: true }).waitFor();
}

test("HTML is kept byte for byte, and an error is shown at its line", async () => {
  const { page, project, faults } = await openTemplates();
  await create(page, "Custom HTML");
  const hostile = `<p>Dear {{firstName ?? "friend"}} 🦀 مرحبا</p>\n<script>alert(1)</script>\n<p>{{#if`;
  await writeHtml(page, hostile);
  await page
    .getByText(/line 3/i)
    .first()
    .waitFor();
  await page.locator(".cm-lint-marker-error").waitFor();
  const written = `${hostile.replace("{{#if", "")}done</p>\n\t `;
  await writeHtml(page, written);
  await save(page);
  await page.frameLocator("iframe").getByText("Dear friend 🦀 مرحبا").waitFor();
  expect((await stored(project, page)).body).toBe(written);
  await page.reload();
  await htmlOf(page).click();
  await page.keyboard.press("Control+End");
  await page.keyboard.insertText("<i>");
  await save(page);
  expect((await stored(project, page)).body).toBe(`${written}<i>`);
  expect(faults).toEqual([]);
});

test("foreign line endings are kept, and contact variables are suggested while typing", async () => {
  const { page, project } = await openTemplates();
  const { body } = await server.call<{ id: string }>("POST", "/templates", project.byKey, {
    name: NAME,
    subject: "Hi",
    body: "<p>one</p>\r\n<p>two</p>\r\n",
    type: "TRANSACTIONAL",
  });
  await page.goto(`/app/${project.id}/templates/${body.id}`);
  await htmlOf(page).click();
  await page.keyboard.press("Control+End");
  await page.keyboard.type("<p>{{fir");
  // Click, because the editor ignores Enter in the first 75 ms of a completion list.
  await page.getByRole("option", { name: /firstName/ }).click();
  await save(page);
  expect((await stored(project, page)).body).toBe("<p>one</p>\r\n<p>two</p>\r\n<p>{{firstName}}</p>");

  // The fallback's language is the project's, not the user's.
  await server.call("POST", "/contacts", project.byKey, { email: "nameless@example.com" });
  await server.call("PATCH", `/users/@me/projects/${project.id}`, project.bySession, { language: "de-CH" });
  await page.reload();
  await htmlOf(page).click();
  await page.keyboard.press("Control+End");
  await page.keyboard.type("{{fir");
  await page.getByRole("option", { name: /firstName.*%/ }).click();
  await save(page);
  expect((await stored(project, page)).body).toContain(`{{firstName ?? "Freund"}}`);
});

test("an email is built from blocks, continued in HTML, and restored to its blocks", async () => {
  const { page, project, faults } = await openTemplates();
  await create(page, "Announcement");
  await page.getByRole("button", { name: /^Heading/ }).click();
  await page.getByRole("textbox", { name: "Heading" }).fill("Autumn & <script>");
  await page.getByRole("button", { name: /^Text Hello/ }).click();
  await page.getByRole("textbox", { name: "Text", exact: true }).click();
  await page.keyboard.press("Control+a");
  await page.getByRole("button", { name: "Bold" }).click();
  await page.getByRole("button", { name: "Add block", exact: true }).click();
  await page.getByRole("menuitem", { name: "Divider" }).click();
  await page.getByRole("button", { name: "Move up", exact: true }).click();
  await page.getByRole("textbox", { name: "Preview text" }).fill('Now {{firstName ?? "for you"}}');
  await page.getByRole("region", { name: "Inbox" }).getByText("Now Ada").last().waitFor();
  await save(page);
  const blocks = await stored(project, page);
  expect(blocks.previewText).toBe('Now {{firstName ?? "for you"}}');
  expect(kindsOf(blocks)).toEqual(["heading", "text", "divider", "button"]);
  expect(blocks.body).toContain("Autumn &amp; &lt;script&gt;");
  expect(blocks.body).toContain(`<strong>Hello {{firstName ?? "friend"}},</strong>`);
  await page.getByRole("button", { name: "Preview", exact: true }).click();
  await page.frameLocator("iframe").getByRole("heading", { name: "Autumn & <script>" }).waitFor();
  await page.getByRole("button", { name: "Desktop", exact: true }).first().click();

  await page.getByRole("button", { name: "Remove", exact: true }).click();
  await page.getByRole("button", { name: "Undo" }).click();
  await page.getByRole("button", { name: "Redo" }).click();
  await save(page);
  expect(kindsOf(await stored(project, page))).toEqual(["heading", "text", "button"]);

  await page.reload();
  await page.getByRole("button", { name: "Convert to HTML" }).click();
  await page.getByRole("dialog").getByRole("button", { name: "Convert to HTML" }).click();
  await save(page);
  expect(await stored(project, page)).toMatchObject({ previewText: blocks.previewText, design: null });
  expect((await stored(project, page)).body).not.toContain("display:none");
  await writeHtml(page, "<p>By hand</p>");
  await save(page);
  expect(await stored(project, page)).toMatchObject({ body: "<p>By hand</p>", design: null });

  await page.getByRole("button", { name: "Versions" }).click();
  const dialog = page.getByRole("dialog");
  await dialog.getByRole("listitem").nth(2).getByRole("button").click();
  await dialog.frameLocator("iframe").getByText("Autumn & <script>").waitFor();
  await dialog.getByRole("button", { name: "Restore" }).click();
  await page.getByRole("button", { name: /^Divider/ }).waitFor();
  const { body, design } = blocks;
  expect(await stored(project, page)).toMatchObject({ body, design });
  expect(faults).toEqual([]);
});

test("a test email contains the unsaved text with its preview text, and saves nothing", async () => {
  const { page, project } = await openTemplates();
  await server.rows("update projects set default_from = 'news@sandbox.localhost' where id = $1", project.id);
  await create(page, "Blank");
  const before = await stored(project, page);
  await page.getByRole("textbox", { name: "Subject" }).fill("For {{firstName}}");
  await page.getByRole("textbox", { name: "Preview text" }).fill("Leaves, {{firstName}}");
  await page.getByRole("textbox", { name: "From name" }).fill("The shop");
  const inbox = page.getByRole("region", { name: "Inbox" });
  await inbox.getByText("The shop").last().waitFor();
  await inbox.getByText("Leaves, Ada").last().waitFor();
  await page.getByRole("button", { name: "Send test" }).click();
  await page.getByRole("dialog").getByLabel("Email address").fill("ada@example.com");
  await page.getByRole("dialog").getByRole("button", { name: "Send test" }).click();
  await page.getByText("Test email sent").waitFor();
  type Message = { id: string; subject: string; html: string; text: string };
  const messages = async () =>
    (await server.call<{ data: Message[] }>("GET", "/mailbox/messages", project.byKey)).body.data;
  await expect
    .poll(messages, { timeout: 30_000 })
    .toEqual([expect.objectContaining({ subject: "[TEST] For Ada" })]);
  const [id] = (await messages()).map((message) => message.id);
  const { body } = await server.call<Message>("GET", `/mailbox/messages/${id}`, project.byKey);
  expect(body.html).toContain(">Leaves, Ada&zwnj;");
  expect(body.text).not.toContain("Leaves");
  expect(await stored(project, page)).toEqual(before);
  await page.getByRole("button", { name: "Save", exact: true }).waitFor();
});

const PIXEL = Buffer.from(
  "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==",
  "base64",
);

test("a late image upload does not revert later edits, and sizes keep the typed text", async () => {
  const { page, project, faults } = await openTemplates();
  await create(page, "Announcement");
  let go: (() => void) | undefined;
  const held = new Promise<void>((resolve) => (go = resolve));
  await page.route("**/uploads/image", async (route) => {
    await held;
    await route.continue();
  });
  await page.getByRole("button", { name: "Add block", exact: true }).click();
  await page.getByRole("menuitem", { name: "Image" }).click();
  await page.getByLabel("Width in pixels").first().pressSequentially("300");
  await page.getByLabel("Alt text").fill("A leaf");
  const file = { name: "leaf.png", mimeType: "image/png", buffer: PIXEL };
  await page.locator("input[type=file]").setInputFiles(file);
  await page.getByRole("button", { name: /^Heading/ }).click();
  await page.getByRole("textbox", { name: "Heading" }).fill("Written meanwhile");
  go?.();
  await page.getByRole("img", { name: "A leaf" }).waitFor();
  await save(page);
  const { design } = await stored(project, page);
  expect(design?.blocks[0]).toMatchObject({ kind: "heading", text: "Written meanwhile" });
  expect(design?.blocks.at(-1)).toMatchObject({ kind: "image", width: 300, alt: "A leaf" });
  expect(design?.blocks.at(-1)).toHaveProperty("url", expect.stringMatching(/^http.*\.png$/));

  await page.getByRole("button", { name: /^Image/ }).click();
  await page.getByLabel("Width in pixels").first().fill("5");
  await page.getByRole("button", { name: /^Heading/ }).click();
  await page.getByRole("textbox", { name: "Name", exact: true }).fill("Updated");
  await page.getByRole("button", { name: "Duplicate" }).first().click();
  await page.getByText("Duplicated", { exact: true }).waitFor();
  expect(await page.getByRole("textbox", { name: "Name", exact: true }).inputValue()).toContain("Updated");
  expect((await stored(project, page)).design?.blocks.at(-1)).toMatchObject({ width: 16 });
  expect(faults).toEqual([]);
});

const subject = (tab: Page) => tab.getByRole("textbox", { name: "Subject" });

test("a template changed in another tab shows a conflict, and either version can win", async () => {
  const { page, project } = await openTemplates();
  await create(page, "Custom HTML");
  const saved = async () => {
    const [row] = await server.rows<{ subject: string }>(
      "select subject from templates where project_id = $1",
      project.id,
    );
    return row?.subject;
  };
  const other = await page.context().newPage();
  await other.goto(page.url());
  await subject(other).fill("Theirs");
  await save(other);

  await subject(page).fill("Mine");
  await page.keyboard.press("Control+s");
  await page.getByText(/^Someone else changed this template /).waitFor();
  expect(await saved()).toBe("Theirs");
  await page.getByRole("button", { name: "View saved version" }).click();
  await page.getByRole("dialog").getByText("Theirs").waitFor();
  await page.getByRole("dialog").getByRole("button", { name: "Overwrite" }).click();
  await page.getByRole("button", { name: "Saved", exact: true }).waitFor();
  expect(await saved()).toBe("Mine");

  // The other tab's version is outdated now.
  await subject(other).fill("Theirs again");
  await other.keyboard.press("Control+s");
  await other.getByRole("button", { name: "View saved version" }).click();
  await other.getByRole("button", { name: "Use saved version" }).click();
  await expect.poll(() => subject(other).inputValue()).toBe("Mine");
  await subject(other).fill("Ours");
  await save(other);
  expect(await saved()).toBe("Ours");
});

test("a language is added, edited, tested, removed and brought back", async () => {
  const { page, project, faults } = await openTemplates();
  await create(page, "Custom HTML");
  await page.getByRole("textbox", { name: "From", exact: true }).fill("news@sandbox.localhost");
  await subject(page).fill("Hello");
  await writeHtml(page, "<p>Hello</p>");
  await save(page);
  const add = async (tag: string) => {
    await page.getByRole("button", { name: "Add language" }).click();
    const dialog = page.getByRole("dialog");
    await dialog.getByRole("textbox", { name: "Language" }).fill(tag);
    await dialog.getByRole("button", { name: "Add language" }).click();
    return dialog;
  };
  const dialog = await add("german");
  await dialog.getByText("Must be a language tag").waitFor();
  await dialog.getByRole("button", { name: "Cancel" }).click();
  await add("PT_br");
  const tabs = page.getByRole("group", { name: "Language" });
  await tabs.getByRole("button", { name: "Brazilian Portuguese", pressed: true }).waitFor();
  await subject(page).fill("Olá");
  await writeHtml(page, "<p>Olá</p>");
  await save(page);
  await page.frameLocator("iframe").getByText("Olá").waitFor();
  await page.frameLocator("iframe").getByText("Cancelar subscrição").waitFor();

  await page.getByRole("button", { name: "Send test" }).click();
  await page.getByRole("dialog").getByRole("button", { name: "Send test" }).click();
  const subjects = async () =>
    (
      await server.rows<{ subject: string }>(
        "select subject from email_contents where project_id = $1",
        project.id,
      )
    ).map((row) => row.subject);
  await expect.poll(subjects).toEqual(["[TEST] Olá"]);

  await tabs.getByRole("button", { name: "Default" }).click();
  await expect.poll(() => subject(page).inputValue()).toBe("Hello");
  await page.goBack();
  await expect.poll(() => subject(page).inputValue()).toBe("Olá");
  const variants = () =>
    server.rows("select locale, subject from template_variants where project_id = $1", project.id);
  await page.getByRole("button", { name: "Remove language" }).click();
  await expect.poll(() => subject(page).inputValue()).toBe("Hello");
  expect(await variants()).toEqual([]);
  await page.getByRole("button", { name: "Undo" }).click();
  await tabs.getByRole("button", { name: "Brazilian Portuguese" }).click();
  await expect.poll(() => subject(page).inputValue()).toBe("Olá");
  expect(await variants()).toEqual([{ locale: "pt-BR", subject: "Olá" }]);

  await page.getByRole("button", { name: "Versions" }).click();
  const versions = page.getByRole("dialog");
  await versions.getByRole("button", { name: /Hello.*Brazilian Portuguese/ }).click();
  await versions.getByRole("button", { name: "Restore" }).click();
  await expect.poll(() => subject(page).inputValue()).toBe("Hello");
  await page.getByRole("link", { name: "All templates" }).click();
  await page.getByRole("cell", { name: "pt-BR" }).waitFor();
  expect(faults).toEqual([]);
});

test("a language changed in another tab shows a conflict, and the saved version can win", async () => {
  const { page, project } = await openTemplates();
  const text = { name: NAME, subject: "Hi", body: "<p>Hi</p>", type: "TRANSACTIONAL" };
  const { body } = await server.call<{ id: string }>("POST", "/templates", project.byKey, text);
  const path = `/templates/${body.id}/variants/de`;
  await server.call("PUT", path, project.byKey, { subject: "Hallo", body: "<p>Hallo</p>" });
  await page.goto(`/app/${project.id}/templates/${body.id}?locale=de`);
  await subject(page).fill("Mine");
  await server.call("PUT", path, project.byKey, { subject: "Theirs", body: "<p>Hallo</p>" });
  await page.keyboard.press("Control+s");
  await page.getByRole("button", { name: "View saved version" }).click();
  await page.getByRole("dialog").getByText("Theirs").waitFor();
  await page.getByRole("button", { name: "Use saved version" }).click();
  await expect.poll(() => subject(page).inputValue()).toBe("Theirs");
  await subject(page).fill("Ours");
  await save(page);
  expect(
    await server.rows("select subject from template_variants where project_id = $1", project.id),
  ).toEqual([{ subject: "Ours" }]);
});
