// Tests lists in a real browser: a selection becomes a segment and a campaign, and phones keep the columns that matter.
import { expect, test } from "vitest";
import { useTestServer } from "../server/src/testing/test-server.ts";
import { openDashboard } from "./open-dashboard.ts";
import { useBrowser } from "./use-browser.ts";

const server = useTestServer();
const browser = useBrowser();

test("selected contacts become a segment, which becomes the audience of a campaign", async () => {
  const { page, project } = await openDashboard(server, browser, async ({ byKey }) => {
    for (const [email, plan] of [
      ["ada@example.com", "pro"],
      ["bob@example.com", "pro"],
      ["eve@example.com", "free"],
    ])
      await server.call("POST", "/contacts", byKey, { email, data: { plan } });
    return "/contacts";
  });
  const dialog = page.getByRole("dialog");
  for (const name of ["ada", "bob"]) await page.getByRole("checkbox", { name: new RegExp(name) }).check();
  await page.getByRole("button", { name: "Add to segment" }).click();
  await dialog.getByLabel("Name").fill("Friends");
  await dialog.getByRole("button", { name: "Add contacts" }).click();
  // The report leads to the result.
  await page.getByText("Added to segment: 2 updated, 0 unchanged, 0 failed.").waitFor();
  await page.getByRole("link", { name: "Open segment" }).click();
  await page.getByRole("heading", { level: 1, name: "Friends" }).waitFor();
  await page.getByRole("row", { name: /bob@example\.com/ }).waitFor();
  expect(await page.getByRole("row", { name: /@example\.com/ }).count()).toBe(2);

  await page.getByRole("button", { name: "Use in a campaign" }).click();
  await dialog.getByLabel("Name").fill("To friends");
  await dialog.getByRole("button", { name: "Create draft" }).click();
  await page.getByRole("heading", { level: 1, name: "To friends" }).waitFor();
  expect(await page.getByRole("radio", { name: /^Segment/ }).isChecked()).toBe(true);
  await page.getByText("2 of 2").waitFor();
  await page.getByRole("link", { name: "Campaigns", exact: true }).click();
  await page.getByRole("row", { name: /To friends.*Friends/ }).waitFor();
  // Clicks have their own column, and the draft has none.
  await page.getByRole("columnheader", { name: "Clicked" }).waitFor();

  // Values that contacts have are suggested, most frequent first.
  await page.goto(`/app/${project.id}/contacts`);
  await page.getByRole("button", { name: "Conditions" }).click();
  await page.getByRole("combobox", { name: "Field" }).click();
  await page.getByRole("option", { name: /^plan/ }).click();
  const value = page.getByLabel("Value", { exact: true });
  await value.click();
  await expect
    .poll(() =>
      value.evaluate((input) =>
        [...((input as never as Listed).list?.options ?? [])].map((one) => one.value),
      ),
    )
    .toEqual(["pro", "free"]);
});

