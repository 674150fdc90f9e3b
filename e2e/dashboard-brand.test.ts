// Tests the brand and the image library in a real browser.
import type { Page } from "playwright-core";
import { expect, test } from "vitest";
import { useTestServer, type TestProject } from "../server/src/testing/test-server.ts";
import { useBrowser } from "./use-browser.ts";

const server = useTestServer();
const browser = useBrowser();

/** An image of one pixel. Other bytes after its end make it another upload. */
const GIF = Buffer.from("R0lGODlhAQABAIAAAP///wAAACH5BAEAAAAALAAAAAABAAEAAAICRAEAOw==", "base64");
const fileOf = (name: string) => ({
  name,
  mimeType: "image/gif",
  buffer: Buffer.concat([GIF, Buffer.from(name)]),
});

async function openSettings(tab: string): Promise<{ page: Page; project: TestProject; faults: string[] }> {
  const project = await server.createProject();
  const context = await browser.newContext({ baseURL: server.url });
  const { email, password } = project.owner;
  await context.request.post("/auth/login", { data: { email, password } });
  const page = await context.newPage();
  page.setDefaultTimeout(30_000);
  const faults: string[] = [];
  page.on("pageerror", (error) => faults.push(error.message));
  await page.goto(`/app/${project.id}/settings?tab=${tab}`);
  return { page, project, faults };
}

interface Stored {
  body: string;
  design: { look: object; blocks: Array<{ kind: string; url?: string; alt?: string }> };
}

/** Creates a template with blocks and returns it as stored. */
async function makeTemplate(page: Page, { id, byKey }: TestProject, name: string): Promise<Stored> {
  await page.goto(`/app/${id}/templates`);
  await page.getByRole("button", { name: "New template" }).first().click();
  const dialog = page.getByRole("dialog");
  await dialog.getByLabel("Announcement").check();
  await dialog.getByRole("textbox", { name: "Name" }).fill(name);
  await dialog.getByRole("button", { name: "Create template" }).click();
  await page.getByRole("heading", { level: 1, name }).waitFor();
  const templateId = new URL(page.url()).pathname.split("/").at(-1) ?? "";
  return (await server.call<Stored>("GET", `/templates/${templateId}`, byKey)).body;
}

test("new emails have the brand, and emails that exist keep their look", async () => {
  const { page, project, faults } = await openSettings("brand");
  await page.getByRole("heading", { name: "Marketing footer" }).waitFor();
  const before = await makeTemplate(page, project, "Before");
  expect(before.design.blocks.map(({ kind }) => kind)).toEqual(["heading", "text", "button"]);

  await page.goto(`/app/${project.id}/settings?tab=brand`);
  await page.locator("input[type=file]").setInputFiles(fileOf("logo.gif"));
  await expect.poll(() => page.getByLabel("Logo", { exact: true }).inputValue()).toMatch(/\.gif$/);
  await page.getByLabel("Text", { exact: true }).fill("#cccccc");
  await page.getByRole("button", { name: "Save brand" }).click();
  await page.getByText(/The text is hard to read on the background: the contrast is 1\.6:1/).waitFor();
  await page.getByLabel("Text", { exact: true }).fill("#222222");
  await page.getByLabel("Buttons and links").fill("#0f766e");
  await page.getByLabel("Postal address").fill("1 High Street\nLondon");
  await page.getByLabel("Font").selectOption("Verdana");
  await page.getByRole("button", { name: "Save brand" }).click();
  await page.getByText("Brand saved").waitFor();
  await page.frameLocator("iframe").getByText("1 High Street").waitFor();

  const after = await makeTemplate(page, project, "After");
  expect(after.design.look).toMatchObject({ accent: "#0f766e", ink: "#222222", font: "verdana" });
  expect(after.design.blocks.map(({ kind }) => kind)).toEqual(["logo", "heading", "text", "button"]);
  const [{ id } = { id: "" }] = await server.rows<{ id: string }>(
    "select id from templates where name = 'Before' and project_id = $1",
    project.id,
  );
  expect((await server.call<Stored>("GET", `/templates/${id}`, project.byKey)).body).toMatchObject({
    body: before.body,
    design: before.design,
  });
  expect(faults).toEqual([]);
});

