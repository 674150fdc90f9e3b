// Tests every row of the merge tag table through the API: accepted, warned about with a replacement, and sent.
import { expect, test } from "vitest";
import * as campaigns from "@postloft/contract/campaigns.ts";
import * as contacts from "@postloft/contract/contacts.ts";
import * as projects from "@postloft/contract/projects.ts";
import * as trials from "@postloft/contract/template-trials.ts";
import * as templates from "@postloft/contract/templates.ts";
import * as v1 from "@postloft/contract/v1.ts";
import { useTestServer } from "../testing/test-server.ts";
import type { ResponseOf } from "../testing/typed-call.ts";

const server = useTestServer();

type Warned = ResponseOf<typeof templates.createTemplate>;

const ADDRESS = "1 High Street, London";

async function makeProject() {
  const project = await server.createProject();
  await server.call(projects.updateProject, project.bySession, {
    params: { projectId: project.id },
    body: { postalAddress: ADDRESS },
  });
  await server.call(contacts.upsertContact, project.byKey, {
    body: {
      email: "ada@example.com",
      data: { firstName: "Ada", nick: "Lady", city: "" },
    },
  });
  return project;
}

const YEAR = String(new Date().getUTCFullYear());

/** By service: tags with the replacement in the warning; null for tags that work unchanged. */
const ROWS: Array<[service: string, tag: string, replacement: string]> = [
  ["Liquid", '{% if plan == "pro" %}', '{{#if (eq plan "pro")}}'],
  ["Mailchimp", "*|FNAME|*", "{{firstName}}"],
  ["Mailchimp", "*|LNAME|*", "{{lastName}}"],
  ["Mailchimp", "*|EMAIL|*", "{{email}}"],
  ["Mailchimp", "*|UNSUB|*", "{{unsubscribeUrl}}"],
  ["Mailchimp", "*|UPDATE_PROFILE|*", "{{manageUrl}}"],
  ["Mailchimp", "*|IF:PLAN=pro|*", '{{#if (eq plan "pro")}}'],
  ["Mailchimp", "*|LIST:ADDRESS|*", ADDRESS],
  ["Mailchimp", "*|CURRENT_YEAR|*", YEAR],
  ["Mailgun", "%recipient.name%", "{{name}}"],
  ["Mailgun", "%unsubscribe_url%", "{{unsubscribeUrl}}"],
  ["MailerLite", "{$name}", "{{name}}"],
  ["MailerLite", "{$unsubscribe}", "{{unsubscribeUrl}}"],
  ["ActiveCampaign", "%FIRSTNAME%", "{{firstName}}"],
  ["ActiveCampaign", "%UNSUBSCRIBELINK%", "{{unsubscribeUrl}}"],
  ["Loops", "{DATA_VARIABLE:x}", "{{x}}"],
  ["SendGrid", "{{{unsubscribe}}}", "{{unsubscribeUrl}}"],
  ["SendGrid", "<%body%>", ""],
  ["SendGrid", "{{#equals a b}}", "{{#if (eq a b)}}"],
  ["SendGrid", '{{insert name "default=there"}}', '{{name ?? "there"}}'],
  ["listmonk", "{{ UnsubscribeURL }}", "{{unsubscribeUrl}}"],
  ["listmonk", "{{ .Subscriber.Name }}", "{{name}}"],
  ["listmonk", "{{ .Subscriber.Attribs.city }}", "{{city}}"],
  ["listmonk", "@TrackLink", ""],
  ["Kit", "{{ unsubscribe_url }}", "{{unsubscribeUrl}}"],
  ["Kit", "{{ subscriber.first_name }}", "{{firstName}}"],
];

