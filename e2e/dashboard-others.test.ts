// Tests in a real browser that concurrent edits by two people never silently overwrite each other.
import type { Page } from "playwright-core";
import { expect, test } from "vitest";
import { useTestServer } from "../server/src/testing/test-server.ts";
import { make, openDashboard, openTemplate, readAgain, type PathOf } from "./open-dashboard.ts";
import { useBrowser } from "./use-browser.ts";

const server = useTestServer();
const browser = useBrowser();

const open = (path: PathOf) => openDashboard(server, browser, path);

test("saving one cap keeps the caps that another admin changed", async () => {
  const { page, project } = await open(() => "/settings?tab=usage");
  await page.getByRole("textbox", { name: "Campaign emails" }).fill("500");
  const caps = `/users/@me/projects/${project.id}/billing-limits`;
  await server.call("PUT", caps, project.bySession, { transactional: 900 });
  await page.getByRole("button", { name: "Save caps" }).click();
  await page.getByText("Caps changed").waitFor();
  const stored = "select transactional, campaigns, workflows from billing_limits where project_id = $1";
  expect(await server.rows(stored, project.id)).toEqual([
    { transactional: 900, campaigns: 500, workflows: null },
  ]);
  expect(await page.getByRole("textbox", { name: "Transactional emails" }).inputValue()).toBe("900");
});

/** Rejects reads of URLs with this ending until stopped. */
async function refuseReads(page: Page, ends: string): Promise<{ end: () => void }> {
  let isRefused = true;
  const error = { code: "FORBIDDEN", message: "Not now.", requestId: "none" };
  await page.route(`**/${ends}`, (route) =>
    isRefused && route.request().method() === "GET"
      ? route.fulfill({ status: 403, json: { success: false, error } })
      : route.continue(),
  );
  return { end: () => (isRefused = false) };
}

test("typed settings stay when a reload fails, and are reloaded on request", async () => {
  const { page, project } = await open(() => "/settings?tab=usage");
  const cap = page.getByRole("textbox", { name: "Campaign emails" });
  await cap.fill("500");
  const caps = await refuseReads(page, "billing-limits");
  await readAgain(page);
  await page.getByText("Not now.").waitFor();
  expect(await cap.inputValue()).toBe("500");
  caps.end();
  await page.getByRole("button", { name: "Try again" }).click();
  await page.getByText("Not now.").waitFor({ state: "detached" });
  expect(await cap.inputValue()).toBe("500");
  await page.getByRole("button", { name: "Save caps" }).click();
  await page.getByText("Caps changed").waitFor();

  const webhook = await refuseReads(page, "notifications/webhook");
  await page.goto(`/app/${project.id}/settings?tab=notifications`);
  await page.getByText("Not now.").waitFor();
  webhook.end();
  await page.getByRole("button", { name: "Try again" }).click();
  const address = page.getByLabel("URL");
  await address.fill("https://example.com/hook");
  const choices = await refuseReads(page, "notifications");
  await readAgain(page);
  await page.getByText("Not now.").waitFor();
  expect(await address.inputValue()).toBe("https://example.com/hook");
  choices.end();
  await page.getByRole("button", { name: "Try again" }).click();
  await page.getByText("Not now.").waitFor({ state: "detached" });
  expect(await address.inputValue()).toBe("https://example.com/hook");
});

test("a typed suspension reason survives a failed reload, and leaving the page asks", async () => {
  const { page, asked } = await open(async ({ id }) => {
    await server.rows("update projects set disabled = true where id = $1", id);
    await server.rows(
      "insert into project_suspensions (project_id, id, reasons, rates) values ($1, $1, '[]', '[]')",
      id,
    );
    return "/settings?tab=reputation";
  });
  const cause = page.getByLabel("Cause and fix");
  await cause.fill("A list that was bought");
  const security = await refuseReads(page, "security");
  await readAgain(page);
  await page.getByText("Not now.").waitFor();
  expect(await cause.inputValue()).toBe("A list that was bought");
  security.end();
  await page.getByRole("button", { name: "Try again" }).click();
  await page.getByText("Not now.").waitFor({ state: "detached" });
  await page.getByRole("button", { name: "Members" }).click();
  await expect.poll(() => asked).toHaveLength(1);
  expect(await cause.inputValue()).toBe("A list that was bought");
});

