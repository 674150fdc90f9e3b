// Repeats the main dashboard tests with the keyboard only, including undo.
import type { Locator, Page } from "playwright-core";
import { expect, test } from "vitest";
import { useTestServer, type TestProject } from "../server/src/testing/test-server.ts";
import { useBrowser } from "./use-browser.ts";
import { go, press, reach, type, undo } from "./by-keys.ts";
import { readAccessibilityTree } from "./reading-order.ts";

const server = useTestServer();
const browser = useBrowser();

/** Returns a signed-out page and a project with some data. */
async function arrive(): Promise<{ page: Page; project: TestProject }> {
  const project = await server.createProject();
  for (const email of ["ada@example.com", "grace@example.net"])
    await server.call("POST", "/contacts", project.byKey, { email, data: { plan: "pro", seats: 5 } });
  const text = { name: "Monthly", subject: "News", body: "<p>Hello</p>", type: "MARKETING" };
  await server.call("POST", "/templates", project.byKey, text);
  const page = await (await browser.newContext({ baseURL: server.url })).newPage();
  page.setDefaultTimeout(30_000);
  return { page, project };
}

async function signIn(page: Page, { owner, id }: TestProject): Promise<void> {
  await page.goto(`/app/${id}`);
  await type(page, "Email", owner.email);
  await reach(page, page.getByLabel("Password"));
  await page.keyboard.insertText(owner.password);
  await page.keyboard.press("Enter");
  await page.getByRole("navigation", { name: "Project" }).waitFor();
}

async function expectFocus(one: Locator): Promise<void> {
  await expect
    .poll(() => one.evaluate((element) => element === element.ownerDocument.activeElement))
    .toBe(true);
}

/** A dialog focuses its first field and returns focus to the button that opened it. */
async function openAndLeave(page: Page, button: string, field: Locator): Promise<void> {
  await press(page, button);
  await expectFocus(field);
  await page.keyboard.press("Escape");
  await expectFocus(page.getByRole("button", { name: button, exact: true }));
}

test("saving a view, changing a contact and deleting a template work and undo by keyboard", async () => {
  const { page, project } = await arrive();
  await signIn(page, project);
  await go(page, "c", "Contacts");
  await press(page, "Subscribed");
  await press(page, "Save view");
  await page.keyboard.insertText("Readers");
  await page.keyboard.press("Enter");
  const tab = page.getByRole("button", { name: "Readers", exact: true });
  await tab.waitFor();
  await press(page, "Actions for Readers");
  await reach(page, page.getByRole("menuitem", { name: "Rename" }), "ArrowDown");
  await page.keyboard.press("Enter");
  await page.getByRole("dialog", { name: "Rename view" }).waitFor();
  await page.keyboard.press("Escape");
  await page.locator("button[aria-label='Actions for Readers']:focus").waitFor();
  await page.keyboard.press("Enter");
  await reach(page, page.getByRole("menuitem", { name: "Delete view" }), "ArrowDown");
  await page.keyboard.press("Enter");
  await page.getByText("View deleted").waitFor();
  await undo(page);
  await tab.waitFor();
  expect(await tab.getAttribute("aria-pressed")).toBe("true");

  await press(page, "ada@example.com", "link");
  await press(page, "Unsubscribe");
  await page.getByRole("button", { name: "Subscribe", exact: true }).waitFor();
  await page.getByRole("button", { name: "Undo" }).waitFor();
  // Toasts appear in a live region.
  const region = page.getByRole("region", { name: "Notifications" });
  expect(await region.getAttribute("aria-live")).toBe("polite");
  const read = (await readAccessibilityTree(page)).filter(({ name }) => name === "Unsubscribed");
  expect(read.some(({ role, within }) => role === "dialog" && within.includes("region"))).toBe(true);
  await undo(page);
  await page.getByRole("button", { name: "Unsubscribe", exact: true }).waitFor();
  await page.getByText("Undone").first().waitFor();
  const changes = async () =>
    (
      await server.rows<{ subscribed: boolean }>(
        "select subscribed from consent_changes where project_id = $1 and source = 'dashboard' order by created_at",
        project.id,
      )
    ).map(({ subscribed }) => subscribed);
  // The page shows the change before the server confirms it.
  await expect.poll(changes).toEqual([false, true]);

  const data = async () => {
    const id = new URL(page.url()).pathname.split("/").at(-1) ?? "";
    return (await server.call<{ data: unknown }>("GET", `/contacts/${id}`, project.byKey)).body.data;
  };
  const hasFocus = (name: string) => page.locator(`button[aria-label="${name}"]:focus`).waitFor();
  await press(page, "Data");
  await press(page, "Edit seats");
  await page.getByRole("spinbutton", { name: "seats" }).waitFor();
  await page.keyboard.press("Backspace");
  await page.keyboard.press("Enter");
  await page.getByRole("alert").getByText("Enter a number.").waitFor();
  await page.keyboard.press("Escape");
  await hasFocus("Edit seats");
  await page.keyboard.press("Enter");
  await page.keyboard.insertText("12");
  await page.keyboard.press("Enter");
  await hasFocus("Edit seats");
  expect(await data()).toEqual({ plan: "pro", seats: 12 });
  await undo(page);
  await expect.poll(data).toEqual({ plan: "pro", seats: 5 });

  await go(page, "t", "Templates");
  await openAndLeave(page, "New template", page.getByLabel("Name", { exact: true }));
  await press(page, "Monthly", "link");
  await press(page, "Delete");
  await page.getByText("“Monthly” deleted").waitFor();
  await page.getByText("No templates yet").waitFor();
  await undo(page);
  await page.getByRole("link", { name: "Monthly" }).waitFor();
  // Leaving the page completes the announced deletion.
  await press(page, "Monthly", "link");
  await press(page, "Delete");
  await page.getByText("“Monthly” deleted").waitFor();
  await page.goto("about:blank");
  await expect
    .poll(() => server.rows("select 1 from templates where project_id = $1", project.id))
    .toEqual([]);
});

