// Tests in a real browser that unsaved input is never lost unless the user discards it.
import type { Page, Route } from "playwright-core";
import { expect, test } from "vitest";
import { LIMITS } from "../contract/src/limits/limits.ts";
import { useTestServer, type TestProject } from "../server/src/testing/test-server.ts";
import { openDashboard, readAgain, type PathOf } from "./open-dashboard.ts";
import { useBrowser } from "./use-browser.ts";

const server = useTestServer();
const browser = useBrowser();

const open = (path: PathOf) => openDashboard(server, browser, path);

async function signInAgain(page: Page, { owner }: TestProject): Promise<void> {
  await page.getByLabel("Email").fill(owner.email);
  await page.getByLabel("Password").fill(owner.password);
  await page.getByRole("button", { name: "Sign in", exact: true }).click();
}

test("typed settings survive a change of tab and a save by another user", async () => {
  const { page, project, asked } = await open(() => "/settings");
  const tabs = page.getByRole("group", { name: "Section" });
  const settings = `/users/@me/projects/${project.id}`;
  await page.getByLabel("Project name").fill("Typed");
  await tabs.getByRole("button", { name: "Usage" }).click();
  await expect.poll(() => asked).toHaveLength(1);
  expect(await page.getByLabel("Project name").inputValue()).toBe("Typed");

  await server.call("PATCH", settings, project.bySession, { language: "pt-BR" });
  await readAgain(page);
  await expect.poll(() => page.getByLabel("Language").inputValue()).toBe("pt-BR");
  expect(await page.getByLabel("Project name").inputValue()).toBe("Typed");
  await page.getByRole("button", { name: "Save settings" }).click();
  await page.getByText("Settings saved").waitFor();
  expect(await server.rows("select name, language from projects where id = $1", project.id)).toEqual([
    { name: "Typed", language: "pt-BR" },
  ]);

  await tabs.getByRole("button", { name: "Usage" }).click();
  await page.getByLabel("Campaign emails").fill("500");
  await tabs.getByRole("button", { name: "Notifications" }).click();
  await expect.poll(() => asked).toHaveLength(2);
  await page.getByRole("button", { name: "Save caps" }).click();
  await page.getByText("Caps changed").waitFor();
  await tabs.getByRole("button", { name: "Notifications" }).click();
  await page.getByLabel("URL").fill("https://example.com/hook");
  await tabs.getByRole("button", { name: "General" }).click();
  await expect.poll(() => asked).toHaveLength(3);
  expect(await page.getByLabel("URL").inputValue()).toBe("https://example.com/hook");
});

test("the question before leaving works by keyboard, gives the focus back, and leaves only when confirmed", async () => {
  const { page, leaves } = await open(() => "/settings");
  leaves.next = null;
  const question = page.getByRole("dialog", { name: "Leave without saving?" });
  const contacts = page.getByRole("link", { name: "Contacts", exact: true });
  await page.getByLabel("Project name").fill("Typed");
  await contacts.press("Enter");
  await question.getByText("You will lose your changes.").waitFor();
  // The shortcut of another page does nothing below the question.
  await page.keyboard.press("g");
  await page.keyboard.press("s");
  await page.keyboard.press("Escape");
  await question.waitFor({ state: "detached" });
  expect(await contacts.evaluate((link) => link === link.ownerDocument.activeElement)).toBe(true);
  expect(await page.getByLabel("Project name").inputValue()).toBe("Typed");
  await page.keyboard.press("Enter");
  await question.waitFor();
  await page.keyboard.press("Tab");
  await page.keyboard.press("Enter");
  await page.getByRole("heading", { level: 1, name: "Contacts" }).waitFor();
  expect(await question.count()).toBe(0);
});

