// Templates with languages in workflows: which content a contact gets, also in a simulation, and what problems check.
import { expect, test } from "vitest";
import * as emails from "@postloft/contract/emails.ts";
import * as variants from "@postloft/contract/template-variants.ts";
import * as templates from "@postloft/contract/templates.ts";
import * as questions from "@postloft/contract/workflows/questions.ts";
import * as workflows from "@postloft/contract/workflows/workflows.ts";
import { useTestServer } from "../../testing/test-server.ts";
import { drawWorkflow, trackEvent } from "../../testing/workflow-fixture.ts";

const server = useTestServer();
const WAIT = { timeout: 30_000, interval: 20 };

const TEXTS: Readonly<Record<string, string>> = { de: "Hallo", "pt-BR": "Oi" };

async function makeTemplate(): Promise<string> {
  const { byKey } = server.project;
  const own = { name: "Welcome", subject: "Hi", body: "<p>Hi</p>", from: "news@sandbox.localhost" };
  const { body } = await server.call(templates.createTemplate, byKey, {
    body: { ...own, type: "TRANSACTIONAL" },
  });
  for (const [locale, subject] of Object.entries(TEXTS)) {
    const params = { id: body.id, locale };
    await server.call(variants.saveTemplateVariant, byKey, {
      params,
      body: { subject, body: `<p>${subject}</p>` },
    });
  }
  return body.id;
}

/** Sends the template, changes the language of the contact to Portuguese, sends again, and once more to a custom address. */
async function draw(eventName: string, templateId: string) {
  return drawWorkflow(server.database, server.project.id, {
    trigger: { type: "EVENT", config: { eventName }, event: eventName },
    steps: [
      ["trigger", "TRIGGER"],
      ["first", "SEND_EMAIL", { templateId }],
      ["move", "UPDATE_CONTACT", { updates: { locale: "pt_BR" } }],
      ["second", "SEND_EMAIL", { templateId }],
      ["team", "SEND_EMAIL", { templateId, recipient: { type: "CUSTOM", customEmail: "team@example.com" } }],
    ],
    links: [
      ["trigger", "first"],
      ["first", "move"],
      ["move", "second"],
      ["second", "team"],
    ],
  });
}

test("sends each contact its language at that time, and custom recipients the template's own content", async () => {
  const templateId = await makeTemplate();
  const { id } = await draw("joined", templateId);
  const { byKey } = server.project;
  const people: Array<[string, unknown, string, string | null]> = [
    ["a@example.com", "de-AT", "Hallo", "de"],
    ["b@example.com", "fr", "Hi", null],
    ["c@example.com", 7, "Hi", null],
    ["d@example.com", "DE", "Hallo", "de"],
  ];
  for (const [email, locale] of people) await trackEvent(server, server.project, email, "joined", { locale });
  const list = async () =>
    (await server.call(emails.listEmails, byKey, { query: { workflowId: id } })).body.data;
  await expect.poll(async () => (await list()).length, WAIT).toBe(12);
  const sent = await Promise.all(
    (await list()).map(
      async (one) => (await server.call(emails.getEmail, byKey, { params: { id: one.id } })).body,
    ),
  );
  const contents = sent.map(({ to, body, locale }) => [to, body, locale]);
  for (const [email, , text, locale] of people) {
    expect(contents).toContainEqual([email, `<p>${text}</p>`, locale]);
    expect(contents).toContainEqual([email, "<p>Oi</p>", "pt-BR"]);
  }
  expect(contents.filter(([to]) => to === "team@example.com")).toEqual(
    people.map(() => ["team@example.com", "<p>Hi</p>", null]),
  );
});

test("shows the language that a contact would get in a simulation", async () => {
  const { id } = await draw("simulated", await makeTemplate());
  const body = { contact: { email: "eve@example.com", data: { locale: "de-CH" } } };
  const simulated = await server.call(questions.simulateWorkflow, server.project.byKey, {
    params: { id },
    body,
  });
  expect(simulated.body.emails.map(({ to, subject, html }) => [to, subject, html])).toEqual([
    ["eve@example.com", "Hallo", "<p>Hallo</p>"],
    ["eve@example.com", "Oi", "<p>Oi</p>"],
    ["team@example.com", "Hi", "<p>Hi</p>"],
  ]);
});

test("reports unknown variables in a language of a template, with the language", async () => {
  const templateId = await makeTemplate();
  const { id } = await draw("checked", templateId);
  const params = { id: templateId, locale: "de" };
  const body = { subject: "Hallo {{vornahme}}", body: "<p>Hallo</p>" };
  await server.call(variants.saveTemplateVariant, server.project.byKey, { params, body });
  const { problems } = (await server.call(workflows.getWorkflow, server.project.byKey, { params: { id } }))
    .body;
  const messages = problems.filter(({ code }) => code === "UNKNOWN_VARIABLE").map(({ message }) => message);
  expect(messages).toHaveLength(3);
  expect(messages[0]).toContain('In the template "Welcome" (de): ');
  expect(messages[0]).toContain("vornahme");
});
