// Lists every dashboard screen and creates the data it shows.
import { randomUUID } from "node:crypto";
import type { Browser, BrowserContext, Page } from "playwright-core";
import { createApiClient, type ApiClient } from "./api-client.ts";
import { ACCOUNT, SECRET_KEY } from "./program.ts";
import { waitUntil } from "./wait-until.ts";

export interface Screen {
  name: string;
  /** The path below /app, unless it is a page of its own. */
  path: string;
  /** Whether the path begins at the root, because the screen is no part of the dashboard. */
  isOwnPage?: boolean;
  /** Whether the screen is for signed-out users. */
  isOutside?: boolean;
  /** Whether the screen shows loading states, so it never becomes idle. */
  isBusy?: boolean;
}

const PEOPLE = [
  ["ada@example.com", { firstName: "Ada", plan: "pro", seats: 12, city: "London" }],
  ["grace@example.com", { firstName: "Grace", plan: "pro", seats: 40, city: "New York" }],
  ["katherine@example.com", { firstName: "Katherine", plan: "free", seats: 1, city: "Hampton" }],
  ["hedy@example.com", { firstName: "Hedy", plan: "team", seats: 7, city: "Wien" }],
  ["noor@example.com", { firstName: "نور", plan: "team", seats: 5, city: "عمّان" }],
  ["mary@example.com", { firstName: "Mary", plan: "free", seats: 1, city: "Lyon" }],
  ["lise@example.com", { firstName: "Lise", plan: "free", seats: 2, city: "Kungälv" }],
  ["rosalind@example.com", { firstName: "Rosalind", plan: "pro", seats: 9, city: "Cambridge" }],
] as const;
const ACTIVE_PEOPLE = 5;
const SENT_WITHIN_MS = 30_000;
const SCHEDULED_IN_MS = 5 * 86_400_000;
const SETTLED_MS = 120;
const LOADED_WITHIN_MS = 15_000;
const BODY = `<h1>Hello {{firstName ?? "there"}}</h1><p>Here is what changed this month.</p><p><a href="https://acme.example/news">Read on</a></p>`;
const SENDER = "news@sandbox.localhost";

/** A filter for the contacts list. */
const CONDITIONS = {
  operator: "AND",
  conditions: [
    { field: "data.plan", operator: "in", value: ["pro", "team"] },
    { field: "event.opened-project", operator: "triggeredWithin", value: 30, unit: "days" },
  ],
};