test("a segment is described and a campaign is written, checked and sent by keyboard", async () => {
  const { page, project } = await arrive();
  await signIn(page, project);
  await go(page, "s", "Segments");
  await press(page, "New segment", "link");
  await type(page, "Name", "At example.com");
  await reach(page, page.getByRole("combobox", { name: "Field" }));
  await page.keyboard.press("Enter");
  await page.getByRole("combobox", { name: "Search" }).waitFor();
  await page.keyboard.insertText("Email address");
  await page.locator("[role=option][data-highlighted]", { hasText: "Email address" }).waitFor();
  await page.keyboard.press("Enter");
  await reach(page, page.getByLabel("Operator"));
  await page.keyboard.press("c");
  await type(page, "Value", "example.com");
  await page.getByText("1 contact", { exact: true }).waitFor();
  await press(page, "Create segment");
  await page.getByText("Segment saved").waitFor();

  await go(page, "m", "Campaigns");
  await press(page, "New campaign");
  await page.getByRole("dialog", { name: "New campaign" }).waitFor();
  await page.keyboard.insertText("By keys");
  await expect.poll(() => page.getByRole("button", { name: "Create draft" }).isEnabled()).toBe(true);
  await page.keyboard.press("Enter");
  await page.getByRole("heading", { level: 1, name: "By keys" }).waitFor();
  await reach(page, page.getByRole("button", { name: "Review and send" }));
  await page.keyboard.press("Enter");
  // Nothing was written, so the placeholder text has to be confirmed.
  await reach(page, page.getByLabel("I checked these. Send anyway."));
  await page.keyboard.press("Space");
  // The button is enabled when the campaign is checked and its audience counted.
  const sendNow = page.getByRole("button", { name: "Send now…", exact: true });
  await expect.poll(() => sendNow.isEnabled(), { timeout: 30_000 }).toBe(true);
  await press(page, "Send now…");
  await page.getByRole("dialog", { name: "Send to 2 contacts now?" }).waitFor();
  await press(page, "Send now");
  await page.getByText("2 recipients").waitFor();
  await page.getByText(/^Sent .*\d{4}/).waitFor();
});
