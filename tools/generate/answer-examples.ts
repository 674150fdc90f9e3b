// Records a real response of each JSON endpoint for the documentation, by using the whole API of a running service.
import { EXAMPLE_BODIES } from "@postloft/contract/openapi/examples.ts";
import { accounts } from "./account-examples.ts";
import { contactFiles, IMAGE_KEY, images, SHOWN_KEY } from "./file-examples.ts";
import { eventStream } from "./event-examples.ts";
import { watchAndMove } from "./move-examples.ts";
import { scheduledEmails } from "./scheduled-examples.ts";
import { projectTransports } from "./transport-examples.ts";
import { createStory, type Responses, type Story } from "./answer-story.ts";

const ID = /[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}/g;
const INSTANT = /\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z/g;
const LISTED_ITEMS = 2;

const isOver = ({ state }: { state: string }) => state === "completed";

/**
 * Calls every endpoint as the first user of a service, and `withContacts` before the contacts are deleted. It stores a received email, which
 * no endpoint creates.
 */
export async function recordResponses(
  url: string,
  withContacts: (projectId: string) => Promise<void>,
): Promise<Responses> {
  const story = createStory(url);
  for (const name of ["auth.signup", "auth.login"]) await story.ask(name);
  await accounts(story);
  const project = await story.ask<{ id: string; secret: string }>("projects.create");
  story.speakFor(project.id);
  await projects(story, project.id);
  await domains(story, project.id);
  await projectTransports(story, project.id);
  const contactId = await contacts(story);
  await requests(story, project.secret);
  await segments(story, contactId);
  await templates(story);
  await images(story);
  await campaigns(story);
  await workflows(story, contactId);
  await mails(story, contactId);
  await withContacts(project.id);
  await receivedEmails(story);
  await contactFiles(story, contactId);
  for (const name of ["instance.config", "instance.health", "instance.ready", "installation.access"])
    await story.ask(name);
  await members(story, project.id);
  await story.ask("projects.regenerateKeys", { params: { projectId: project.id } });
  const params = { projectId: project.id };
  const { jobId } = await story.ask<{ jobId: string }>("projects.reset", { params });
  await story.askUntil("projects.removal", { params: { ...params, jobId } }, isOver);
  await story.ask("projects.delete", { params });
  await story.ask("auth.logout");
  return story.responses;
}

async function projects({ ask }: Story, projectId: string): Promise<void> {
  await ask("projects.list");
  await ask("projects.update", { params: { projectId }, body: { language: "pt-BR" } });
  for (const name of ["list", "update", "setWebhook", "webhook"])
    await ask(`notifications.${name}`, { params: { projectId } });
  await ask("projects.setupState", { params: { projectId } });
  await ask("projects.security", { params: { projectId } });
  await ask("projects.ownSecurity", { params: { projectId } });
  for (const name of ["billing.updateLimits", "billing.limits", "billing.consumption"])
    await ask(name, { params: { projectId } });
  await ask("projects.regenerateInboundAddress", { params: { projectId } });
  await ask("webhooks.secret");
  await ask("webhooks.rotateSecret");
}

/** Tracks an event with the secret key and reads the logged request. */
async function requests(story: Story, key: string): Promise<void> {
  await story.ask("v1.track", { key });
  type Listed = { data: Array<{ id: string }> };
  const { data } = await story.askUntil<Listed>("requests.list", {}, (listed) => listed.data.length > 0);
  await story.ask("requests.get", { params: { id: data[0]?.id ?? "" } });
}

/** Invites one person who is removed, and one who becomes the owner. The project's creator remains as an admin. */
async function members({ ask }: Story, projectId: string): Promise<void> {
  const params = { projectId };
  const invite = async (body?: Record<string, unknown>): Promise<string> => {
    const asked = { params, ...(body && { body }) };
    const { invitation } = await ask<{ invitation: { link: string } }>("members.add", asked);
    const token = invitation.link.split("/").at(-1) ?? "";
    await ask("invitations.list", { params });
    await ask("invitations.read", { params: { token } });
    const { id } = await ask<{ id: string }>("invitations.signUp", { params: { token } });
    await ask("auth.login");
    return id;
  };
  const removed = await invite({ email: "alan@example.com", role: "MEMBER" });
  await ask("members.remove", { params: { projectId, userId: removed } });
  const userId = await invite();
  await ask("members.changeRole", { params: { projectId, userId } });
  await ask("members.list", { params });
  await ask("keys.create", { params });
  await ask("keys.list", { params });
  await ask("members.transferOwnership", { params, body: { userId } });
  await ask("audit.list", { params, query: "?limit=2" });
}