const about = (domain: string) => ({
  operator: "AND",
  conditions: [{ field: "email", operator: "contains", value: domain }],
});

test("reopening a segment shows its stored version, and concurrent edits cause a conflict", async () => {
  let id = "";
  const { page, project } = await open(async (one) => {
    const segment = { name: "Readers", type: "DYNAMIC", filters: about("@one.example") };
    id = await make(server, one, "/segments", segment);
    return `/segments/${id}`;
  });
  const change = (filters: object) => server.call("PATCH", `/segments/${id}`, project.byKey, { filters });
  const stored = async () => {
    const segment = await server.call<{ name: string; filters: unknown }>(
      "GET",
      `/segments/${id}`,
      project.byKey,
    );
    return { name: segment.body.name, filters: segment.body.filters };
  };
  const value = page.getByLabel("Value");
  await expect.poll(() => value.inputValue()).toBe("@one.example");
  await page.getByRole("link", { name: "All segments" }).click();
  await page.getByRole("link", { name: "Readers" }).waitFor();
  await change(about("@two.example"));
  await page.getByRole("link", { name: "Readers" }).click();
  await value.waitFor();
  expect(await value.inputValue()).toBe("@two.example");

  await change(about("@three.example"));
  await value.fill("@mine.example");
  await page.getByRole("button", { name: "Save", exact: true }).click();
  await page.getByText(/^Someone else changed this segment /).waitFor();
  expect(await stored()).toEqual({ name: "Readers", filters: about("@three.example") });
  await page.getByRole("button", { name: "View saved version" }).click();
  await page.getByRole("dialog").getByText("@three.example").waitFor();
  await page.getByRole("dialog").getByRole("button", { name: "Overwrite" }).click();
  await page.getByText("Segment saved").waitFor();
  expect(await stored()).toEqual({ name: "Readers", filters: about("@mine.example") });

  await change(about("@four.example"));
  await page.getByLabel("Name", { exact: true }).fill("Mine");
  await page.getByRole("button", { name: "Save", exact: true }).click();
  await page.getByRole("button", { name: "View saved version" }).click();
  await page.getByRole("button", { name: "Use saved version" }).click();
  await expect.poll(() => value.inputValue()).toBe("@four.example");
  expect(await page.getByLabel("Name", { exact: true }).inputValue()).toBe("Readers");
  await page.getByRole("button", { name: "Saved", exact: true }).waitFor();
});

test("reopening a template shows its stored version", async () => {
  const { page, project, id } = await openTemplate(server, browser);
  const subject = page.getByRole("textbox", { name: "Subject" });
  await expect.poll(() => subject.inputValue()).toBe("Before");
  await page.getByRole("link", { name: "All templates" }).click();
  await page.getByRole("link", { name: "Hello" }).waitFor();
  await server.call("PATCH", `/templates/${id}`, project.byKey, { subject: "After" });
  await page.getByRole("link", { name: "Hello" }).click();
  await subject.waitFor();
  expect(await subject.inputValue()).toBe("After");
});

/** Opens a step of a draft, with functions to change it as another user and to read it. */
async function openCampaign(step: string, input: object = {}) {
  const campaign = {
    name: "News",
    subject: "Before",
    body: "<p>Hi</p>",
    from: "news@sandbox.localhost",
    audienceType: "ALL",
  };
  let id = "";
  const opened = await open(async (project) => {
    id = await make(server, project, "/campaigns", { ...campaign, ...input });
    return `/campaigns/${id}?step=${step}`;
  });
  const change = async (changed: object) => {
    const all = { ...campaign, ...input, ...changed };
    await server.call("PUT", `/campaigns/${id}`, opened.project.byKey, all);
  };
  const stored = async () =>
    (
      await server.rows<{ subject: string; name: string }>(
        "select subject, name from campaigns where id = $1",
        id,
      )
    )[0];
  return { ...opened, change, stored };
}

