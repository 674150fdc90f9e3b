// Tests multi-step forms with the keyboard only: sign-up, import, block editor and second factor.
import type { Page } from "playwright-core";
import { expect, test } from "vitest";
import { fromBase32 } from "../server/src/testing/base32.ts";
import { useTestServer } from "../server/src/testing/test-server.ts";
import { codeAt } from "../server/src/users/second-factor/totp.ts";
import { useBrowser } from "./use-browser.ts";
import { choose, go, press, reach, type } from "./by-keys.ts";

const server = useTestServer();
const browser = useBrowser();

const PASSWORD = "correct horse battery staple";

/** Signs up and opens the new project's home page. */
async function signUp(email: string): Promise<Page> {
  const page = await (await browser.newContext({ baseURL: server.url })).newPage();
  page.setDefaultTimeout(30_000);
  await page.goto("/app");
  await press(page, "Create account", "link");
  await page.getByRole("heading", { name: "Create your account" }).waitFor();
  await type(page, "Email", email);
  await reach(page, page.getByLabel("Password"));
  await page.keyboard.insertText(PASSWORD);
  await page.keyboard.press("Enter");
  await type(page, "Project name", "By keys");
  await page.keyboard.press("Enter");
  await page.getByRole("heading", { level: 1, name: "By keys" }).waitFor();
  return page;
}

/** Returns the subscription events of bulk changes in order. */
const changes = async () =>
  (
    await server.rows<{ subscribed: boolean }>(
      "select subscribed from consent_changes where source = 'bulk' order by id",
    )
  ).map(({ subscribed }) => subscribed);

test("sign-up, import, filter, bulk change and its undo work by keyboard", async () => {
  const page = await signUp("wizard@example.com");
  await go(page, "c", "Contacts");
  await press(page, "Import", "link");
  // Subscribe well before the key press, because the browser opens the chooser asynchronously.
  const choosing = page.waitForEvent("filechooser");
  await reach(page, page.locator("input[type=file]"));
  await page.keyboard.press("Enter");
  const rows = Array.from({ length: 4 }, (_, at) => `person${at}@example.com,${at < 2 ? "pro" : "free"},x`);
  const buffer = Buffer.from(["E-Mail,Plan,Internal", ...rows].join("\n"));
  await (await choosing).setFiles({ name: "people.csv", mimeType: "text/csv", buffer });
  await choose(page, "Target of Internal", "Don't");
  await press(page, "Preview import");
  await page.getByText("Preview: nothing has changed").waitFor();
  await press(page, "Import 4 rows");
  await page.getByText("Import complete").waitFor();
  await press(page, "All contacts", "link");
  await page.getByRole("link", { name: "person3@example.com" }).waitFor();

  await press(page, "Conditions");
  await reach(page, page.getByRole("combobox", { name: "Field" }));
  await page.keyboard.press("Enter");
  await page.getByRole("combobox", { name: "Search" }).waitFor();
  await page.keyboard.insertText("plan");
  await page.locator("[role=option][data-highlighted]", { hasText: "plan" }).waitFor();
  await page.keyboard.press("Enter");
  await type(page, "Value", "pro");
  const pro = page.getByText("Contacts where plan is “pro”.");
  await pro.waitFor();
  await page.getByRole("status").getByText("2 contacts").waitFor();
  await press(page, "Done");
  await page.reload();
  await pro.waitFor();
  await page.getByRole("link", { name: "person3@example.com" }).waitFor({ state: "detached" });

  await reach(page, page.getByLabel("Select all shown"));
  await page.keyboard.press("Space");
  await press(page, "Unsubscribe");
  await page.getByText("2 updated, 0 unchanged, 0 failed.").waitFor();
  expect(await page.getByRole("button", { name: "Undo" }).count()).toBe(1);
  expect(await page.getByLabel("Notifications", { exact: true }).textContent()).toBe("");
  await press(page, "Undo");
  await page.getByText("Subscribed: 2 updated, 0 unchanged, 0 failed.").waitFor();
  await expect.poll(changes).toEqual([false, false, true, true]);

  // Contacts may unsubscribe themselves later, so the undo is withdrawn.
  await page.clock.install();
  await reach(page, page.getByLabel("Select all shown"));
  await page.keyboard.press("Space");
  await press(page, "Unsubscribe");
  await page.getByText("Unsubscribed: 2 updated, 0 unchanged, 0 failed.").waitFor();
  const undo = page.getByRole("button", { name: "Undo" });
  await undo.waitFor();
  await page.clock.fastForward(60_000);
  await undo.waitFor({ state: "detached" });
});

