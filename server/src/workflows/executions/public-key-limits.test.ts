// Limits on the emails that workflows send because of calls with a public key: which emails count, and what happens beyond a limit.
import { afterEach, beforeAll, expect, test } from "vitest";
import * as activity from "@postloft/contract/activity.ts";
import * as contacts from "@postloft/contract/contacts.ts";
import * as segments from "@postloft/contract/segments.ts";
import * as templates from "@postloft/contract/templates.ts";
import { armFailpoints } from "../../platform/failpoints.ts";
import { createSealer } from "../../platform/crypto.ts";
import { transaction } from "../../platform/database/database.ts";
import { createDns } from "../../platform/dns.ts";
import { createLog } from "../../platform/log.ts";
import { enqueueSentEvents } from "../../reactions/reactions.ts";
import { recordEvents } from "../../events/events.ts";
import { createDomains } from "../../domains/domains.ts";
import { computeDueSegment } from "../../segments/compute-segment.ts";
import { followChanges } from "../../segments/sync-members.ts";
import { APP_SECRET, useTestServer, type TestCaller, type TestProject } from "../../testing/test-server.ts";
import { drawWorkflow, type Drawing } from "../../testing/workflow-fixture.ts";
import { advanceDue } from "./advance.ts";
import type { StepParts } from "./database-environment.ts";
import { react } from "./react.ts";

/** Only the test moves executions. */
const server = useTestServer({ ROLES: "api" });
const LIMITS = {
  PUBLIC_KEY_EMAILS_PER_HOUR: 20,
  PUBLIC_KEY_EMAILS_PER_DAY: 50,
  PUBLIC_KEY_FIRST_EMAILS_PER_HOUR: 100,
};
const ADA = "ada@example.com";

let parts: StepParts;
beforeAll(() => {
  const domains = createDomains({
    database: server.database,
    sealer: createSealer(APP_SECRET),
    dns: createDns([]),
    log: createLog({ level: "silent" }),
    staysHere: true,
    returnPath: null,
    baseUrl: () => "https://post.example",
  });
  parts = { domains, publicKeyLimits: LIMITS, sealer: createSealer(APP_SECRET), baseUrl: () => "" };
});
afterEach(() => armFailpoints([]));

interface Scene {
  project: TestProject;
  templateId: string;
  byPublicKey: TestCaller;
}

async function setScene(): Promise<Scene> {
  const project = await server.createProject();
  const { body } = await server.call(templates.createTemplate, project.byKey, {
    body: {
      name: "Welcome",
      subject: "Hello",
      body: "<p>Hello</p>",
      type: "TRANSACTIONAL",
      from: "hello@sandbox.localhost",
    },
  });
  return { project, templateId: body.id, byPublicKey: { key: project.publicKey } };
}

const onEvent = (eventName: string) => ({ type: "EVENT" as const, config: { eventName }, event: eventName });
const onEntry = (segmentId: string, event: string) => ({
  type: "SEGMENT_ENTRY" as const,
  config: { segmentId },
  event,
});

/** Draws a workflow of these steps, one after the other; a SEND_EMAIL sends the template of the scene. */
function draw(
  { project, templateId }: Scene,
  trigger: NonNullable<Drawing["trigger"]>,
  ...steps: Drawing["steps"]
) {
  const all: Drawing["steps"] = [
    ["trigger", "TRIGGER"],
    ...steps.map(([name, type, config]): Drawing["steps"][number] => [
      name,
      type,
      type === "SEND_EMAIL" ? { templateId, ...config } : (config ?? {}),
    ]),
  ];
  const links = all.slice(1).map(([name], at): Drawing["links"][number] => [all[at]?.[0] ?? "", name]);
  return drawWorkflow(server.database, project.id, {
    trigger,
    steps: all,
    links,
    allowReentry: true,
    name: "Welcome",
  });
}

const track = async (
  caller: TestCaller,
  event: string,
  { email = ADA, ...body }: Record<string, unknown> = {},
) => {
  const reply = await server.call("POST", "/v1/track", caller, { email, event, ...body });
  expect(reply.status).toBe(200);
};

/** Lets everything happen that follows from what happened. */
async function settle({ project: { id } }: Scene): Promise<void> {
  for (let isBusy = true; isBusy;) {
    await followChanges(server.database, id);
    await react(server.database, id);
    isBusy = (await advanceDue(server.database, parts, id)) > 0;
  }
}

