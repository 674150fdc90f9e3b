// Tests in a real browser that a received email can be read, and that its content runs and loads nothing.
import { readFile } from "node:fs/promises";
import { expect, test, vi } from "vitest";
import * as mailbox from "@postloft/contract/mailbox.ts";
import { addReceivedEmails } from "../server/src/testing/received-email.ts";
import { useTestServer } from "../server/src/testing/test-server.ts";
import { openDashboard } from "./open-dashboard.ts";
import { useBrowser } from "./use-browser.ts";

const server = useTestServer();
const browser = useBrowser();

const MESSAGE = Buffer.from(
  [
    "From: Ada <ada@example.com>",
    "To: us@in.example",
    "Subject: Where is it?",
    "MIME-Version: 1.0",
    "Content-Type: multipart/mixed; boundary=part",
    "",
    "--part",
    "Content-Type: text/html",
    "",
    "<p>My order</p><script>document.body.textContent = 'ran'</script>",
    '<img src="/health" alt="" onerror="parent.location = \'/\'"><img src="https://tracker.example/pixel.gif" alt="">',
    "--part",
    'Content-Disposition: attachment; filename="order.txt"',
    "",
    "A-1042",
    "--part--",
  ].join("\r\n"),
);

test("finds a received email, shows it without running it, and saves its attachment", async () => {
  const { page } = await openDashboard(server, browser, async ({ id }) => {
    await addReceivedEmails(server.database, id, [
      { from: "bob@example.com", header: { subject: "Other", fromName: "Bob" } },
      { header: { subject: "Where is it?" }, raw: MESSAGE },
    ]);
    return "/emails";
  });
  await page.getByRole("button", { name: "Received emails" }).click();
  await page.getByRole("link", { name: "Bob" }).waitFor();
  await page.getByRole("searchbox", { name: "Search by subject" }).fill("where");
  await page.getByRole("link", { name: "Bob" }).waitFor({ state: "detached" });
  const loaded: string[] = [];
  await page.route("https://tracker.example/**", async (route) => route.fulfill({ body: "GIF89a" }));
  page.on("response", (response) => loaded.push(response.url()));
  await page.getByRole("link", { name: "Ada" }).click();
  await page.getByRole("heading", { name: "Where is it?" }).waitFor();
  const frame = page.frameLocator('iframe[title="Email content"]');
  await frame.getByText("My order").waitFor();
  expect(await frame.locator("body").innerText()).toContain("My order");
  const saved = page.waitForEvent("download");
  await page.getByRole("button", { name: "order.txt" }).click();
  const file = await saved;
  expect(file.suggestedFilename()).toBe("order.txt");
  expect(await readFile(await file.path(), "utf8")).toContain("A-1042");
  expect(loaded.filter((url) => /tracker|\/health$/.test(url))).toEqual([]);
  await page.getByRole("button", { name: "Headers" }).click();
  await page.getByText("Subject: Where is it?").waitFor();
  await page.getByRole("link", { name: "Received emails" }).click();
  await page.getByRole("link", { name: "Bob" }).waitFor();
});

test("replies to a received email with the typed text, and deletes it with undo", async () => {
  const { page, project } = await openDashboard(server, browser, async ({ id }) => {
    const [email] = await addReceivedEmails(server.database, id, [{ header: { subject: "Where is it?" } }]);
    return `/emails?received=${email?.id}`;
  });
  await page.getByRole("heading", { name: "Where is it?" }).waitFor();
  await page.getByRole("button", { name: "Reply", exact: true }).click();
  const dialog = page.getByRole("dialog");
  await dialog.getByLabel("Message").fill("It left today.\n\nUse {{code}} & <b>wait</b>.");
  await dialog.getByLabel("From").fill("help@sandbox.localhost");
  await dialog.getByRole("button", { name: "Send reply" }).click();
  await page.getByText("Reply sent").waitFor();
  const sent = await vi.waitFor(
    async () => {
      const { body } = await server.call(mailbox.listMessages, project.byKey, {});
      expect(body.data).toMatchObject([{ to: "ada@example.com", subject: "Re: Where is it?" }]);
      return body.data[0];
    },
    { timeout: 30_000 },
  );
  const message = await server.call(mailbox.getMessage, project.byKey, { params: { id: sent?.id ?? "" } });
  expect(message.body.text).toContain("It left today.\n\nUse {{code}} & <b>wait</b>.");
  await page.getByRole("button", { name: "Delete", exact: true }).click();
  await page.getByText("No received emails").waitFor();
  await page.getByRole("button", { name: "Undo" }).click();
  await page.getByRole("link", { name: "Ada" }).waitFor();
});