test("campaign changes elsewhere are shown in untouched fields and conflict in edited ones", async () => {
  const { page, change, stored } = await openCampaign("content");
  const subject = page.getByLabel("Subject");
  await subject.fill("Mine ");
  await expect.poll(async () => (await stored())?.subject).toBe("Mine ");
  await page.getByText("Saved", { exact: true }).waitFor();
  await change({ subject: "Theirs" });
  await readAgain(page);
  await expect.poll(() => subject.inputValue()).toBe("Theirs");

  await change({ subject: "Theirs again", name: "Their name" });
  await subject.fill("Mine again");
  await page.getByText(/^Someone else changed this campaign /).waitFor();
  await page.getByText("Unsaved changes").waitFor();
  expect(await subject.inputValue()).toBe("Mine again");
  expect(await page.getByLabel("Campaign name").inputValue()).toBe("Their name");
  expect((await stored())?.subject).toBe("Theirs again");
  await page.getByRole("button", { name: "Overwrite" }).click();
  await page.getByText("Saved", { exact: true }).waitFor();
  expect(await stored()).toEqual({ subject: "Mine again", name: "Their name" });
});

test("a change saved between the read and the write of a campaign is kept", async () => {
  const { page, change, stored } = await openCampaign("content");
  let isFirst = true;
  await page.route("**/campaigns/*", async (route) => {
    if (isFirst && route.request().method() === "PUT") {
      isFirst = false;
      await change({ name: "Their name" });
    }
    await route.continue();
  });
  await page.getByLabel("Subject").fill("Mine");
  await expect.poll(stored).toEqual({ subject: "Mine", name: "Their name" });
  await page.getByText("Saved", { exact: true }).waitFor();
  expect(await page.getByLabel("Campaign name").inputValue()).toBe("Their name");
});

test("a draft kept by this tab does not overwrite a version stored since", async () => {
  const { page, change, stored, leaves } = await openCampaign("content");
  const subject = page.getByLabel("Subject");
  let isDown = true;
  await page.route("**/campaigns/*", (route) =>
    isDown && route.request().method() === "PUT" ? route.abort() : route.continue(),
  );
  await subject.fill("Mine");
  await page.getByText("Unsaved changes").waitFor();
  leaves.next = true;
  await page.getByRole("link", { name: "All campaigns" }).click();
  await page.getByRole("link", { name: "News" }).waitFor();
  await change({ subject: "Theirs" });
  isDown = false;
  await page.goBack();
  await page.getByText(/^Someone else changed this campaign /).waitFor();
  expect(await subject.inputValue()).toBe("Mine");
  expect((await stored())?.subject).toBe("Theirs");
  await page.getByRole("button", { name: "View saved version" }).click();
  await page.getByRole("dialog").getByText("Theirs").waitFor();
  await page.getByRole("button", { name: "Use saved version" }).click();
  await expect.poll(() => subject.inputValue()).toBe("Theirs");
  await page.getByText("Saved", { exact: true }).waitFor();
  await page.reload();
  await expect.poll(() => subject.inputValue()).toBe("Theirs");
});

const FILTERED = { audienceType: "FILTERED", audienceFilter: about("@one.example") };

test("the audience step shows changes made elsewhere", async () => {
  const { page, change } = await openCampaign("audience", FILTERED);
  const value = page.getByLabel("Value");
  await expect.poll(() => value.inputValue()).toBe("@one.example");
  await change({ audienceFilter: about("@two.example") });
  await readAgain(page);
  await expect.poll(() => value.inputValue()).toBe("@two.example");
  await change({ audienceType: "ALL", audienceFilter: null });
  await readAgain(page);
  await expect.poll(() => page.getByLabel("Everyone").isChecked()).toBe(true);
  await page.getByText("Saved", { exact: true }).waitFor();
});

test("leaving an incomplete or unsaved audience asks first", async () => {
  const { page, asked } = await openCampaign("audience", FILTERED);
  const value = page.getByLabel("Value");
  await value.fill("");
  const content = page.getByRole("button", { name: "2 Content" });
  await content.click();
  await expect.poll(() => asked).toHaveLength(1);
  await value.fill("@mine.example");
  await content.click();
  await page.getByLabel("Subject").waitFor();
  expect(asked).toHaveLength(1);
  await page.getByRole("button", { name: "1 Audience" }).click();
  await expect.poll(() => value.inputValue()).toBe("@mine.example");

  let refuse: (() => void) | undefined;
  const held = new Promise<void>((resolve) => (refuse = resolve));
  await page.route("**/campaigns/*", async (route) => {
    if (route.request().method() !== "PUT") return route.continue();
    await held;
    return route.abort();
  });
  await page.getByLabel("Everyone").check();
  await content.click();
  refuse?.();
  await expect.poll(() => asked).toHaveLength(2);
  await page.getByText("Unsaved changes").waitFor();
});
