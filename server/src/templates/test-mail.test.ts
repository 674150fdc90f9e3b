// Tests that links in test emails never change the contact they were rendered for.
import { expect, test } from "vitest";
import * as campaignActions from "@postloft/contract/campaign-actions.ts";
import * as campaigns from "@postloft/contract/campaigns.ts";
import * as contacts from "@postloft/contract/contacts.ts";
import * as keys from "@postloft/contract/keys.ts";
import * as mailbox from "@postloft/contract/mailbox.ts";
import * as templateTrials from "@postloft/contract/template-trials.ts";
import * as templates from "@postloft/contract/templates.ts";
import * as v1 from "@postloft/contract/v1.ts";
import { errorOf, faultsOf, useTestServer, type TestProject } from "../testing/test-server.ts";

const server = useTestServer();

const BODY = "<p>Hi {{name}}</p><a href='{{unsubscribeUrl}}'>Stop</a>";

async function projectWithAda(): Promise<TestProject> {
  const project = await server.createProject();
  await server.call(contacts.upsertContact, project.byKey, {
    body: { email: "ada@example.com", data: { name: "Ada" } },
  });
  return project;
}

/** Returns the URL of the only link in the latest email. */
async function linkIn({ byKey }: TestProject, to: string): Promise<string> {
  const list = () => server.call(mailbox.listMessages, byKey, { query: { to } });
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
  const list = await server.call(contacts.listContacts, byKey);
  const template = await server.call(templates.createTemplate, byKey, {
    body: {
      name: "News",
      subject: "News",
      type: "MARKETING",
      body: BODY,
    },
  });
  const sent = await server.call(templateTrials.testTemplate, byKey, {
    params: { id: template.body.id },
    body: { email, from: "hello@sandbox.localhost", contactId: list.body.data[0]?.id },
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
  await server.call(contacts.upsertContact, byKey, { body: contact });
  const text = { name: "News", subject: "News", from: "hello@sandbox.localhost" };
  const body = `<p>Hi Ada</p><a href="{{manageUrl}}">Manage</a> <a href="{{subscribeUrl}}">Again</a> <a href='{{unsubscribeUrl}}'>Stop</a>`;
  const template = await server.call(templates.createTemplate, byKey, {
    body: {
      ...text,
      body,
      type: "HEADLESS",
    },
  });
  const campaign = await server.call(campaigns.createCampaign, byKey, {
    body: {
      ...text,
      body: "<p>Hi Ada</p>",
      audienceType: "ALL",
    },
  });
  const counts = async () => {
    const { body: stats } = await server.call(campaignActions.getCampaignStats, byKey, {
      params: { id: campaign.body.data.id },
    });
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
    const list = await server.call(mailbox.listMessages, byKey, { query: { to: email } });
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
  const key = await server.call(
    keys.createKey,
    { cookie: project.owner.cookie },
    { params: { projectId: project.id }, body: { name: "Key", scopes: ["test:send"] } },
  );
  const sent = await server.call(
    v1.send,
    { key: key.body.data.key },
    { body: { to: "ada@example.com", from: "hello@sandbox.localhost", subject: "News", body: BODY } },
  );
  expect(sent.status).toBe(200);
  expect(await follow(await linkIn(project, "ada@example.com"))).toContain("This is a test link");
  expect(await isSubscribed(project)).toBe(true);
});

test("sends unsaved content of a template or campaign as a test and stores only that email", async () => {
  const project = await projectWithAda();
  const { byKey } = project;
  const stored = { name: "News", subject: "Stored", body: "<p>Stored</p>", from: "hello@sandbox.localhost" };
  const template = await server.call(templates.createTemplate, byKey, {
    body: { ...stored, type: "TRANSACTIONAL" },
  });
  const campaign = await server.call(campaigns.createCampaign, byKey, {
    body: { ...stored, audienceType: "ALL" },
  });
  const tables = ["templates", "template_versions", "campaigns", "contacts", "events", "email_counts"];
  const contents = () =>
    Promise.all(
      tables.map((table) =>
        server.rows(
          `select row_to_json(t)::text from ${table} t where project_id = $1 order by 1`,
          project.id,
        ),
      ),
    );
  const before = await contents();
  const draft = {
    subject: "Typed {{name}}",
    previewText: "Soon",
    body: BODY,
    type: "MARKETING",
    from: "other@sandbox.localhost",
    fromName: "Other",
    replyTo: null,
  };
  const paths = [`/templates/${template.body.id}/test`, `/campaigns/${campaign.body.data.id}/test`];
  for (const [at, path] of paths.entries()) {
    const [contact] = (await server.call(contacts.listContacts, byKey)).body.data;
    const email = `typed${at}@example.org`;
    const asked = { email, contactId: contact?.id };
    expect((await server.call("POST", path, byKey, { ...asked, draft })).status).toBe(200);
    expect(await follow(await linkIn(project, email))).toContain("This is a test link");
    const [message] = (await server.call(mailbox.listMessages, byKey, { query: { to: email } })).body.data;
    expect(message).toMatchObject({ subject: "[TEST] Typed Ada", from: "other@sandbox.localhost" });
    const { body } = await server.call<{ html: string }>("GET", `/mailbox/messages/${message?.id}`, byKey);
    expect(body.html).toContain("Soon&zwnj;");
    const faulty = { ...draft, previewText: "{{#if}}", body: "{{/if}}" };
    expect(faultsOf(await server.call("POST", path, byKey, { ...asked, draft: faulty }))).toEqual([
      "draft.body custom",
      "draft.previewText custom",
    ]);
    const unverified = { ...draft, from: "me@elsewhere.example" };
    expect(errorOf(await server.call("POST", path, byKey, { ...asked, draft: unverified }))).toContain(
      "DOMAIN_NOT_VERIFIED",
    );
    expect((await server.call("POST", path, byKey, { email: `stored${at}@example.org` })).status).toBe(200);
    const list = () => server.call(mailbox.listMessages, byKey, { query: { to: `stored${at}@example.org` } });
    await expect.poll(async () => (await list()).body.data[0]?.subject).toBe("[TEST] Stored");
  }
  expect(await contents()).toEqual(before);
});