/** Tracks an event several times, each after the consequences of the one before: a contact is in a workflow once at a time. */
async function flood(scene: Scene, caller: TestCaller, times: number, events: readonly string[] = ["go"]) {
  for (let at = 0; at < times; at++) {
    await Promise.all(events.map((event) => track(caller, event)));
    await settle(scene);
  }
}

const countEmails = async ({ project }: Scene, to = ADA) =>
  (
    await server.rows<{ count: number }>(
      "select count(*)::integer from emails where project_id = $1 and to_address = $2",
      project.id,
      to,
    )
  )[0]?.count;
/** How many emails have which mark. */
const marks = async ({ project }: Scene) =>
  Object.fromEntries(
    (
      await server.rows<{ mark: string; count: number }>(
        "select coalesce(from_public_key, 'NONE') as mark, count(*)::integer from emails where project_id = $1 group by 1",
        project.id,
      )
    ).map(({ mark, count }) => [mark, count]),
  );
const skipped = async ({ project }: Scene) =>
  (
    await server.rows<{ reason: string; count: number }>(
      `select data ->> 'reason' as reason, count(*)::integer from events
       where project_id = $1 and name = 'email.skipped' group by 1`,
      project.id,
    )
  ).map(({ reason, count }) => `${count} ${reason}`);
const letTimePass = ({ project }: Scene, minutes: number) =>
  server.rows(
    "update emails set created_at = created_at - $2::integer * interval '1 minute' where project_id = $1",
    project.id,
    minutes,
  );

test("a flood with a public key sends one contact 20 emails an hour and 50 a day", async () => {
  const scene = await setScene();
  const { project, byPublicKey } = scene;
  const events = Array.from({ length: 10 }, (_, at) => `go ${at}`);
  const workflows = [];
  for (const event of events)
    workflows.push(
      await draw(
        scene,
        onEvent(event),
        ["mail", "SEND_EMAIL"],
        ["tag", "UPDATE_CONTACT", { updates: { seen: 1 } }],
      ),
    );
  const [workflow] = workflows;
  await flood(scene, byPublicKey, 10, events);
  expect(await countEmails(scene)).toBe(20);
  expect(await skipped(scene)).toEqual(["80 PUBLIC_KEY_LIMIT"]);

  const [last] = await server.rows<{ status: string; trace: Array<Record<string, unknown>> }>(
    "select status, trace from workflow_executions where project_id = $1 order by id desc limit 1",
    project.id,
  );
  expect(last?.status).toBe("COMPLETED");
  expect(last?.trace).toMatchObject([{}, { is: "SKIPPED", out: { code: "PUBLIC_KEY_LIMIT" } }, {}]);
  const read = await server.call<{ problems: object[] }>("GET", `/workflows/${workflow?.id}`, project.byKey);
  expect(read.body.problems).toEqual([
    {
      code: "EMAILS_SKIPPED",
      severity: "warning",
      stepId: workflow?.step("trigger"),
      message: expect.stringContaining(
        "8 emails were skipped in the last 24 hours because of events sent with a public key.",
      ),
    },
  ]);
  const feed = await server.call(activity.listActivity, project.byKey, {
    query: { type: "email.skipped", limit: 1 },
  });
  expect(feed.body.data).toMatchObject([
    {
      type: "email.skipped",
      contactEmail: ADA,
      metadata: { reason: "PUBLIC_KEY_LIMIT", workflowId: expect.any(String), workflowName: "Welcome" },
    },
  ]);

  // Skipped emails don't use up the day.
  await letTimePass(scene, 61);
  await flood(scene, byPublicKey, 3, events);
  expect(await countEmails(scene)).toBe(40);
  await letTimePass(scene, 61);
  await flood(scene, byPublicKey, 3, events);
  expect(await countEmails(scene)).toBe(50);
  await letTimePass(scene, 24 * 60);
  await flood(scene, byPublicKey, 1, events.slice(0, 1));
  expect(await countEmails(scene)).toBe(51);
});

