// A page of the dashboard in a project of its own, and what it asks before it is left.
import type { Browser, Page } from "playwright-core";
import { expect } from "vitest";
import type { TestProject, TestServer } from "../server/src/testing/test-server.ts";

export interface Opened {
  page: Page;
  project: TestProject;
  /** What the page asked before it would be left; whoever is asked stays, unless `leaves` says otherwise. */
  asked: string[];
  leaves: { next: boolean };
}

/** Where a page is within its project, once what it shows is there. */
export type PathOf = (project: TestProject) => string | Promise<string>;

/** A page of a project of its own, for its owner. */
export async function openDashboard(
  server: TestServer,
  browser: Pick<Browser, "newContext">,
  path: PathOf,
): Promise<Opened> {
  const project = await server.createProject();
  const context = await browser.newContext({ baseURL: server.url });
  const { email, password } = project.owner;
  await context.request.post("/auth/login", { data: { email, password } });
  const page = await context.newPage();
  page.setDefaultTimeout(15_000);
  const asked: string[] = [];
  const leaves = { next: false };
  page.on("dialog", (dialog) => {
    asked.push(dialog.message());
    void (leaves.next ? dialog.accept() : dialog.dismiss());
  });
  await page.goto(`/app/${project.id}${await path(project)}`);
  return { page, project, asked, leaves };
}

/** Makes something through the API, and returns its id. */
export async function make(
  server: TestServer,
  project: TestProject,
  path: string,
  body: object,
): Promise<string> {
  type Made = { id: string };
  const { status, body: made } = await server.call<Made | { data: Made }>("POST", path, project.byKey, body);
  expect(status).toBe(201);
  return ("data" in made ? made.data : made).id;
}

/** The editor of a template of its own, whose subject is `Before`. */
export async function openTemplate(
  server: TestServer,
  browser: Pick<Browser, "newContext">,
): Promise<Opened & { id: string }> {
  const template = { name: "Hello", type: "TRANSACTIONAL", subject: "Before", body: "<p>Hi</p>" };
  let id = "";
  const opened = await openDashboard(server, browser, async (project) => {
    id = await make(server, project, "/templates", template);
    return `/templates/${id}`;
  });
  return { ...opened, id };
}

/** Has the tab read again what may have changed, as after a change in another tab. */
export async function readAgain(page: Page): Promise<void> {
  await page.evaluate('new BroadcastChannel("postloft.changes").postMessage("changed")');
}