test("the blocks at the end of an email are added, filled in and shown", async () => {
  const { page, project, faults } = await openSettings("brand");
  await page.getByRole("heading", { name: "Marketing footer" }).waitFor();
  await makeTemplate(page, project, "News");
  const add = async (kind: string) => {
    await page.getByRole("button", { name: "Add block", exact: true }).click();
    await page.getByRole("menuitem", { name: kind, exact: true }).click();
  };
  await add("Social links");
  await page.getByLabel("Service").selectOption("Mastodon");
  await page.getByLabel("Link", { exact: true }).fill("https://mastodon.example/@acme");
  await page.getByRole("button", { name: "Add link" }).click();
  await page.getByLabel("Link", { exact: true }).last().fill("https://acme.example");
  await add("Footer");
  await page.getByRole("button", { name: "Left", exact: true }).click();
  await page.getByRole("button", { name: "Preview", exact: true }).click();
  const mail = page.frameLocator("iframe");
  await mail.getByRole("link", { name: "Mastodon" }).waitFor();
  await mail.getByRole("link", { name: "Website" }).waitFor();
  await mail.getByText("You are receiving this email").waitFor();
  expect(await mail.getByText("You are receiving this email").count()).toBe(1);
  await page.keyboard.press("Control+s");
  await page.getByRole("button", { name: "Saved", exact: true }).waitFor();
  const templateId = new URL(page.url()).pathname.split("/").at(-1) ?? "";
  const { body } = await server.call<Stored>("GET", `/templates/${templateId}`, project.byKey);
  expect(body.design.blocks.map(({ kind }) => kind)).toEqual([
    "heading",
    "text",
    "button",
    "social",
    "footer",
  ]);
  expect(faults).toEqual([]);
});

test("images are listed with their uses, chosen in the editor, and kept while they are used", async () => {
  const { page, project, faults } = await openSettings("images");
  await page.getByText("No images yet").waitFor();
  await page.locator("input[type=file]").setInputFiles(fileOf("leaf.gif"));
  const leaf = page.getByRole("listitem").filter({ hasText: "leaf.gif" });
  await leaf.getByText("Not used").waitFor();
  await leaf.getByText(/GIF · 1 × 1/).waitFor();
  await leaf.getByRole("button", { name: "Alt text" }).click();
  await page.getByRole("dialog").getByLabel("Alt text").fill("A leaf");
  await page.getByRole("dialog").getByRole("button", { name: "Save" }).click();
  await leaf.getByText("Alt text: A leaf").waitFor();

  await makeTemplate(page, project, "News");
  await page.getByRole("button", { name: "Add block", exact: true }).click();
  await page.getByRole("menuitem", { name: "Image", exact: true }).click();
  await page.getByRole("button", { name: "Choose image" }).click();
  await page.getByRole("dialog").getByRole("button", { name: "leaf.gif" }).click();
  await page.getByRole("img", { name: "A leaf" }).waitFor();
  await page.keyboard.press("Control+s");
  await page.getByRole("button", { name: "Saved", exact: true }).waitFor();

  await page.goto(`/app/${project.id}/settings?tab=images`);
  await leaf.getByRole("link", { name: "News" }).waitFor();
  await leaf.getByRole("button", { name: "Delete leaf.gif" }).click();
  await page.getByRole("dialog").getByText("This image is used").waitFor();
  await page.getByRole("dialog").getByRole("button", { name: "Close" }).click();
  await page.locator("input[type=file]").setInputFiles({
    name: "notes.png",
    mimeType: "image/png",
    buffer: Buffer.from("no image"),
  });
  await page.getByText("Must be a PNG, JPEG, GIF or WebP image, regardless of its name.").waitFor();
  expect(faults).toEqual([]);
});

test("lists show emails without running their scripts or loading images from elsewhere", async () => {
  const { page, project, faults } = await openSettings("images");
  const body = `<h1>Autumn</h1><script>parent.document.title = "run"</script><img src="https://tracker.example/open.png">`;
  const template = { name: "Seen", subject: "Hi", body, type: "MARKETING" };
  await server.call("POST", "/templates", project.byKey, template);
  const asked: string[] = [];
  await page.route("https://tracker.example/**", async (route) => {
    asked.push(route.request().url());
    await route.abort();
  });
  await page.goto(`/app/${project.id}/templates`);
  const row = page.getByRole("row").filter({ hasText: "Seen" });
  await row.locator("iframe").waitFor({ state: "attached" });
  await row.frameLocator("iframe").getByText("Autumn").waitFor({ state: "attached" });
  expect(await row.locator("iframe").getAttribute("sandbox")).toBe("");
  expect(await page.title()).not.toBe("run");
  expect(asked).toEqual([]);
  expect(faults).toEqual([]);
});