test("saves and sends each tag with a warning that names its service, place and replacement", async () => {
  const { byKey } = await makeProject();
  for (const [service, tag, replacement] of ROWS) {
    const body = `<p>Hello</p>\n<p>${tag}</p>`;
    const template = { name: "T", subject: "Hi", body, type: "MARKETING" };
    const campaign = { name: "C", subject: "Hi", body, from: "hello@sandbox.localhost", audienceType: "ALL" };
    const mail = { to: "ada@example.com", from: "hello@sandbox.localhost", subject: "Hi", body };
    const replies = [
      await server.call(templates.createTemplate, byKey, { anyBody: template }),
      await server.call(campaigns.createCampaign, byKey, { anyBody: campaign }),
      await server.call<{ data: Warned }>("POST", "/v1/send", byKey, mail),
    ];
    for (const { status, body: response } of replies) {
      expect([200, 201]).toContain(status);
      const { warnings = [] } = "data" in response ? response.data : response;
      expect(warnings.filter(({ code }) => code === "merge_tag")).toEqual([
        expect.objectContaining({
          message: expect.stringContaining(`${tag} is a merge tag of ${service}.`),
          replacement,
          where: { field: "body", line: 2, column: 4 },
        }),
      ]);
    }
  }
});

test.each([
  ["{{nick2 ?? there}}", "there"],
  ["{{nick2 ?? dear customer}}", "dear customer"],
  ["{{nick2 ?? “there”}} {{nick2 ?? 'you'}}", "there you"],
  ["{{nick2 ?? &quot;there&quot;}} {{nick2 ?? &#x27;you&#x27;}}", "there you"],
  ["{{#if (eq plan &quot;pro&quot;)}}a{{else}}b{{/if}}", "a"],
  // A word that is a field of the contact or of the call is a variable.
  ["{{nick2 ?? nick}} {{nick2 ?? plan}}", "Lady pro"],
  ["<ul>{{items}}</ul>", "<ul><li>a &amp; b</li><li>c</li></ul>"],
])("%s works unchanged and without a warning", async (body, expected) => {
  const { byKey } = await makeProject();
  const sent = await server.call(v1.send, byKey, {
    body: {
      to: "ada@example.com",
      from: "hello@sandbox.localhost",
      subject: "Hi",
      body: `<p>${body}</p>`,
      data: { plan: "pro", items: { value: ["a & b", "c"], persistent: false } },
    },
  });
  expect(sent.status).toBe(200);
  expect(sent.body.data.warnings?.filter(({ message }) => !message.includes("nick2")) ?? []).toEqual([]);
  const preview = await server.call(trials.previewTemplate, byKey, {
    body: {
      subject: "Hi",
      body,
      data: { plan: "pro", nick: "Lady", items: ["a & b", "c"] },
    },
  });
  expect(preview.body.html).toBe(expected);
});

test("treats a word that is a project field as a variable even for contacts without a value", async () => {
  const { byKey } = await makeProject();
  await server.call(contacts.upsertContact, byKey, { body: { email: "bob@example.com" } });
  const body = "<p>{{nick2 ?? nick}}|{{nick2 ?? there}}|{{nick2 ?? dear customer}}</p>";
  const mail = { to: "bob@example.com", from: "hello@sandbox.localhost", subject: "{{nick2 ?? You}}", body };
  await server.call(v1.send, byKey, { body: mail });
  const received = async () => {
    const path = "/mailbox/messages?to=bob@example.com";
    return (await server.call<{ data: Array<{ id: string }> }>("GET", path, byKey)).body.data;
  };
  await expect.poll(received).toHaveLength(1);
  const [message] = await received();
  const read = await server.call<object>("GET", `/mailbox/messages/${message?.id}`, byKey);
  expect(read.body).toMatchObject({
    subject: "You",
    html: expect.stringContaining("<p>|there|dear customer</p>"),
    text: expect.stringContaining("|there|dear customer"),
  });
});

test.each([
  ["{{First Name}}", '{{[First Name] ?? "x"}}'],
  ['{{First Name ?? "x"}}', '{{[First Name] ?? "x"}}'],
])("rejects the spaced field %s and suggests %s in the error", async (body, suggestion) => {
  const { byKey } = await makeProject();
  const reply = await server.call("POST", "/templates", byKey, {
    name: "T",
    subject: "Hi",
    body,
    type: "MARKETING",
  });
  expect(reply.status).toBe(422);
  expect(reply.body.error?.errors?.[0]?.message).toContain(suggestion);
});
