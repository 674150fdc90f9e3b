// Tests that emails made of blocks are edited in the email itself, in a real browser.
import type { Locator, Page } from "playwright-core";
import { expect, test } from "vitest";
import { useTestServer, type TestProject } from "../server/src/testing/test-server.ts";
import { make, readAgain } from "./open-dashboard.ts";
import { useBrowser } from "./use-browser.ts";

const server = useTestServer();
const browser = useBrowser();

const LOOK = {
  background: "#eef0f7",
  surface: "#ffffff",
  ink: "#17181c",
  accent: "#4a4fd6",
  font: "sans",
  width: 600,
};
const CONDITION = `{{#if (eq plan "pro")}}Pro & more{{else}}  <Free>{{/if}} {{{html}}}`;

const paragraph = (words: string, marks?: object[]) => ({
  type: "paragraph",
  content: [{ type: "text", text: words, ...(marks === undefined ? {} : { marks }) }],
});
const text = (id: string, ...content: object[]) => ({
  id,
  kind: "text",
  align: "left",
  text: { type: "doc", content },
});

const BLOCKS = [
  { id: "h", kind: "heading", level: 1, text: `Hello {{firstName ?? "there"}}`, align: "left" },
  text("t", paragraph("First line"), paragraph(CONDITION, [{ type: "bold" }])),
  { id: "b", kind: "button", label: "Open", url: "{{link}}", align: "left" },
  { id: "d", kind: "divider" },
  { id: "c", kind: "columns", columns: [[text("l", paragraph("Left"))], [text("r", paragraph("Right"))]] },
];

type Block = (typeof BLOCKS)[number] & { text?: unknown; label?: string };
interface Stored {
  body: string;
  design: { blocks: Block[] };
}

interface Editor {
  page: Page;
  project: TestProject;
  id: string;
  faults: string[];
  stored: () => Promise<Stored>;
}

function templateOf(blocks: object[]) {
  const design = {
    format: "postloft-blocks",
    version: 1,
    look: LOOK,
    language: "en",
    preheader: "Soon",
    blocks,
  };
  return { name: "Welcome", subject: "Hi", type: "TRANSACTIONAL", design };
}

/** Opens a page of a new project with a template of blocks, by default the page of the template. */
async function open(
  blocks: object[] = BLOCKS,
  pathOf?: (id: string, project: TestProject) => Promise<string>,
): Promise<Editor> {
  const project = await server.createProject();
  const id = await make(server, project, "/templates", templateOf(blocks));
  const context = await browser.newContext({ baseURL: server.url });
  await context.request.post("/auth/login", { data: project.owner });
  const page = await context.newPage();
  page.setDefaultTimeout(30_000);
  const faults: string[] = [];
  page.on("pageerror", (error) => faults.push(error.message));
  await page.goto(`/app/${project.id}${(await pathOf?.(id, project)) ?? `/templates/${id}`}`);
  const stored = async () => (await server.call<Stored>("GET", `/templates/${id}`, project.byKey)).body;
  return { page, project, id, faults, stored };
}

async function save(page: Page): Promise<void> {
  await page.keyboard.press("Control+s");
  await page.getByRole("button", { name: "Saved", exact: true }).waitFor();
}

const button = (page: Page, name: string | RegExp) => page.getByRole("button", { name, exact: true });
/** The email that is edited. */
const email = (page: Page) => page.getByRole("group", { name: "Email content" });
const kindsOf = ({ design }: Stored) => design.blocks.map(({ kind }) => kind);
const idsOf = ({ design }: Stored) => design.blocks.map(({ id }) => id);

test("clicking text in the email and typing changes exactly that text", async () => {
  const { page, faults, stored } = await open();
  const before = await stored();
  await email(page).getByText("First line").click();
  await page.keyboard.press("End");
  await page.keyboard.type(" & more");
  await save(page);
  const { design } = await stored();
  const [heading, , ...others] = before.design.blocks;
  expect(design.blocks[0]).toEqual(heading);
  expect(design.blocks.slice(2)).toEqual(others);
  // The variables, the condition and its formatting are the same byte for byte.
  expect(design.blocks[1]).toEqual(
    text("t", paragraph("First line & more"), paragraph(CONDITION, [{ type: "bold" }])),
  );

  await email(page).getByText("Hello {{firstName").click();
  await page.keyboard.press("End");
  await page.keyboard.type("!");
  await email(page).getByText("Open", { exact: true }).click();
  await page.keyboard.press("Home");
  await page.keyboard.type("Re");
  await save(page);
  const { body, design: later } = await stored();
  expect(later.blocks[0]).toEqual({ ...heading, text: `Hello {{firstName ?? "there"}}!` });
  expect(later.blocks[2]).toEqual({ ...others[0], label: "ReOpen" });
  expect(body).toContain(`Hello {{firstName ?? "there"}}!</h1>`);
  expect(faults).toEqual([]);
});