/** Fills the first project so that no screen is empty. Returns the screens. */
export async function furnish(url: string): Promise<Screen[]> {
  const api = createApiClient(url);
  const endpointId = await makeEndpoint(api);
  const contactId = await makePeople(api);
  const templateId = await makeTemplate(api);
  const blocksId = await makeBlocks(api);
  const segmentId = await makeSegment(api);
  await makeImages(url);
  const { workflowId, emailStepId, executionId, failingId, pausedId, branchStepId, splitStepId } =
    await makeWorkflows(api, {
      contactId,
      templateId,
      segmentId,
    });
  const sentId = await makeCampaign(api, "November news");
  await api.post(`/campaigns/${sentId}/send`, {});
  const draftId = await makeCampaign(api, "December news");
  await api.post("/domains", { domain: "mail.example.com" });
  const emailId = await sendReceipt(api);
  const scheduledId = await scheduleReminder(api);
  await waitUntil("the campaign to be sent", SENT_WITHIN_MS, async () => {
    const { status } = await api.get<{ status: string }>(`/campaigns/${sentId}`);
    return status === "SENT";
  });
  const project = `/${await findProject(url)}`;
  return [
    { name: "sign-in", path: "/sign-in", isOutside: true },
    { name: "sign-up", path: "/sign-up", isOutside: true },
    { name: "forgotten-password", path: "/forgotten-password", isOutside: true },
    { name: "components", path: "/_components", isOutside: true, isBusy: true },
    { name: "home", path: project },
    { name: "contacts", path: `${project}/contacts` },
    {
      name: "contacts-conditions",
      path: `${project}/contacts?fields=plan,city&filter=${encodeURIComponent(JSON.stringify(CONDITIONS))}`,
    },
    { name: "contact", path: `${project}/contacts/${contactId}` },
    { name: "contact-emails", path: `${project}/contacts/${contactId}?tab=mails` },
    { name: "contact-data", path: `${project}/contacts/${contactId}?tab=data` },
    { name: "contact-segments", path: `${project}/contacts/${contactId}?tab=segments` },
    { name: "contact-workflows", path: `${project}/contacts/${contactId}?tab=workflows` },
    { name: "contact-consent", path: `${project}/contacts/${contactId}?tab=consent` },
    { name: "import", path: `${project}/contacts/import` },
    { name: "segments", path: `${project}/segments` },
    { name: "segment-new", path: `${project}/segments/new` },
    { name: "segment", path: `${project}/segments/${segmentId}` },
    { name: "templates", path: `${project}/templates` },
    { name: "template", path: `${project}/templates/${templateId}` },
    { name: "template-language", path: `${project}/templates/${templateId}?locale=de` },
    { name: "template-blocks", path: `${project}/templates/${blocksId}` },
    { name: "campaigns", path: `${project}/campaigns` },
    ...["audience", "content", "review"].map((step) => ({
      name: `campaign-${step}`,
      path: `${project}/campaigns/${draftId}?step=${step}`,
    })),
    { name: "campaign-report", path: `${project}/campaigns/${sentId}` },
    { name: "campaign-clicks", path: `${project}/campaigns/${sentId}?view=clicks` },
    { name: "workflows", path: `${project}/workflows` },
    { name: "workflow", path: `${project}/workflows/${workflowId}` },
    { name: "workflow-step", path: `${project}/workflows/${workflowId}?step=${emailStepId}` },
    { name: "workflow-branch", path: `${project}/workflows/${pausedId}?step=${branchStepId}` },
    { name: "workflow-split", path: `${project}/workflows/${pausedId}?step=${splitStepId}` },
    { name: "workflow-outline", path: `${project}/workflows/${workflowId}?view=outline` },
    { name: "workflow-try", path: `${project}/workflows/${workflowId}?try=${contactId}` },
    { name: "workflow-executions", path: `${project}/workflows/${workflowId}?tab=executions` },
    { name: "workflow-failures", path: `${project}/workflows/${failingId}?tab=executions` },
    { name: "execution", path: `${project}/workflows/${workflowId}/executions/${executionId}` },
    { name: "activity", path: `${project}/activity` },
    { name: "emails", path: `${project}/emails` },
    {
      name: "emails-none",
      path: `${project}/emails?search=gone@example.com&from=2026-01-01`,
    },
    { name: "emails-received", path: `${project}/emails?received=list` },
    { name: "requests", path: `${project}/activity?view=requests` },
    { name: "reports", path: `${project}/reports` },
    { name: "reports-deliverability", path: `${project}/reports?about=deliverability` },
    {
      name: "reports-bounced",
      path: `${project}/reports?metric=bounced&from=2026-01-01&to=2026-01-31`,
    },
    { name: "reports-audience", path: `${project}/reports?about=audience` },
    { name: "email", path: `${project}/emails/${emailId}` },
    { name: "email-scheduled", path: `${project}/emails/${scheduledId}` },
    { name: "domains", path: `${project}/domains` },
    { name: "keys", path: `${project}/keys` },
    { name: "account", path: `${project}/account` },
    { name: "installation", path: "/installation" },
    ...[
      "general",
      "brand",
      "images",
      "members",
      "notifications",
      "webhooks",
      "smtp",
      "transports",
      "fields",
      "reputation",
      "usage",
      "suppressions",
      "audit",
      "danger",
    ].map((tab) => ({
      name: `settings-${tab}`,
      path: `${project}/settings?tab=${tab}`,
    })),
    {
      name: "settings-webhook-endpoint",
      path: `${project}/settings?tab=webhooks&endpoint=${endpointId}`,
    },
  ];
}

/** Creates a webhook endpoint that cannot be reached, so that it has failing deliveries. */
async function makeEndpoint(api: ApiClient): Promise<string> {
  const { id } = await api.post<{ id: string }>("/webhooks/endpoints", {
    url: "https://hooks.acme.example/events",
    description: "The order system",
    eventTypes: ["email.*", "signed-up"],
    ordered: true,
  });
  return id;
}

async function makePeople(api: ApiClient): Promise<string> {
  const ids: string[] = [];
  for (const [email, data] of PEOPLE)
    ids.push((await api.post<{ id: string }>("/contacts", { email, data })).id);
  for (const [email] of PEOPLE.slice(0, ACTIVE_PEOPLE))
    for (const event of ["signed-up", "opened-project"])
      await api.post("/v1/track", { email, event, data: { source: "website" } });
  await api.post("/suppressions", { emails: ["gone@example.com"] });
  return ids[0] ?? "";
}

async function makeTemplate(api: ApiClient): Promise<string> {
  const text = { name: "Monthly news", description: "What changed, once a month", subject: "What is new" };
  const { id } = await api.post<{ id: string }>("/templates", {
    ...text,
    body: BODY,
    type: "MARKETING",
    from: SENDER,
  });
  for (const locale of ["de", "pt-BR"])
    await api.call("PUT", `/templates/${id}/variants/${locale}`, { subject: "Neues", body: BODY });
  return id;
}

const textBlock = (words: string) => ({
  kind: "text",
  align: "left",
  text: { type: "doc", content: [{ type: "paragraph", content: [{ type: "text", text: words }] }] },
});

