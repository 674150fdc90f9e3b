// Tests in a real browser that secrets shown once are not lost, and that texts to retype are shown exactly.
import type { Page } from "playwright-core";
import { expect, test } from "vitest";
import { fromBase32 } from "../server/src/testing/base32.ts";
import { useTestServer } from "../server/src/testing/test-server.ts";
import { codeAt } from "../server/src/users/second-factor/totp.ts";
import { openDashboard, type PathOf } from "./open-dashboard.ts";
import { useBrowser } from "./use-browser.ts";

const server = useTestServer();
const browser = useBrowser();

const open = (path: PathOf) => openDashboard(server, browser, path);

/** Delays POST requests to URLs with this ending until released. */
async function holdPosts(page: Page, ends: string): Promise<{ asked: Promise<void>; letGo: () => void }> {
  const asked = Promise.withResolvers<void>();
  const held = Promise.withResolvers<void>();
  await page.route(`**/${ends}`, async (route) => {
    if (route.request().method() === "POST") {
      asked.resolve();
      await held.promise;
    }
    await route.continue();
  });
  return { asked: asked.promise, letGo: held.resolve };
}

/** Tries every way to close a dialog once it is busy. */
async function tryToClose(page: Page): Promise<void> {
  const dialog = page.getByRole("dialog");
  await dialog.locator("button:disabled", { hasText: "Cancel" }).waitFor();
  await page.keyboard.press("Escape");
  await page.mouse.click(5, 5);
  await page.goBack();
  expect(await dialog.getByRole("button", { name: "Cancel" }).isDisabled()).toBe(true);
}

test("a new key is shown despite attempts to close, and leaving asks until it is copied", async () => {
  const { page, asked } = await open(() => "");
  await page.getByRole("link", { name: "API keys" }).click();
  await page.getByRole("button", { name: "New key" }).click();
  const dialog = page.getByRole("dialog");
  await dialog.getByLabel("Name").fill("Shop");
  const making = await holdPosts(page, "keys");
  await page.keyboard.press("Enter");
  await making.asked;
  await tryToClose(page);
  await expect.poll(() => asked).toHaveLength(1);
  making.letGo();
  await page.getByRole("heading", { name: "Copy your key now" }).waitFor();
  await page.goBack();
  await expect.poll(() => asked).toHaveLength(2);
  expect(await dialog.locator("code").textContent()).toMatch(/^\w{20,}/);
  await dialog.getByRole("button", { name: "Done" }).click();
  await page.getByText("Never used").waitFor();
  await page.goBack();
  await page.getByRole("link", { name: "API keys" }).waitFor();
  expect(asked).toHaveLength(2);
});

