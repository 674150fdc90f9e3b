// Tests that links in test emails never change the contact they were rendered for.
import { expect, test } from "vitest";
import { useTestServer, type TestProject } from "../testing/test-server.ts";

const server = useTestServer();

const BODY = "<p>Hi {{name}}</p><a href='{{unsubscribeUrl}}'>Stop</a>";

async function projectWithAda(): Promise<TestProject> {
  const project = await server.createProject();
  await server.call("POST", "/contacts", project.byKey, { email: "ada@example.com", data: { name: "Ada" } });
  return project;
}

/** Returns the URL of the only link in the latest email. */
async function linkIn({ byKey }: TestProject, to: string): Promise<string> {
  const list = () => server.call<{ data: Array<{ id: string }> }>("GET", `/mailbox/messages?to=${to}`, byKey);
  await expect.poll(async () => (await list()).body.data.length).toBe(1);
  const id = (await list()).body.data[0]?.id ?? "";
  const { body } = await server.call<{ html: string }>("GET", `/mailbox/messages/${id}`, byKey);
  expect(body.html).toContain("Hi Ada");
  return /href=["']([^"']*\/unsubscribe\/[^"']*)["']/.exec(body.html)?.[1] ?? "";
}

const isSubscribed = async ({ id }: TestProject) =>
  (
    await server.rows<{ subscribed: boolean }>(
      "select subscribed from contacts where project_id = $1 and email = 'ada@example.com'",
      id,
    )
  )[0]?.subscribed;

/** Opens the page of a link, and posts the one-click unsubscribe. */
async function follow(link: string): Promise<string> {
  const page = await (await fetch(link)).text();
  const body = new URLSearchParams({ "List-Unsubscribe": "One-Click" });
  expect((await fetch(link, { method: "POST", body })).status).toBe(200);
  return page;
}

async function sendTest({ byKey }: TestProject, email: string): Promise<void> {
  const list = await server.call<{ data: Array<{ id: string }> }>("GET", "/contacts", byKey);
  const template = await server.call<{ id: string }>("POST", "/templates", byKey, {
    name: "News",
    subject: "News",
    type: "MARKETING",
    body: BODY,
  });
  const sent = await server.call("POST", `/templates/${template.body.id}/test`, byKey, {
    email,
    from: "hello@sandbox.localhost",
    contactId: list.body.data[0]?.id,
  });
  expect(sent.status).toBe(200);
}

test("links of a test email for a contact say they are tests and unsubscribe no one", async () => {
  const project = await projectWithAda();
  await sendTest(project, "me@example.org");
  const page = await follow(await linkIn(project, "me@example.org"));
  expect(page).toContain("This is a test link");
  expect(page).not.toContain("<form");
  expect(await isSubscribed(project)).toBe(true);
});

test("a test email to an address without contact has all links and saves nothing", async () => {
  const project = await server.createProject();
  const { byKey } = project;
  const contact = { email: "ada@example.com", data: { name: "Ada" } };
  await server.call("POST", "/contacts", byKey, contact);
  const text = { name: "News", subject: "News", from: "hello@sandbox.localhost" };
  const body = `<p>Hi Ada</p><a href="{{manageUrl}}">Manage</a> <a href="{{subscribeUrl}}">Again</a> <a href='{{unsubscribeUrl}}'>Stop</a>`;
  const template = await server.call<{ id: string }>("POST", "/templates", byKey, {
    ...text,
    body,
    type: "HEADLESS",
  });
  const campaign = await server.call<{ data: { id: string } }>("POST", "/campaigns", byKey, {
    ...text,
    body: "<p>Hi Ada</p>",
    audienceType: "ALL",
  });
  const counts = async () => {
    const { body: stats } = await server.call<object>(
      "GET",
      `/campaigns/${campaign.body.data.id}/stats`,
      byKey,
    );
    const [rows] = await server.rows(
      `select (select count(*) from contacts where project_id = $1) as contacts,
        (select count(*) from events where project_id = $1) as events,
        (select count(*) from consent_changes where project_id = $1) as consent`,
      project.id,
    );
    return { stats, rows };
  };
  const before = await counts();
  const paths = [`/templates/${template.body.id}/test`, `/campaigns/${campaign.body.data.id}/test`];
  for (const [at, path] of paths.entries()) {
    const email = `nobody${at}@example.org`;
    const sent = await server.call("POST", path, byKey, { email });
    expect(sent.status).toBe(200);
    const link = await linkIn(project, email);
    expect(await follow(link)).toContain("This is a test link");
    const list = await server.call<{ data: Array<{ id: string }> }>(
      "GET",
      `/mailbox/messages?to=${email}`,
      byKey,
    );
    const raw = await server.call("GET", `/mailbox/messages/${list.body.data[0]?.id}/raw`, byKey);
    const unfolded = raw.text.replaceAll("\r\n ", " ");
    expect(unfolded).toContain("List-Unsubscribe-Post: List-Unsubscribe=One-Click");
    const header = /^List-Unsubscribe: .*<(http[^>]+)>/m.exec(unfolded)?.[1] ?? "";
    expect(await follow(header)).toContain("This is a test link");
    const { body: message } = await server.call<{ html: string }>(
      "GET",
      `/mailbox/messages/${list.body.data[0]?.id}`,
      byKey,
    );
    const links = [...message.html.matchAll(/href=["']([^"']+)["']/g)].map((match) => match[1] ?? "");
    expect(links.length).toBe(at === 0 ? 3 : 2);
    expect(links.every((one) => one.startsWith("http"))).toBe(true);
  }
  expect(await counts()).toEqual(before);
});

test("a test email to the contact itself has the contact's links", async () => {
  const project = await projectWithAda();
  await sendTest(project, "ada@example.com");
  expect(await follow(await linkIn(project, "ada@example.com"))).toContain("Do you want to unsubscribe?");
  expect(await isSubscribed(project)).toBe(false);
});

test("email sent with a test key never reaches its contact and has links of no contact", async () => {
  const project = await projectWithAda();
  const key = await server.call<{ data: { key: string } }>(
    "POST",
    `/projects/${project.id}/keys`,
    { cookie: project.owner.cookie },
    { name: "Key", scopes: ["test:send"] },
  );
  const sent = await server.call(
    "POST",
    "/v1/send",
    { key: key.body.data.key },
    { to: "ada@example.com", from: "hello@sandbox.localhost", subject: "News", body: BODY },
  );
  expect(sent.status).toBe(200);
  expect(await follow(await linkIn(project, "ada@example.com"))).toContain("This is a test link");
  expect(await isSubscribed(project)).toBe(true);
});
