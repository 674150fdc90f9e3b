// Tests in a real browser of conditions on dates in the future.
import { expect, test } from "vitest";
import { useTestServer } from "../server/src/testing/test-server.ts";
import { openDashboard } from "./open-dashboard.ts";
import { useBrowser } from "./use-browser.ts";

const server = useTestServer();
const browser = useBrowser();

const DAY_MS = 86_400_000;
const inDays = (days: number) => new Date(Date.now() + days * DAY_MS).toISOString().slice(0, 10);

test("a segment finds dates in the next days, on a day, and with an anniversary", async () => {
  const soon = inDays(3);
  const { page, project } = await openDashboard(server, browser, async ({ byKey }) => {
    for (const [name, data] of [
      ["ada", { due: soon, born: `1992${inDays(4).slice(4)}` }],
      ["bob", { due: inDays(30), born: "1990-01-01T10:00:00Z" }],
    ] as const)
      await server.call("POST", "/contacts", byKey, { email: `${name}@example.com`, data });
    return "/segments/new";
  });
  await page.getByLabel("Name").fill("Soon");
  await page.getByRole("combobox", { name: "Field" }).click();
  await page.getByRole("option", { name: /^due/ }).click();
  const operator = page.getByLabel("Operator");
  await operator.selectOption({ label: "is in the last" });
  await page.getByText("Contacts where due is in the last 7 days or in the future.").waitFor();
  await operator.selectOption({ label: "is in the next" });
  await page.getByText("Contacts where due is in the next 7 days.").waitFor();
  await page.getByText("1 contact", { exact: true }).waitFor();

  await operator.selectOption({ label: "is on the day" });
  await page.getByText("Complete the conditions to see the result.").waitFor();
  await page.getByLabel("Value").fill(inDays(2));
  await page.getByText("0 contacts", { exact: true }).waitFor();
  await page.getByLabel("Value").fill(soon);
  await page.getByText(`Contacts where due is on “${soon}”.`).waitFor();
  await page.getByText("1 contact", { exact: true }).waitFor();

  await operator.selectOption({ label: "has an anniversary" });
  await page.getByText("Contacts where due has its anniversary today.").waitFor();
  await page.getByLabel("Duration").fill("5");
  await page.getByText("Contacts where due has its anniversary today or in the next 5 days.").waitFor();
  await page.getByText("1 contact", { exact: true }).waitFor();
  await page.getByRole("button", { name: "Create segment" }).click();
  await page.getByRole("heading", { level: 1, name: "Soon" }).waitFor();
  expect(await server.rows("select filters from segments where project_id = $1", project.id)).toEqual([
    {
      filters: {
        operator: "AND",
        conditions: [{ field: "data.due", operator: "anniversary", value: 5 }],
      },
    },
  ]);

  await page.evaluate(`localStorage.setItem("postloft.language", "de")`);
  await page.reload();
  await page
    .getByText("Kontakte, für die gilt: due hat heute oder in den nächsten 5 Tagen Jahrestag.")
    .waitFor();
  await page.getByLabel("Operator").selectOption({ label: "ist heute" });
  await page.getByText("due ist heute").waitFor();
});