test("a field is set and a segment filled for all matching contacts, also on a phone", async () => {
  const { page, project } = await openDashboard(server, browser, async ({ byKey, id }) => {
    await server.call("POST", "/contacts", byKey, { email: "ada@example.com", data: { plan: "pro" } });
    await server.rows(
      `insert into contacts (project_id, id, email, subscribed, data)
       select $1, new_id(), 'p' || n || '@example.org', true, '{}' from generate_series(1, 60) n`,
      id,
    );
    return "/contacts?search=example.org";
  });
  const dialog = page.getByRole("dialog");
  const bar = page.getByRole("region", { name: "Selected contacts" });
  const selectAll = async () => {
    await page.getByRole("checkbox", { name: "Select all shown" }).check();
    await bar.getByRole("button", { name: "Select all 60 matches" }).click();
  };
  await page.setViewportSize({ width: 390, height: 800 });
  // A click before the contacts are there would do nothing.
  const listed = Promise.withResolvers<void>();
  await page.route(/\/contacts\?/, async (route) => {
    if (route.request().resourceType() === "fetch") await listed.promise;
    await route.continue();
  });
  await page.reload();
  const tick = page.getByRole("checkbox", { name: "Select all shown" });
  await tick.waitFor();
  expect(await tick.isDisabled()).toBe(true);
  listed.resolve();
  await selectAll();
  expect((await bar.boundingBox())?.height).toBeLessThan(400);
  await bar.getByRole("button", { name: "Set field" }).click();
  await dialog.getByText("60 contacts").waitFor();
  await dialog.getByRole("button", { name: "Set field" }).click();
  await dialog.getByText("Choose a field first.").waitFor();
  await dialog.getByRole("combobox", { name: "Field" }).click();
  await page.getByRole("option", { name: /^plan/ }).click();
  await dialog.getByLabel("Value").fill("free");
  await dialog.getByRole("button", { name: "Set field" }).click();
  await page.getByText("60 updated, 0 unchanged, 0 failed.").waitFor();
  const plans = () =>
    server.rows(
      "select data ->> 'plan' as plan, count(*)::int as count from contacts where project_id = $1 group by 1 order by 1",
      project.id,
    );
  expect(await plans()).toEqual([
    { plan: "free", count: 60 },
    { plan: "pro", count: 1 },
  ]);

  await page
    .getByRole("checkbox", { name: /^Select p/ })
    .first()
    .check();
  await bar.getByRole("button", { name: "Set field" }).click();
  await dialog.getByRole("combobox", { name: "Field" }).click();
  await page.getByRole("option", { name: /^plan/ }).click();
  await dialog.getByRole("checkbox", { name: "Remove this field" }).check();
  await dialog.getByRole("button", { name: "Remove field" }).click();
  await page.getByText("1 updated, 0 unchanged, 0 failed.").waitFor();
  expect(await plans()).toContainEqual({ plan: null, count: 1 });

  await page.setViewportSize({ width: 1280, height: 800 });
  await selectAll();
  await bar.getByRole("button", { name: "Add to segment" }).click();
  await dialog.getByLabel("Name").fill("Readers");
  await dialog.getByRole("button", { name: "Add contacts" }).click();
  await page.getByText("Added to segment: 60 updated, 0 unchanged, 0 failed.").waitFor();
  await page.getByRole("link", { name: "Open segment" }).click();
  await page.getByRole("heading", { level: 1, name: "Readers" }).waitFor();
});

/** An input with suggestions, because tests don't have the types of a browser. */
interface Listed {
  list: { options: Iterable<{ value: string }> } | null;
}

test("phones show the two columns that matter without sideways scrolling", async () => {
  const { page, project } = await openDashboard(server, browser, async ({ byKey }) => {
    await server.call("POST", "/contacts", byKey, { email: "ada@example.com" });
    return "/contacts";
  });
  await page.setViewportSize({ width: 390, height: 800 });
  const table = page.getByRole("region", { name: "Contacts", exact: true });
  await table.getByText("ada@example.com").waitFor();
  await table.getByText("Subscribed").waitFor();
  await table.getByRole("columnheader", { name: "Added" }).waitFor({ state: "detached" });
  await expect.poll(() => table.evaluate((frame) => frame.scrollWidth - frame.clientWidth)).toBe(0);
  await page.setViewportSize({ width: 1280, height: 800 });
  await table.getByRole("columnheader", { name: "Added" }).waitFor();
  await page.goto(`/app/${project.id}/activity?view=requests`);
  const requests = page.getByRole("region", { name: "API requests", exact: true });
  await requests.getByRole("columnheader", { name: "Duration" }).waitFor();
  await page.setViewportSize({ width: 390, height: 800 });
  await requests.getByText("/contacts").first().waitFor();
  await requests.getByRole("columnheader", { name: "Duration" }).waitFor({ state: "detached" });
  await expect.poll(() => requests.evaluate((frame) => frame.scrollWidth - frame.clientWidth)).toBe(0);
});

test("an outline of the page appears before its program, and an icon and a title with it", async () => {
  const { page, project } = await openDashboard(server, browser, async () => "/contacts");
  const held = Promise.withResolvers<void>();
  await page.route("**/assets/index-*.js", async (route) => {
    await held.promise;
    await route.continue();
  });
  await page.goto(`/app/${project.id}/contacts`, { waitUntil: "commit" });
  await page.locator("#shell .project").waitFor();
  expect(await page.locator("#root").innerHTML()).toBe("");
  const icon = await page.locator("link[rel=icon]").getAttribute("href");
  expect((await page.request.get(icon ?? "")).headers()["content-type"]).toBe("image/svg+xml");
  held.resolve();
  await page.getByRole("heading", { level: 1, name: "Contacts" }).waitFor();
  expect(await page.locator("#shell").isVisible()).toBe(false);
  expect(await page.title()).toBe("Contacts · Postloft");
});