async function makeBlocks(api: ApiClient): Promise<string> {
  const blocks = [
    { kind: "heading", level: 1, text: "Welcome aboard", align: "left" },
    textBlock('Hello {{firstName ?? "there"}}, your project is ready.'),
    { kind: "button", label: "Open it", url: "https://example.com/start", align: "left" },
    { kind: "divider" },
    { kind: "columns", columns: [[textBlock("Read the guide")], [textBlock("Ask a person")]] },
    { kind: "social", links: [{ service: "website", url: "https://example.com" }], align: "center" },
    { kind: "footer", align: "center" },
  ];
  const look = {
    background: "#eef0f7",
    surface: "#ffffff",
    ink: "#17181c",
    accent: "#4a4fd6",
    font: "sans",
    width: 600,
  };
  // Gives every block a unique id, including those in columns.
  const numbered = JSON.parse(JSON.stringify(blocks), (_key, value: unknown) =>
    typeof value === "object" && value !== null && "kind" in value ? { id: randomUUID(), ...value } : value,
  ) as object[];
  const { id } = await api.post<{ id: string }>("/templates", {
    name: "Welcome",
    subject: "Welcome aboard",
    type: "TRANSACTIONAL",
    design: {
      format: "postloft-blocks",
      version: 1,
      look,
      language: "en",
      preheader: "Your first three steps",
      blocks: numbered,
    },
  });
  return id;
}

/** An image of one pixel. Other bytes after its end make it another upload. */
const GIF = Buffer.from("R0lGODlhAQABAIAAAP///wAAACH5BAEAAAAALAAAAAABAAEAAAICRAEAOw==", "base64");

async function makeImages(url: string): Promise<void> {
  for (const name of ["team-photo.gif", "a-long-file-name-of-the-header-of-the-november-campaign.gif"]) {
    const body = new FormData();
    body.set("image", new Blob([GIF, name]), name);
    const headers = { authorization: `Bearer ${SECRET_KEY}` };
    const { status } = await fetch(new URL("/uploads/image", url), { method: "POST", headers, body });
    if (status !== 201) throw new Error(`POST /uploads/image replied ${status}.`);
  }
}

async function makeSegment(api: ApiClient): Promise<string> {
  const filters = [{ field: "data.plan", operator: "equals", value: "pro" }];
  const { id } = await api.post<{ id: string }>("/segments", {
    name: "Paying customers",
    type: "DYNAMIC",
    condition: { logic: "AND", groups: [{ filters }] },
    trackMembership: true,
  });
  return id;
}

/** Creates workflows that the contact completed, in which it failed, that are paused, and one with branches in which it waits. */
async function makeWorkflows(
  api: ApiClient,
  { contactId, templateId, segmentId }: { contactId: string; templateId: string; segmentId: string },
): Promise<
  Record<
    "workflowId" | "emailStepId" | "executionId" | "failingId" | "pausedId" | "branchStepId" | "splitStepId",
    string
  >
> {
  const start = async (id: string) => {
    await api.call("PATCH", `/workflows/${id}`, { enabled: true });
    return api.post<{ id: string }>(`/workflows/${id}/executions`, { contactId, context: { plan: "pro" } });
  };
  const make = (name: string) => api.post<{ id: string }>("/workflows", { name, eventName: "started" });
  const { id: shortId } = await make("Welcome");
  const exit = { type: "EXIT", name: "Done", config: { reason: "Has read the guide" } };
  await api.post(`/workflows/${shortId}/steps`, { ...exit, autoConnect: true });
  await start(shortId);
  const { id: failingId } = await make("Tell the warehouse");
  const url = "https://example.com/orders/{{event.order}}";
  await api.post(`/workflows/${failingId}/steps`, { type: "WEBHOOK", config: { url }, autoConnect: true });
  await start(failingId);
  const { id: pausedId } = await make("Thank customers");
  const addThanks = (step: object) => api.post<{ id: string }>(`/workflows/${pausedId}/steps`, step);
  const branches = ["Enterprise customers with a contract in Europe", "Paying"].map((name) => ({
    name,
    filter: { field: "data.plan", operator: "equals", value: name },
  }));
  const branch = await addThanks({ type: "BRANCH", config: { branches }, autoConnect: true });
  const shares = ["A", "B", "Control"].map((name, at) => ({ name, percent: [33.33, 33.34, 33.33][at] }));
  const split = await addThanks({
    type: "RANDOM_SPLIT",
    config: { shares },
    fromStepId: branch.id,
    branch: "else",
  });
  await addThanks({ ...exit, fromStepId: split.id, branch: "Control" });
  const joins = { triggerType: "SEGMENT_ENTRY", triggerConfig: { segmentId } };
  await api.call("PATCH", `/workflows/${pausedId}`, { ...joins, enabled: true });
  await api.post(`/workflows/${pausedId}/pause`, {});
  const { id } = await make("First steps");
  const add = (step: object) => api.post<{ id: string }>(`/workflows/${id}/steps`, step);
  const isPro = { field: "event.plan", operator: "equals", value: "pro" };
  const condition = await add({ type: "CONDITION", name: "Is a pro", config: isPro, autoConnect: true });
  const { id: fromStepId } = condition;
  const email = await add({ type: "SEND_EMAIL", templateId, fromStepId, branch: "yes" });
  const until = { until: "09:00", timezone: "contact", weekdays: [2] };
  const tuesday = await add({
    type: "DELAY",
    name: "Tuesday morning",
    config: until,
    fromStepId,
    branch: "no",
  });
  const delay = { type: "DELAY", name: "Three days", config: { amount: 3, unit: "days" } };
  const pause = await add({ ...delay, fromStepId: email.id });
  await api.post(`/workflows/${id}/transitions`, { fromStepId: tuesday.id, toStepId: pause.id });
  const wait = { type: "WAIT_FOR_EVENT", config: { eventName: "opened-project", timeout: 86_400 } };
  await add({ ...wait, fromStepId: pause.id });
  const { id: executionId } = await start(id);
  const ids = { failingId, pausedId, branchStepId: branch.id, splitStepId: split.id };
  return { workflowId: id, emailStepId: email.id, executionId, ...ids };
}