test("blocks are opened, edited, added, moved, removed and restored by keyboard", async () => {
  const page = await signUp("blocks@example.com");
  await go(page, "t", "Templates");
  await press(page, "New template");
  await page.getByRole("dialog").waitFor();
  // Tab reaches the selected radio button, and arrow keys reach the others.
  const beginnings = page.getByRole("dialog").getByRole("radio");
  await reach(page, beginnings.and(page.locator(":checked")));
  await reach(page, beginnings.and(page.getByLabel("Announcement")), "ArrowDown");
  await type(page, "Name", "By keys");
  await page.keyboard.press("Enter");
  await page.getByRole("heading", { level: 1, name: "By keys" }).waitFor();
  await reach(page, page.getByRole("button", { name: /^Heading/ }));
  await page.keyboard.press("Enter");
  await type(page, "Heading", "Autumn");
  await press(page, "Block tools");
  await press(page, "Move down");
  await reach(page, page.getByRole("button", { name: "Add block", exact: true }));
  await page.keyboard.press("Enter");
  await reach(page, page.getByRole("menuitem", { name: "Divider" }), "ArrowDown");
  await page.keyboard.press("Enter");
  await press(page, "Block tools");
  await press(page, "Remove");
  await press(page, "Undo");
  await page.keyboard.press("Control+s");
  await page.getByRole("button", { name: "Saved", exact: true }).waitFor();
  const [{ kinds } = { kinds: [] }] = await server.rows<{ kinds: string[] }>(
    "select jsonb_path_query_array(design, '$.blocks[*].kind') as kinds from templates where name = 'By keys'",
  );
  expect(kinds).toEqual(["text", "heading", "button", "divider"]);
});

test("a second factor is turned on and requested at sign-in", async () => {
  const page = await signUp("factor-keys@example.com");
  await press(page, "Signed in as factor-keys@example.com");
  await reach(page, page.getByRole("menuitem", { name: "Your account" }), "ArrowDown");
  await page.keyboard.press("Enter");
  await press(page, "Turn on");
  const dialog = page.getByRole("dialog");
  await dialog.waitFor();
  await reach(page, dialog.getByLabel("Current password"));
  await page.keyboard.insertText(PASSWORD);
  await page.keyboard.press("Enter");
  const secret = fromBase32((await dialog.locator("code").textContent()) ?? "");
  const code = () => codeAt(secret, Math.floor(Date.now() / 30_000));
  await reach(page, dialog.getByLabel("Code from the app"));
  await page.keyboard.insertText(code());
  await page.keyboard.press("Enter");
  await page.getByRole("heading", { name: "Save your recovery codes" }).waitFor();
  const [recoveryCode = ""] = await dialog.getByRole("listitem").allTextContents();
  await press(page, "I saved them");
  await page.getByText("10 recovery codes left.").waitFor();

  await page.context().clearCookies();
  await page.reload();
  await type(page, "Email", "factor-keys@example.com");
  await reach(page, page.getByLabel("Password"));
  await page.keyboard.insertText(PASSWORD);
  await page.keyboard.press("Enter");
  await type(page, "Code from the app or recovery code", recoveryCode);
  await page.keyboard.press("Enter");
  expect(await page.getByText("9 recovery codes left.").textContent()).toBeTruthy();
});