test("text is formatted and gets a variable in the email, and undo and redo follow the keys", async () => {
  const { page, project, stored } = await open([text("t", paragraph("One two"))]);
  await server.call("POST", "/contacts", project.byKey, { email: "ada@example.com", data: { plan: "pro" } });
  await page.reload();
  await email(page).getByText("One two").click();
  await page.keyboard.press("Control+a");
  await button(page, "Bold").click();
  await page.keyboard.press("End");
  await button(page, "Bold").click();
  await button(page, "Insert variable").click();
  await page.getByRole("menuitem", { name: /^plan/ }).click();
  await email(page).getByText("{{plan").waitFor();
  const bold = { type: "text", text: "One two", marks: [{ type: "bold" }] };
  const variable = { type: "text", text: "{{plan}}" };
  const formatted = [text("t", { type: "paragraph", content: [bold, variable] })];
  await save(page);
  expect((await stored()).design.blocks).toEqual(formatted);
  await page.keyboard.press("Control+z");
  await page.keyboard.press("Control+z");
  await save(page);
  expect((await stored()).design.blocks).toEqual([text("t", paragraph("One two"))]);
  await page.keyboard.press("Control+Shift+z");
  await page.keyboard.press("Control+Shift+z");
  await save(page);
  expect((await stored()).design.blocks).toEqual(formatted);
});

/** Pastes into the focused text. */
async function paste(page: Page, html: string, plain: string): Promise<void> {
  await page.evaluate(`{
    const clipboardData = new DataTransfer();
    clipboardData.setData("text/html", ${JSON.stringify(html)});
    clipboardData.setData("text/plain", ${JSON.stringify(plain)});
    const init = { clipboardData, bubbles: true, cancelable: true };
    document.activeElement.dispatchEvent(new ClipboardEvent("paste", init));
  }`);
}

test("pasted text keeps plain formatting only", async () => {
  const { page, faults, stored } = await open([
    { id: "h", kind: "heading", level: 1, text: "A", align: "left" },
    text("t", paragraph("B")),
  ]);
  const hostile = `<h1 style="color:red" onclick="alert(1)">Big</h1><script>alert(1)</script><img src=x onerror="alert(1)"><p><b>bold</b> <a href="javascript:alert(1)">bad</a> <a href="https://example.com/{{id}}">good</a></p>`;
  await email(page).getByText("B", { exact: true }).click();
  await page.keyboard.press("Control+a");
  await paste(page, hostile, "");
  await email(page).getByText("A", { exact: true }).click();
  await page.keyboard.press("Control+a");
  await paste(page, hostile, "Two\nlines <b>");
  await save(page);
  const { body, design } = await stored();
  expect(design.blocks[0]).toMatchObject({ text: "Two lines <b>" });
  expect(body).toContain("<strong>bold</strong>");
  expect(body).toMatch(/<a href="https:\/\/example\.com\/\{\{id\}\}"[^>]*>good<\/a>/);
  expect(body).not.toMatch(/javascript|onclick|onerror|<script|color:red|<img/);
  expect(faults).toEqual([]);
});

/** Drags a block by its handle to the upper edge of another one. */
async function drag(page: Page, name: RegExp, to: Locator): Promise<void> {
  const handle = button(page, name);
  await handle.hover();
  await page.mouse.down();
  const box = await to.boundingBox();
  if (box === null) throw new Error("The target is not shown.");
  await page.mouse.move(box.x + 20, box.y + box.height / 2, { steps: 4 });
  await page.mouse.move(box.x + 20, box.y, { steps: 4 });
  await page.mouse.up();
}