test("Back pressed twice while the question is open asks once and leaves by one page at most", async () => {
  const { page, project, leaves } = await open(() => "/contacts");
  leaves.next = null;
  const question = page.getByRole("dialog", { name: "Leave without saving?" });
  const goTo = async (name: string) => {
    await page.getByRole("link", { name, exact: true }).click();
    await page.getByRole("heading", { level: 1, name }).waitFor();
  };
  const back = () => page.evaluate("history.back()");
  await page.evaluate(
    "const { go } = history; window.moves = []; history.go = (by) => { moves.push(by); go.call(history, by); }",
  );
  const path = () => new URL(page.url()).pathname;
  await goTo("Segments");
  await goTo("Templates");
  await goTo("Settings");
  await page.getByLabel("Project name").fill("Typed");
  for (const choice of ["Stay on page", "Leave page"]) {
    await back();
    await question.waitFor();
    // The URL is that of the page before until the question has its answer.
    await expect.poll(path).toBe(`/app/${project.id}/templates`);
    await back();
    await page.waitForURL(`**/${project.id}/segments`);
    await page.waitForURL(`**/${project.id}/templates`);
    await question.getByRole("button", { name: choice }).click();
    await question.waitFor({ state: "detached" });
    if (choice === "Leave page") break;
    await expect.poll(path).toBe(`/app/${project.id}/settings`);
    expect(await page.getByLabel("Project name").inputValue()).toBe("Typed");
  }
  await page.getByRole("heading", { level: 1, name: "Templates" }).waitFor();
  // Each second Back was undone, and the router moved once, to stay. It never saw the second Back.
  expect(await page.evaluate("moves")).toEqual([1, 1, 1]);
  expect(path()).toBe(`/app/${project.id}/templates`);
  await back();
  await page.getByRole("heading", { level: 1, name: "Segments" }).waitFor();
  expect(await question.count()).toBe(0);
});

test("rejected JSON of a contact names the field, and leaving the page asks", async () => {
  const { page, asked } = await open(async ({ byKey }) => {
    const contact = { email: "ada@example.com", data: { plan: "pro" } };
    const { body } = await server.call<{ id: string }>("POST", "/contacts", byKey, contact);
    return `/contacts/${body.id}?tab=data`;
  });
  await page.getByText("Data as JSON").click();
  const json = page.getByRole("textbox", { name: "Data as JSON" });
  const keys = Array.from({ length: LIMITS.contactKeys.value + 1 }, (_, at) => [`k${at}`, at]);
  await json.fill(JSON.stringify(Object.fromEntries(keys)));
  await page.getByRole("button", { name: "Save data" }).click();
  const faults = page.getByRole("alert").getByRole("listitem");
  await faults.filter({ hasText: /^data Must have at most/ }).waitFor();
  const save = page.getByRole("button", { name: "Save data" });
  await json.fill('{"plan": "free", "account": 12345678901234567890}');
  await page.getByText("This number has too many digits to store exactly.").waitFor();
  expect(await save.isDisabled()).toBe(true);
  await json.fill('{"plan": "free"}');
  await page.getByRole("link", { name: "All contacts" }).click();
  await expect.poll(() => asked).toHaveLength(1);
  await save.click();
  await page.getByText("Data saved").waitFor();
  await page.getByRole("link", { name: "All contacts" }).click();
  await page.getByRole("heading", { level: 1, name: "Contacts" }).waitFor();
  expect(asked).toHaveLength(1);
});

test("text typed into a segment during a save stays, and keeps the focus", async () => {
  const { page, project, asked } = await open(async ({ byKey }) => {
    const filters = {
      operator: "AND",
      conditions: [{ field: "email", operator: "contains", value: "@example.com" }],
    };
    const segment = { name: "Readers", type: "DYNAMIC", filters };
    const { body } = await server.call<{ id: string }>("POST", "/segments", byKey, segment);
    return `/segments/${body.id}`;
  });
  const name = page.getByLabel("Name", { exact: true });
  await name.fill("Readers of it");
  let go: (() => void) | undefined;
  const held = new Promise<void>((resolve) => (go = resolve));
  await page.route("**/segments/*", async (route: Route) => {
    if (route.request().method() === "PATCH") await held;
    await route.continue();
  });
  await name.press("Enter");
  await name.press("End");
  await page.keyboard.type(" all");
  go?.();
  await page.getByText("Segment saved").waitFor();
  await page.getByRole("heading", { level: 1, name: "Readers of it" }).waitFor();
  expect(await name.inputValue()).toBe("Readers of it all");
  expect(await name.evaluate((input) => input === input.ownerDocument.activeElement)).toBe(true);
  await page.getByRole("link", { name: "All segments" }).click();
  await expect.poll(() => asked).toHaveLength(1);
  await name.press("Enter");
  await page.getByRole("button", { name: "Saved", exact: true }).waitFor();
  expect(await server.rows("select name from segments where project_id = $1", project.id)).toEqual([
    { name: "Readers of it all" },
  ]);
});