async function domains({ ask }: Story, projectId: string): Promise<void> {
  const { id } = await ask<{ id: string }>("domains.create");
  await ask("domains.verify", { params: { id } });
  await ask("domains.diagnose", { params: { id } });
  await ask("domains.list", { params: { projectId } });
  await ask("domains.rotateKey", { params: { id } });
  await ask("domains.update", { params: { id } });
  for (const name of ["set", "check", "get"]) await ask(`domains.${name}LinkDomain`);
}

async function contacts({ ask }: Story): Promise<string> {
  const { contact } = await ask<{ contact: string }>("v1.track");
  await ask("v1.verify");
  const params = { id: contact };
  await ask("contacts.upsert");
  await ask("contacts.update", { params, body: { subscribed: true, data: { plan: "team" } } });
  await ask("contacts.get", { params });
  await ask("contacts.links", { params });
  for (const name of ["list", "search", "count", "lookup", "listFields"]) await ask(`contacts.${name}`);
  await ask("contacts.listFieldValues", { params: { field: "data.plan" } });
  await ask("contacts.getFieldUsage", { params: { field: "data.plan" } });
  const view = await ask<{ id: string }>("contacts.createView");
  await ask("contacts.updateView", { params: { id: view.id } });
  await ask("contacts.listViews");
  return contact;
}

async function segments({ ask }: Story, contactId: string): Promise<void> {
  const { id } = await ask<{ id: string }>("segments.create");
  await ask("segments.list");
  await ask("segments.preview");
  await ask("segments.explain", { body: { ...EXAMPLE_BODIES["segments.explain"], contactId } });
  for (const name of ["update", "get", "compute", "refresh", "contacts"])
    await ask(`segments.${name}`, { params: { id } });
  await ask("segments.ofContact", { params: { id: contactId } });
  const byHand = await ask<{ id: string }>("segments.create", { body: { name: "Testers", type: "STATIC" } });
  await ask("segments.addMembers", { params: { id: byHand.id } });
  await ask("segments.removeMembers", { params: { id: byHand.id } });
  const addition = { contactIds: [contactId], targetSegmentId: byHand.id };
  await ask("contacts.bulkAddToSegment", { body: addition });
}

async function templates({ ask }: Story): Promise<void> {
  const { id } = await ask<{ id: string }>("templates.create");
  await ask("templates.list");
  for (const name of ["get", "update", "usage", "test"]) await ask(`templates.${name}`, { params: { id } });
  for (const name of ["saveVariant", "variant"])
    await ask(`templates.${name}`, { params: { id, locale: "de" } });
  const { versions } = await ask<{ versions: { id: string }[] }>("templates.versions", { params: { id } });
  const params = { id, versionId: versions[0]?.id ?? "" };
  await ask("templates.version", { params });
  await ask("templates.restoreVersion", { params });
  await ask("templates.preview");
  await ask("templates.duplicate", { params: { id } });
}

async function workflows(story: Story, contactId: string): Promise<void> {
  const { ask } = story;
  const { id } = await ask<{ id: string }>("workflows.create");
  const params = { id };
  const { id: stepId, incomingTransitions } = await ask<{
    id: string;
    incomingTransitions: Array<{ id: string }>;
  }>("workflows.addStep", { params });
  const transitionId = incomingTransitions[0]?.id ?? "";
  const condition = await ask<{ id: string }>("workflows.insertStep", { params: { id, transitionId } });
  await ask("workflows.updateStep", { params: { id, stepId } });
  await ask("workflows.pasteSteps", {
    params,
    body: { ...EXAMPLE_BODIES["workflows.pasteSteps"], fromStepId: stepId },
  });
  const end = { type: "EXIT", config: { reason: "not on pro" } };
  const exit = await ask<{ id: string }>("workflows.addStep", { params, body: end });
  const link = { fromStepId: condition.id, toStepId: exit.id, branch: "no" };
  await ask("workflows.addTransition", { params, body: link });
  await ask("workflows.update", { params });
  await ask("contacts.update", { params: { id: contactId }, body: { data: { plan: "pro" } } });
  const started = await ask<{ id: string }>("executions.start", {
    params,
    body: { ...EXAMPLE_BODIES["executions.start"], contactId },
  });
  const one = { params: { id, executionId: started.id } };
  await story.askUntil<{ status: string }>("executions.get", one, ({ status }) => status === "WAITING");
  await ask("contacts.executions", { params: { id: contactId } });
  await ask("workflows.why", { params, body: { contactId } });
  await ask("workflows.simulate", { params });
  await ask("workflows.replay", { params });
  await watchAndMove(story, { id, stepId });
  await ask("executions.cancel", one);
  await ask("executions.cancelAll", { params });
  await ask("workflows.listFields", { query: "?eventName=signed-up" });
  await ask("workflows.duplicate", { params });
  await ask("workflows.export", { params });
  await ask("workflows.import");
  await ask("workflows.listVersions", { params });
  const version = { params: { id, version: "1" } };
  await ask("workflows.restoreVersion", version);
  await ask("workflows.getVersion", version);
  await ask("workflows.updateStep", { params: { id, stepId } });
  await ask("workflows.compareVersions", version);
  const { revision } = await ask<{ revision: number }>("workflows.get", { params });
  await ask("workflows.undo", { params, body: { revision: revision - 1, expectedRevision: revision } });
  await ask("workflows.list");
}