test("a block is dragged to another place and into a column, and undo restores the order", async () => {
  const { page, faults, stored } = await open();
  await drag(page, /^Button Open/, email(page).getByText("Hello {{firstName"));
  await save(page);
  expect(idsOf(await stored())).toEqual(["b", "h", "t", "d", "c"]);
  await button(page, "Undo").click();
  await save(page);
  expect(idsOf(await stored())).toEqual(["h", "t", "b", "d", "c"]);
  await drag(page, /^Button Open/, email(page).getByText("Right"));
  await save(page);
  const moved = await stored();
  expect(idsOf(moved)).toEqual(["h", "t", "d", "c"]);
  expect(moved.design.blocks[3]).toMatchObject({ columns: [[{ id: "l" }], [{ id: "b" }, { id: "r" }]] });
  // Columns can't be in columns.
  await drag(page, /^Columns/, email(page).getByText("Left"));
  await save(page);
  expect(idsOf(await stored())).toHaveLength(4);
  expect(faults).toEqual([]);
});

test("a block is inserted between two others, duplicated and removed in the email", async () => {
  const { page, stored } = await open();
  await button(page, "Add block here").nth(1).click();
  await page.getByRole("menuitem", { name: "Heading" }).click();
  // Typing replaces the first text of the new block.
  await expect.poll(() => page.evaluate("getSelection().toString()")).toBe("A heading");
  await page.keyboard.type("Typed");
  await button(page, "Duplicate").last().click();
  await save(page);
  expect(kindsOf(await stored())).toEqual([
    "heading",
    "heading",
    "heading",
    "text",
    "button",
    "divider",
    "columns",
  ]);
  expect((await stored()).design.blocks[2]).toMatchObject({ text: "Typed" });
  await button(page, "Remove").click();
  await button(page, "Undo").click();
  await page.getByRole("textbox", { name: "Preview text" }).fill("Later");
  await button(page, "Undo").click();
  await save(page);
  const after = await stored();
  expect(kindsOf(after)).toEqual(["heading", "heading", "text", "button", "divider", "columns"]);
  // Undo changes blocks only.
  expect(after).toMatchObject({ previewText: "Later" });
});

test("on a phone, blocks have their settings in a dialog, and nothing is wider than the window", async () => {
  const { page, stored } = await open([
    ...BLOCKS,
    { id: "i", kind: "image", url: "", alt: "", link: "", width: null, align: "center" },
  ]);
  await page.setViewportSize({ width: 360, height: 740 });
  await page.reload();
  await email(page).getByText("Open", { exact: true }).click();
  await page.keyboard.press("End");
  await page.keyboard.type(" it");
  await button(page, "Settings").click();
  const dialog = page.getByRole("dialog");
  await dialog.getByLabel("Link").fill("https://acme.example");
  await dialog.getByRole("button", { name: "Done" }).click();
  await email(page).getByText("No image yet").click();
  await dialog.getByLabel("Alt text").fill("A leaf");
  await dialog.getByRole("button", { name: "Done" }).click();
  expect(await page.evaluate("document.documentElement.scrollWidth")).toBe(360);
  await save(page);
  const { design } = await stored();
  expect(design.blocks[2]).toMatchObject({ label: "Open it", url: "https://acme.example" });
  expect(design.blocks.at(-1)).toMatchObject({ alt: "A leaf" });
});