test("an ended session is renewed in place and pending calls finish; only the link leaves", async () => {
  const { page, project, asked, leaves } = await open(() => "/settings");
  const renewal = page.getByRole("dialog", { name: "Your session has ended" });
  await page.getByLabel("Project name").fill("Typed");
  await page.context().clearCookies();
  await page.getByRole("button", { name: "Save settings" }).click();
  await renewal.waitFor();
  await page.keyboard.press("Escape");
  await page.mouse.click(5, 5);
  // The email address is prefilled.
  expect(await renewal.getByLabel("Email").inputValue()).toBe(project.owner.email);
  await page.keyboard.insertText(project.owner.password);
  await page.keyboard.press("Enter");
  await renewal.waitFor({ state: "detached" });
  await page.getByText("Settings saved").waitFor();
  expect(await server.rows("select name from projects where id = $1", project.id)).toEqual([
    { name: "Typed" },
  ]);
  expect(await page.getByLabel("Project name").inputValue()).toBe("Typed");
  expect(asked).toEqual([]);

  await page.getByLabel("Project name").fill("Typed again");
  await page.context().clearCookies();
  await page.getByRole("button", { name: "Save settings" }).click();
  leaves.next = true;
  await renewal.getByRole("link", { name: "Go to the sign-in page" }).click();
  await page.getByRole("heading", { name: "Sign in to Postloft" }).waitFor();
  expect(asked).toHaveLength(1);
  await signInAgain(page, project);
  await page.getByRole("heading", { level: 1, name: "Settings" }).waitFor();
  // The URL can be bookmarked.
  expect(new URL(page.url()).pathname).toBe(`/app/${project.id}/settings`);
  await page.reload();
  await page.getByRole("heading", { level: 1, name: "Settings" }).waitFor();
});

test("a user who stays on a page is not signed out, now or later", async () => {
  const { page, project, asked, leaves } = await open(() => "/settings");
  const isSignedIn = async () => (await page.request.get("/users/@me")).status() === 200;
  const signOut = async () => {
    await page.getByRole("button", { name: `Signed in as ${project.owner.email}` }).click();
    await page.getByRole("menuitem", { name: "Sign out" }).click();
  };
  await page.getByLabel("Project name").fill("Typed");
  await signOut();
  await expect.poll(() => asked).toHaveLength(1);
  expect(await page.getByLabel("Project name").inputValue()).toBe("Typed");
  leaves.next = true;
  await page.getByRole("link", { name: "Domains" }).click();
  await page.getByRole("heading", { level: 1, name: "Domains" }).waitFor();
  expect(await isSignedIn()).toBe(true);
  await signOut();
  await page.getByRole("heading", { name: "Sign in to Postloft" }).waitFor();
  await expect.poll(isSignedIn).toBe(false);
});