test("workflows share the limit of a contact, which the secret key and custom recipients don't touch", async () => {
  const scene = await setScene();
  const toSales = { recipient: { type: "CUSTOM", customEmail: "sales@example.com" } };
  for (let at = 0; at < 4; at++) await draw(scene, onEvent("go"), ["mail", "SEND_EMAIL"]);
  await draw(scene, onEvent("go"), ["tell", "SEND_EMAIL", toSales]);
  await flood(scene, scene.byPublicKey, 6);
  expect([await countEmails(scene), await countEmails(scene, "sales@example.com")]).toEqual([20, 6]);
  await flood(scene, scene.project.byKey, 1);
  expect([await countEmails(scene), await countEmails(scene, "sales@example.com")]).toEqual([24, 7]);
  expect(await marks(scene)).toEqual({ FIRST: 1, LATER: 19, NONE: 11 });
  // Another contact has a limit of its own.
  await track(scene.byPublicKey, "go", { email: "bob@example.com" });
  await settle(scene);
  expect(await countEmails(scene, "bob@example.com")).toBe(4);
});

test("a limit of 0 is off", async () => {
  const scene = await setScene();
  for (let at = 0; at < 4; at++) await draw(scene, onEvent("go"), ["mail", "SEND_EMAIL"]);
  const limited = parts;
  parts = {
    ...parts,
    publicKeyLimits: {
      ...LIMITS,
      PUBLIC_KEY_EMAILS_PER_HOUR: 0,
      PUBLIC_KEY_EMAILS_PER_DAY: 22,
      PUBLIC_KEY_FIRST_EMAILS_PER_HOUR: 0,
    },
  };
  await flood(scene, scene.byPublicKey, 6);
  parts = limited;
  expect(await countEmails(scene)).toBe(22);
});

test.each(["while it waits", "before it looks"])(
  "a wait that an event with a public key ends %s counts from there on",
  async (when) => {
    const scene = await setScene();
    const { project, byPublicKey } = scene;
    await draw(
      scene,
      onEvent("go"),
      ["before", "SEND_EMAIL"],
      ["wait", "WAIT_FOR_EVENT", { eventName: "paid", timeout: 3_600 }],
      ["after", "SEND_EMAIL"],
    );
    for (const [email, payer] of [
      ["public@example.com", byPublicKey],
      ["secret@example.com", project.byKey],
    ] as const) {
      await track(project.byKey, "go", { email });
      if (when === "while it waits") await settle(scene);
      await track(payer, "paid", { email });
      await settle(scene);
    }
    expect(
      await server.rows(
        "select to_address, from_public_key from emails where project_id = $1 order by created_at, id",
        project.id,
      ),
    ).toEqual([
      { toAddress: "public@example.com", fromPublicKey: null },
      { toAddress: "public@example.com", fromPublicKey: "LATER" },
      { toAddress: "secret@example.com", fromPublicKey: null },
      { toAddress: "secret@example.com", fromPublicKey: null },
    ]);
  },
);