test("a webhook endpoint shows its secret once, and can be paused and deleted by admins only", async () => {
  const { page, project, asked } = await open(() => "");
  await page.getByRole("link", { name: "Settings" }).click();
  await page.getByRole("button", { name: "Webhooks" }).click();
  await page.getByText("No webhook endpoints yet").waitFor();
  await page.getByRole("button", { name: "New endpoint" }).click();
  const dialog = page.getByRole("dialog");
  await dialog.getByLabel("URL").fill("ftp://hooks.acme.example");
  await dialog.getByLabel("Event types").fill("*.email");
  await dialog.getByRole("button", { name: "Create endpoint" }).click();
  await dialog.getByText('Must be an event name, "email.*" or "*".').waitFor();
  await dialog.getByLabel("Event types").fill("contact.*\norder placed");
  await dialog.getByRole("button", { name: "Create endpoint" }).click();
  await dialog.getByText("Must begin with https:// or http://.").waitFor();
  await dialog.getByLabel("URL").fill("https://hooks.acme.example");
  await dialog.getByText("Batches, rate and filters").click();
  await dialog.getByLabel("Events per call").fill("501");
  await dialog.getByLabel("Calls per second").fill("20");
  await dialog.getByLabel("Tags").fill("receipt, order");
  await dialog.getByRole("button", { name: "Create endpoint" }).click();
  await expect.poll(() => dialog.getByLabel("Events per call").getAttribute("aria-invalid")).toBe("true");
  await dialog.getByLabel("Events per call").fill("50");
  await dialog.getByRole("button", { name: "Create endpoint" }).click();
  await page.getByRole("heading", { name: "Copy the secret now" }).waitFor();
  await page.goBack();
  await expect.poll(() => asked).toHaveLength(1);
  expect(await dialog.locator("code").textContent()).toMatch(/^whsec_[\w+/]{20,}/);
  await dialog.getByRole("button", { name: "Done" }).click();

  const endpoints = () => server.call("GET", "/webhooks/endpoints", project.byKey);
  const eventTypes = ["contact.*", "order placed"];
  const pace = { batchSize: 50, callsPerSecond: 20, tags: ["receipt", "order"] };
  expect((await endpoints()).body).toMatchObject({
    data: [{ eventTypes, ordered: false, enabled: true, ...pace }],
  });
  await page.getByText("Up to 50 events per call").waitFor();
  await page.getByRole("link", { name: "https://hooks.acme.example" }).click();
  await page.getByRole("button", { name: "Pause" }).click();
  await page.getByRole("button", { name: "Enable" }).waitFor();
  expect((await endpoints()).body).toMatchObject({ data: [{ enabled: false }] });

  const setRole = (role: string) =>
    server.rows("update memberships set role = $2 where project_id = $1", project.id, role);
  await setRole("MEMBER");
  await page.reload();
  await page.getByText("No deliveries yet").waitFor();
  expect(await page.getByRole("button", { name: /^(Enable|Delete|Resend)/ }).count()).toBe(0);
  await setRole("OWNER");
  await page.reload();
  await page.getByRole("button", { name: "Delete", exact: true }).click();
  await dialog.getByRole("button", { name: "Delete endpoint" }).click();
  await page.getByText("No webhook endpoints yet").waitFor();
  expect((await endpoints()).body).toEqual({ data: [] });
});

test("new recovery codes are shown despite attempts to close the dialog", async () => {
  const { page, project } = await open(() => "");
  const { email, password } = project.owner;
  await page.getByRole("button", { name: `Signed in as ${email}` }).click();
  await page.getByRole("menuitem", { name: "Your account" }).click();
  await page.getByRole("button", { name: "Turn on" }).click();
  const dialog = page.getByRole("dialog");
  await dialog.getByLabel("Current password").fill(password);
  await page.keyboard.press("Enter");
  const secret = fromBase32((await dialog.locator("code").textContent()) ?? "");
  await dialog.getByLabel("Code from the app").fill(codeAt(secret, Math.floor(Date.now() / 30_000)));
  const confirming = await holdPosts(page, "second-factor/confirm");
  await page.keyboard.press("Enter");
  await confirming.asked;
  await tryToClose(page);
  confirming.letGo();
  await page.getByRole("heading", { name: "Save your recovery codes" }).waitFor();
  const [recoveryCode = ""] = await dialog.getByRole("listitem").allTextContents();
  await dialog.getByRole("button", { name: "I saved them" }).click();

  await page.getByRole("button", { name: "New recovery codes" }).click();
  await dialog.getByLabel("Current password").fill(password);
  await dialog.getByLabel("Code from the app or recovery code").fill(recoveryCode);
  const renewing = await holdPosts(page, "recovery-codes");
  await page.keyboard.press("Enter");
  await renewing.asked;
  await tryToClose(page);
  renewing.letGo();
  await page.getByRole("heading", { name: "Save your recovery codes" }).waitFor();
  expect(await dialog.getByRole("listitem").count()).toBe(10);
});

test("a name with two spaces is shown exactly as it must be typed", async () => {
  const { page, project } = await open(async (one) => {
    await server.call("PATCH", `/users/@me/projects/${one.id}`, one.bySession, { name: "My  shop" });
    return "/settings?tab=danger";
  });
  const dialog = page.getByRole("dialog");
  await page.getByRole("button", { name: "Reset project" }).click();
  const shown = dialog.locator("p.font-mono");
  expect(await shown.innerText()).toBe("My  shop");
  await page.goto(`/app/${project.id}/keys`);
  await page.getByRole("button", { name: "Replace both keys" }).click();
  expect(await dialog.locator("label").innerText()).toBe("Type My  shop to confirm");
});