test("a click outside a dialog closes it only if nothing was typed", async () => {
  const { page } = await open(async ({ byKey }) => {
    await server.call("POST", "/contacts", byKey, { email: "ada@example.com" });
    const segment = { name: "Readers", type: "STATIC" };
    const { body } = await server.call<{ id: string }>("POST", "/segments", byKey, segment);
    return `/segments/${body.id}`;
  });
  const dialog = page.getByRole("dialog", { name: "Add contacts" });
  await page.getByRole("button", { name: "Add contacts" }).click();
  await dialog.waitFor();
  await page.mouse.click(5, 5);
  await dialog.waitFor({ state: "detached" });
  await page.getByRole("button", { name: "Add contacts" }).click();
  await dialog.getByLabel("Email addresses").fill("ada@example.com");
  await page.mouse.click(5, 5);
  expect(await dialog.getByLabel("Email addresses").inputValue()).toBe("ada@example.com");
  await dialog.getByRole("button", { name: "Add contacts" }).click();
  await page.getByText("1 contact added").waitFor();
  await dialog.waitFor({ state: "detached" });
  await page.getByRole("button", { name: "Add contacts" }).click();
  await dialog.getByLabel("Email addresses").fill("grace@example.com");
  await page.keyboard.press("Escape");
  await dialog.waitFor({ state: "detached" });
});

test.each([
  { noun: "templates", rest: { type: "MARKETING" } },
  { noun: "campaigns", rest: { audienceType: "ALL" } },
] as const)(
  "a page of $noun being deleted is read-only until the deletion is undone",
  async ({ noun, rest }) => {
    const content = { name: "News", subject: "News", body: "<p>News</p>", from: "news@sandbox.localhost" };
    const { page, project } = await open(async ({ byKey }) => {
      type Made = { id: string; data?: { id: string } };
      const { body } = await server.call<Made>("POST", `/${noun}`, byKey, { ...content, ...rest });
      return `/${noun}/${body.data?.id ?? body.id}?step=content`;
    });
    const subject = page.getByLabel("Subject");
    await page.getByRole("button", { name: "Delete" }).click();
    await page.getByText("“News” deleted").waitFor();
    await page.goBack();
    await page.getByRole("heading", { name: "This item was deleted" }).waitFor();
    await subject.waitFor({ state: "detached" });
    await page.getByRole("button", { name: "Undo" }).click();
    await page.getByText("“News” deleted").waitFor({ state: "detached" });
    await subject.waitFor();
    await page.getByRole("button", { name: "Delete" }).click();
    await page.getByText("“News” deleted").waitFor();
    await page.goBack();
    await page.getByRole("heading", { name: "This item was deleted" }).waitFor();
    await expect
      .poll(() => server.rows(`select 1 from ${noun} where project_id = $1`, project.id))
      .toEqual([]);
    await page.getByRole("heading", { name: "This item was deleted" }).waitFor();
    expect(await subject.count()).toBe(0);
  },
);

test("leaving a page with an edited contact field asks first", async () => {
  const { page, asked } = await open(async ({ byKey }) => {
    const contact = { email: "ada@example.com", data: { plan: "pro" } };
    const { body } = await server.call<{ id: string }>("POST", "/contacts", byKey, contact);
    return `/contacts/${body.id}?tab=data`;
  });
  const plan = page.getByRole("textbox", { name: "plan" });
  const part = page.getByRole("group", { name: "Section" });
  await page.getByRole("button", { name: "Edit plan" }).click();
  await part.getByRole("button", { name: "Timeline" }).click();
  await plan.waitFor({ state: "detached" });
  expect(asked).toEqual([]);

  await part.getByRole("button", { name: "Data" }).click();
  await page.getByRole("button", { name: "Edit plan" }).click();
  await plan.fill("typed for long");
  await part.getByRole("button", { name: "Timeline" }).click();
  await expect.poll(() => asked).toHaveLength(1);
  expect(await plan.inputValue()).toBe("typed for long");

  await plan.focus();
  await page.keyboard.press("Escape");
  await page.getByRole("button", { name: "Add field" }).click();
  const value = page.getByRole("textbox", { name: "Value" });
  await value.fill("new");
  await page.getByRole("link", { name: "All contacts" }).click();
  await expect.poll(() => asked).toHaveLength(2);
  expect(await value.inputValue()).toBe("new");

  // Deleting the contact does not ask about unsaved input.
  await page.getByRole("button", { name: "Delete", exact: true }).click();
  await page.getByRole("button", { name: "Delete contact" }).click();
  await page.getByRole("heading", { level: 1, name: "Contacts" }).waitFor();
  expect(asked).toHaveLength(2);
});