test("executions started by a marked execution inherit its mark, also through segments and emails", async () => {
  const scene = await setScene();
  const { project, byPublicKey } = scene;
  await server.call(contacts.upsertContact, project.byKey, { body: { email: ADA, subscribed: false } });
  const makeSegment = async (name: string, condition: object) => {
    const { body } = await server.call(segments.createSegment, project.byKey, {
      body: {
        name,
        filters: { operator: "AND", conditions: [condition] },
        trackMembership: true,
      },
    });
    await computeDueSegment(server.database, project.id, body.id);
    return body.id;
  };
  const pros = await makeSegment("Pros", { field: "data.plan", operator: "equals", value: "pro" });
  const seen = await makeSegment("Seen", { field: "data.seen", operator: "equals", value: true });
  const emailed = await makeSegment("Emailed", { field: "email.sent", operator: "triggered" });
  // The call sets data and a subscription itself, and its workflow sets others.
  await draw(scene, onEvent("go"), [
    "set",
    "UPDATE_CONTACT",
    { updates: { plan: "pro" }, subscriptionAction: "unsubscribe" },
  ]);
  const starts: Array<[string, NonNullable<Drawing["trigger"]>]> = [
    ["data of the call", onEntry(seen, "segment.seen.entry")],
    ["subscription by the call", onEvent("contact.subscribed")],
    ["data of a step", onEntry(pros, "segment.pros.entry")],
    ["subscription by a step", onEvent("contact.unsubscribed")],
    ["a sent email", onEvent("email.sent")],
    ["a segment of sent emails", onEntry(emailed, "segment.emailed.entry")],
    ["an email that arrived", onEvent("email.delivery")],
  ];
  const ids = new Map<string, string>();
  for (const [name, trigger] of starts)
    ids.set((await draw(scene, trigger, ["mail", "SEND_EMAIL"])).id, name);
  await track(byPublicKey, "go", { subscribed: true, data: { seen: true } });
  await settle(scene);
  const [email] = await server.rows<{ id: string; contactId: string }>(
    "update emails set status = 'SENT', sent_at = now() where project_id = $1 and id = (select min(id::text)::uuid from emails where project_id = $1) returning id, contact_id",
    project.id,
  );
  const ofEmail = { projectId: project.id, contactId: email?.contactId ?? "", emailId: email?.id ?? "" };
  await transaction(server.database, async (tx) => {
    await enqueueSentEvents(tx, [ofEmail]);
    await recordEvents(tx, [{ ...ofEmail, name: "email.delivery" }]);
  });
  await settle(scene);
  const rows = await server.rows<{ workflowId: string; mark: string | null }>(
    "select distinct workflow_id, from_public_key as mark from emails where project_id = $1",
    project.id,
  );
  const found = rows.map(({ workflowId, mark }) => `${ids.get(workflowId)}: ${mark}`);
  expect(found.toSorted()).toEqual(starts.map(([name]) => `${name}: LATER`).toSorted());
});

test("limits first emails to contacts that never asked per hour, and never sends the rest", async () => {
  const scene = await setScene();
  const { project, byPublicKey } = scene;
  await draw(scene, onEvent("go"), ["mail", "SEND_EMAIL"]);
  const strangers = Array.from({ length: 300 }, (_, at) => `stranger${at}@example.com`);
  const trackAll = (emails: readonly string[], caller = byPublicKey) =>
    Promise.all(emails.map((email) => track(caller, "go", { email })));
  await trackAll(strangers);
  await settle(scene);
  expect([await marks(scene), await skipped(scene)]).toEqual([{ FIRST: 100 }, ["200 FIRST_EMAIL_LIMIT"]]);

  // Contacts that asked in some way are not held up; those that got an email are no strangers any more.
  await server.call(contacts.upsertContact, project.byKey, { body: { email: "bob@example.com" } });
  await track(project.byKey, "other", { email: strangers[290] });
  await server.call("POST", "/contacts", project.byKey, { email: strangers[291], subscribed: false });
  await trackAll(["bob@example.com", ...strangers.slice(290, 293)]);
  await settle(scene);
  expect([await marks(scene), await skipped(scene)]).toEqual([
    { FIRST: 100, LATER: 3 },
    ["201 FIRST_EMAIL_LIMIT"],
  ]);

  // Nothing is sent later by itself. More is allowed to a project that sends more: three times its hourly average.
  await letTimePass(scene, 61);
  await settle(scene);
  expect(await marks(scene)).toEqual({ FIRST: 100, LATER: 3 });
  await server.rows(
    `insert into sending_hours (project_id, hour, sent, refused, bounced, complained)
     values ($1, date_trunc('hour', now()) - interval '5 days', 40 * 720, 0, 0, 0)`,
    project.id,
  );
  await trackAll(Array.from({ length: 130 }, (_, at) => `later${at}@example.com`));
  await settle(scene);
  expect(await marks(scene)).toEqual({ FIRST: 220, LATER: 3 });
});

test("concurrent engines and a failed batch keep the limit exact", async () => {
  const scene = await setScene();
  for (let at = 0; at < 30; at++) await draw(scene, onEvent("go"), ["mail", "SEND_EMAIL"]);
  await track(scene.byPublicKey, "go");
  await react(server.database, scene.project.id);
  armFailpoints([{ name: "workflow.before_commit", action: "throw", turn: 2 }]);
  const advance = () => advanceDue(server.database, parts, scene.project.id, 5);
  for (let round = 0; round < 3; round++) await Promise.all([advance(), advance(), advance(), advance()]);
  await settle(scene);
  expect([await countEmails(scene), await skipped(scene)]).toEqual([20, ["10 PUBLIC_KEY_LIMIT"]]);
});