test("the HTML of a block and braces in a text run no script in the editor", async () => {
  const script = `<img src="x" onerror="document.title = 'run'"><script>parent.document.title = "run"</script>`;
  const { page, stored } = await open([
    { id: "x", kind: "html", html: `<p>By hand</p>${script}` },
    { id: "h", kind: "heading", level: 1, text: "A", align: "left" },
  ]);
  await email(page).frameLocator("iframe").getByText("By hand").waitFor();
  expect(await email(page).locator("iframe").getAttribute("sandbox")).not.toMatch(/script|same-origin|top/);
  await page.getByRole("textbox", { name: "Heading" }).fill(`{{${script}}}`);
  await page.getByRole("button", { name: "Save", exact: true }).waitFor();
  // The problem of the template is shown next to the email.
  await page
    .getByRole("status")
    .getByText(/This character isn't expected here/)
    .waitFor();
  await button(page, "Phone").click();
  await email(page).getByText("{{<img").waitFor();
  expect(await email(page).locator("img").count()).toBe(0);
  expect(await page.title()).not.toBe("run");
  expect((await stored()).design.blocks[0]).toMatchObject({ html: `<p>By hand</p>${script}` });
});

/** Returns the place of texts in pixels, relative to the first one. */
async function placesOf(texts: Locator[]): Promise<number[][]> {
  for (const one of texts) await one.waitFor();
  const boxes = await Promise.all(texts.map((one) => one.boundingBox()));
  const [first] = boxes;
  return boxes.map((box) => [
    Math.round((box?.x ?? 0) - (first?.x ?? 0)),
    Math.round((box?.y ?? 0) - (first?.y ?? 0)),
  ]);
}

test("the edited email looks as the sent one, on a computer and on a phone", async () => {
  const { page } = await open([
    { id: "h", kind: "heading", level: 2, text: "Heading", align: "left" },
    text("t", paragraph("Paragraph"), {
      type: "bulletList",
      content: [{ type: "listItem", content: [paragraph("Item")] }],
    }),
    { id: "d", kind: "divider" },
    { id: "b", kind: "button", label: "Label", url: "https://example.com/a", align: "left" },
    ...BLOCKS.slice(4),
  ]);
  const words = ["Heading", "Paragraph", "Item", "Label", "Left", "Right"];
  for (const width of ["Desktop", "Phone"]) {
    await button(page, width).first().click();
    const edited = await placesOf(words.map((one) => email(page).getByText(one, { exact: true })));
    await button(page, "Preview").click();
    await page.getByRole("group", { name: "Preview mode" }).getByRole("button", { name: width }).click();
    const sent = page.frameLocator("iframe");
    await sent.getByText("Right").waitFor();
    const places = await placesOf(words.map((one) => sent.getByText(one, { exact: true })));
    expect({ width, places: edited.map(([, y]) => y) }).toEqual({ width, places: places.map(([, y]) => y) });
  }
});

/** Creates a workflow that sends the template. */
async function makeWorkflow(project: TestProject, templateId: string, name: string) {
  const trigger = { triggerType: "EVENT", eventName: "signed-up" };
  const workflowId = await make(server, project, "/workflows", { name, ...trigger });
  const step = { type: "SEND_EMAIL", name: "Greet", config: { templateId } };
  return { workflowId, stepId: await make(server, project, `/workflows/${workflowId}/steps`, step) };
}

test("the email of a step is edited in the workflow, with a warning about its other uses", async () => {
  let step = { path: "", byKey: {} };
  const { page, faults, stored } = await open(BLOCKS, async (id, project) => {
    await makeWorkflow(project, id, "Other one");
    const { workflowId, stepId } = await makeWorkflow(project, id, "This one");
    step = { path: `/workflows/${workflowId}/steps/${stepId}`, byKey: project.byKey };
    return `/workflows/${workflowId}?step=${stepId}`;
  });
  const path = new URL(page.url()).pathname;
  const thumbnail = page.frameLocator("form iframe");
  await button(page, "Edit email").scrollIntoViewIfNeeded();
  await thumbnail.getByText("First line").waitFor({ state: "attached" });
  await button(page, "Edit email").click();
  const dialog = page.getByRole("dialog", { name: "Welcome" });
  await dialog.getByText("Also used in Other one. Your changes apply there, too.").waitFor();
  await email(page).getByText("First line").click();
  await page.keyboard.press("Home");
  await page.keyboard.type("The very ");
  // Unsaved text stays when another person changes the step.
  await server.call("PATCH", step.path, step.byKey, { name: "Say hello" });
  await readAgain(page);
  await page.getByRole("heading", { name: "Say hello", includeHidden: true }).waitFor({ state: "attached" });
  // Escape closes the question, and not the dialog below it.
  await dialog.getByRole("button", { name: "Close" }).click();
  const question = page.getByRole("dialog", { name: "Leave without saving?" });
  await question.waitFor();
  await page.keyboard.press("Escape");
  await question.waitFor({ state: "detached" });
  await email(page).getByText("The very First line").waitFor();
  await dialog.getByRole("button", { name: "Save", exact: true }).click();
  await dialog.getByRole("button", { name: "Saved", exact: true }).waitFor();
  expect((await stored()).body).toContain("The very First line");
  await dialog.getByRole("button", { name: "Close" }).click();
  await dialog.waitFor({ state: "detached" });
  expect(new URL(page.url()).pathname).toBe(path);
  await thumbnail.getByText("The very First line").waitFor({ state: "attached" });
  expect(faults).toEqual([]);
});