async function campaigns(story: Story): Promise<void> {
  const { ask } = story;
  const create = EXAMPLE_BODIES["campaigns.create"] ?? {};
  const { id } = await ask<{ id: string }>("campaigns.create");
  const params = { id };
  await ask("campaigns.replace", { params, body: { ...create, ...EXAMPLE_BODIES["campaigns.replace"] } });
  await ask("campaigns.audience", { params });
  await ask("campaigns.check", { params });
  await ask("campaigns.test", { params });
  await ask("campaigns.duplicate", { params });
  await ask("campaigns.send", { params });
  await ask("campaigns.cancel", { params });
  await ask("campaigns.send", { params, body: {} });
  await story.askUntil<{ status: string; deliveredCount: number }>(
    "campaigns.get",
    { params },
    ({ status, deliveredCount }) => status === "SENT" && deliveredCount === 1,
  );
  for (const report of ["recipients", "recipientCounts", "stats", "providers", "activity", "previous"])
    await ask(`campaigns.${report}`, { params });
  await ask("campaigns.list");
}

async function mails(story: Story, contactId: string): Promise<void> {
  const { ask } = story;
  const sent = await ask<{ emails: Array<{ email: string }> }>("v1.send");
  const params = { id: sent.emails[0]?.email ?? "" };
  await story.askUntil<{ status: string }>("emails.get", { params }, ({ status }) => status === "DELIVERED");
  await ask("emails.preview", { params });
  await scheduledEmails(story);
  for (const name of ["emails.list", "emails.pausedDestinations"]) await ask(name);
  const { data } = await ask<{ data: Array<{ id: string }> }>("mailbox.list");
  await ask("mailbox.get", { params: { id: data[0]?.id ?? "" } });
  await eventStream(story);
  await ask("events.list");
  await ask("events.listByContact", { params: { contactId } });
  await ask("events.names");
  await ask("events.stats");
  for (const name of [
    "activity.list",
    "activity.recentCount",
    "activity.types",
    "activity.upcoming",
    "deliverability.get",
    "activity.stats",
    "analytics.topCampaigns",
    "analytics.campaignStats",
    "analytics.topEvents",
  ])
    await ask(name);
  const today = `?startDate=${new Date().toISOString().slice(0, 10)}`;
  for (const name of ["analytics.timeseries", "analytics.summary", "analytics.audience", "analytics.hours"])
    await ask(name, { query: today });
  await ask("analytics.breakdown", { query: `${today}&dimension=provider` });
  const eventParams = { eventName: "order placed" };
  for (const name of ["events.usage", "events.fields"]) await ask(name, { params: eventParams });
  await ask("contacts.export", { params: { id: contactId } });
  await ask("events.delete", { params: eventParams });
  await ask("v1.sendBatch");
}

async function receivedEmails({ ask }: Story): Promise<void> {
  const { data } = await ask<{ data: Array<{ id: string }> }>("received.list");
  const params = { id: data[0]?.id ?? "" };
  await ask("received.get", { params });
  await ask("received.reply", { params });
}

/** Makes responses reproducible: replaces ids, times, keys and the address, and truncates lists. */
export function asExamples(responses: Responses, url: string): Responses {
  const ids = new Map<string, string>();
  const idOf = (id: string) => {
    const known = ids.get(id);
    if (known !== undefined) return known;
    const made = `0199e0a1-7b2c-7d3e-8f40-${String(ids.size + 1).padStart(12, "0")}`;
    ids.set(id, made);
    return made;
  };
  const text = JSON.stringify(responses, (_key, value: unknown) =>
    Array.isArray(value) ? value.slice(0, LISTED_ITEMS) : value,
  )
    .replaceAll(url, "https://post.example.com")
    // Use the URL shown in the documentation's introduction.
    .replaceAll(url.replace("127.0.0.1", "localhost"), "https://post.example.com")
    .replaceAll(ID, idOf)
    .replaceAll(IMAGE_KEY, SHOWN_KEY)
    .replaceAll(INSTANT, "2026-10-01T09:00:00.000Z")
    .replaceAll(/\b([ps]k)_[A-Za-z0-9]{20,}/g, "$1_…")
    .replaceAll(/\bwhsec_[A-Za-z0-9+/]{20,}=*/g, "whsec_…")
    .replaceAll(/\bp=[A-Za-z0-9+/=]{60,}/g, "p=MIIBIjANBgkqhkiG9w0BAQ…");
  return JSON.parse(text) as Responses;
}