async function makeCampaign(api: ApiClient, name: string): Promise<string> {
  const text = { name, subject: 'What is new, {{firstName ?? "friend"}}', body: BODY, from: SENDER };
  const { data } = await api.post<{ data: { id: string } }>("/campaigns", { ...text, audienceType: "ALL" });
  return data.id;
}

async function sendReceipt(api: ApiClient): Promise<string> {
  const { data } = await api.post<{ data: { emails: Array<{ email: string }> } }>("/v1/send", {
    to: PEOPLE[0][0],
    from: "hello@sandbox.localhost",
    subject: "Your receipt",
    body: "<p>Thank you for your order.</p>",
  });
  return data.emails[0]?.email ?? "";
}

async function scheduleReminder(api: ApiClient): Promise<string> {
  const { data } = await api.post<{ data: { emails: Array<{ email: string }> } }>("/v1/send", {
    to: PEOPLE[1][0],
    from: "hello@sandbox.localhost",
    subject: "Your trial ends tomorrow",
    body: "<p>Choose a plan to keep your projects.</p>",
    scheduledFor: new Date(Date.now() + SCHEDULED_IN_MS).toISOString(),
    tags: ["trial", "billing"],
    metadata: { orderId: "1042", a_rather_long_name_of_a_value: "2f9c1e7a-55f0-4b0e-9a55-1d3f0c7f6d21" },
  });
  return data.emails[0]?.email ?? "";
}

/** Returns the id of the first project and creates a scoped key in it. */
export async function findProject(url: string): Promise<string> {
  const reply = await fetch(new URL("/auth/login", url), {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify(ACCOUNT),
  });
  const cookie = reply.headers.getSetCookie()[0]?.split(";")[0] ?? "";
  const api = createApiClient(url, { cookie });
  const [project] = await api.get<Array<{ id: string }>>("/users/@me/projects");
  await api.post(`/projects/${project?.id}/keys`, { name: "Staging", scopes: ["test:send", "*:read"] });
  return project?.id ?? "";
}

export interface View {
  theme: "light" | "dark";
  width: number;
  height: number;
  /** The browser's locale; defaults to British English. */
  locale?: string;
}

/** Opens a browser window on the dashboard, signed in or out. */
export async function openWindow(
  browser: Browser,
  url: string,
  { theme, width, height, locale = "en-GB" }: View,
  isOutside = false,
): Promise<BrowserContext> {
  const context = await browser.newContext({
    baseURL: url,
    colorScheme: theme,
    viewport: { width, height },
    reducedMotion: "reduce",
    locale,
  });
  if (!isOutside) await context.request.post("/auth/login", { data: ACCOUNT });
  return context;
}

/** Opens a screen and waits until nothing is loading. */
export async function openScreen(
  page: Page,
  { path, isOwnPage = false, isBusy = false }: Screen,
): Promise<void> {
  await page.goto(isOwnPage ? path : `/app${path}`);
  await page.getByRole("heading", { level: 1 }).waitFor();
  // Wait a moment, because one request may trigger the next.
  await page.waitForTimeout(SETTLED_MS);
  if (isBusy) return;
  // The outline from before the program loaded stays in the document, hidden.
  const loading = page.locator(".animate-pulse:not(#shell *), [aria-busy=true]");
  await waitUntil("the whole screen", LOADED_WITHIN_MS, async () => (await loading.count()) === 0);
}
