// Opens dashboard pages in a new project and records the questions asked before leaving.
import type { Browser, Page } from "playwright-core";
import { expect } from "vitest";
import type { TestProject, TestServer } from "../server/src/testing/test-server.ts";

export interface Opened {
  page: Page;
  project: TestProject;
  /** Questions before leaving the page or closing the tab. The test stays on the page unless `leaves.next` is true. With null the test answers the dashboard's questions. */
  asked: string[];
  leaves: Leaves;
}

interface Leaves {
  next: boolean | null;
}

/** Returns a page's path within its project, after creating its data. */
export type PathOf = (project: TestProject) => string | Promise<string>;

/** Opens a page of a new project as its owner. */
export async function openDashboard(
  server: TestServer,
  browser: Pick<Browser, "newContext">,
  path: PathOf,
): Promise<Opened> {
  const project = await server.createProject();
  const context = await browser.newContext({ baseURL: server.url });
  const { email, password } = project.owner;
  await context.request.post("/auth/login", { data: { email, password } });
  // A page that is already loaded may send its next request before a first route takes effect. This one intercepts from the start.
  await context.route("**/intercept-from-the-start", (route) => route.continue());
  const page = await context.newPage();
  page.setDefaultTimeout(30_000);
  const asked: string[] = [];
  const leaves: Leaves = { next: false };
  page.on("dialog", (dialog) => {
    asked.push(dialog.message());
    void (leaves.next === true ? dialog.accept() : dialog.dismiss());
  });
  await handleLeaveQuestions(page, asked, leaves);
  await page.goto(`/app/${project.id}${await path(project)}`);
  return { page, project, asked, leaves };
}

/** Records the dashboard's own questions before leaving, and answers them by `leaves.next`. */
async function handleLeaveQuestions(page: Page, asked: string[], leaves: Leaves): Promise<void> {
  await page.exposeFunction("chooseToLeave", (question: string) => {
    asked.push(question);
    return leaves.next;
  });
  await page.addInitScript({
    content: `new MutationObserver(async () => {
      const dialog = document.querySelector("dialog[data-question=leave]:not([data-seen])");
      if (dialog === null) return;
      dialog.dataset.seen = "";
      const [stay, leave] = dialog.querySelectorAll("button");
      const leaves = await chooseToLeave(dialog.textContent);
      if (leaves !== null) (leaves ? leave : stay).click();
    }).observe(document, { childList: true, subtree: true });`,
  });
}

/** Creates a resource through the API and returns its id. */
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

/** Opens the editor of a new template with the subject `Before`. */
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

/** Makes the tab refetch, as after a change in another tab. */
export async function readAgain(page: Page): Promise<void> {
  await page.evaluate('new BroadcastChannel("postloft.changes").postMessage("changed")');
}
