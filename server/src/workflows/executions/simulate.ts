// Simulates a contact's path through a workflow, with each rendered email and the time of each wait. Writes and sends nothing.
import { footerLookOf } from "@postloft/contract/footer-frame.ts";
import type { ExecutionStatus, TriggerConfig } from "@postloft/contract/workflows/graph.ts";
import type { Filter } from "@postloft/contract/filters.ts";
import { recordedReason } from "@postloft/contract/recorded-reasons.ts";
import { readClock } from "../../platform/clock.ts";
import type { Sealer } from "../../platform/crypto.ts";
import type { Database } from "../../platform/database/database.ts";
import { newId, NO_ONE } from "../../platform/ids.ts";
import { AppError } from "../../platform/app-error.ts";
import type { AskedRenderer } from "../../rendering/asked-renderer.ts";
import { createFiller } from "../../rendering/fill-text.ts";
import { fallbackWords, templateVariables } from "../../rendering/template-variables.ts";
import { findKnownKeys } from "../../contacts/fields/fields.ts";
import type { Domains } from "../../domains/domains.ts";
import type { ContactLinks } from "../../contacts/links.ts";
import type { FilterContact } from "../../segments/filters/evaluate-filter.ts";
import { loadFilterContacts } from "../../segments/filters/load-contacts.ts";
import { loadSegmentsFor, type SegmentSource } from "../../segments/filters/load-segments.ts";
import { readDataPatch } from "../../contacts/rules.ts";
import { readFooters } from "../../templates/footers.ts";
import { createWebhookVault } from "../../webhooks/webhook-vault.ts";
import { contextOf, nextDateEntry } from "../dates/times-at-dates.ts";
import { templateIdsOf } from "../references.ts";
import { filtersOf, readKnownFields } from "./database-environment.ts";
import type { Execution, WalkableGraph } from "./execution.ts";
import { exitFiltersOf } from "./exit-conditions.ts";
import { contactVariable, variablesOf } from "./execution-variables.ts";
import { presentStepRun, requireWorkflow } from "./executions.ts";
import { goalReachedAt } from "./goals.ts";
import { readGraphs } from "./load-executions.ts";
import { readMailPlans } from "./mail-plans.ts";
import type { TakeShare } from "./shares.ts";
import { contentFor } from "./steps/send-email.ts";
import {
  simulateExecution,
  type SimulatedEvent,
  type SimulatedMail,
  type Simulation,
} from "./simulated-environment.ts";

export interface SimulationDependencies {
  database: Database;
  sealer: Sealer;
  domains: Domains;
  renderer: AskedRenderer;
  linksOf: (projectId: string, contactId: string) => ContactLinks;
}

export interface SimulationRequest {
  workflowId: string;
  contactId?: string | undefined;
  contact?:
    | { email: string; subscribed?: boolean | undefined; data?: Record<string, unknown> | undefined }
    | undefined;
  context?: Record<string, unknown> | undefined;
  events?:
    | ReadonlyArray<{ name: string; at: string; data?: Record<string, unknown> | undefined }>
    | undefined;
  /** Responses of webhooks by step name. */
  webhooks?: Readonly<Record<string, { status: number; body?: unknown }>> | undefined;
  splits?: Readonly<Record<string, string>> | undefined;
  from?: string | undefined;
  version?: number | undefined;
}

/** @throws AppError WORKFLOW_NOT_FOUND, VERSION_NOT_FOUND, CONTACT_NOT_FOUND */
export async function simulate(deps: SimulationDependencies, projectId: string, request: SimulationRequest) {
  const { database } = deps;
  const { workflow, version, graph } = await readVersion(database, projectId, request);
  const ground = await readGround(deps, projectId, graph);
  const startedAt = request.from === undefined ? await readClock(database) : new Date(request.from);
  const contact = await contactOf(database, projectId, request, { ...ground, startedAt });
  const execution = newExecution({
    projectId,
    workflow,
    version,
    graph,
    contactId: request.contactId ?? NO_ONE,
    context: request.context ?? dateContext(workflow, contact, startedAt),
    startedAt,
  });
  const events = (request.events ?? []).map(({ name, at, data = {} }): SimulatedEvent => ({
    name,
    at: new Date(at),
    data,
  }));
  const simulated = await simulateExecution({
    ...ground,
    execution,
    contact,
    events,
    respond: chosenResponses(request.webhooks ?? {}),
    takeShare: chosenShares(request.splits ?? {}),
  });
  const filler = createFiller(() => variablesOf(execution, simulated.contact, ground.knownFields));
  const reachedAt = graph.goal === undefined ? null : goalReachedAt(graph.goal, execution, events, filler);
  const emails = [];
  for (const mail of simulated.mails) emails.push(await render(deps, projectId, execution, mail));
  const { email, subscribed, data } = simulated.contact;
  return {
    status: execution.status as ExecutionStatus,
    exitReason: execution.exitReason,
    startedAt: startedAt.toISOString(),
    endedAt: simulated.endedAt?.toISOString() ?? null,
    goalReachedAt: reachedAt?.toISOString() ?? null,
    steps: execution.trace.map((run) => presentStepRun(run, graph)),
    emails,
    contact: { email, subscribed, data },
  };
}

/** Returns a function that gives the chosen response of each webhook, by step name, or else status 200 with an empty body. */
export function chosenResponses(chosen: NonNullable<SimulationRequest["webhooks"]>): Simulation["respond"] {
  return ({ name }) => {
    const { status, body = null } = chosen[name] ?? { status: 200 };
    const isDone = status >= 200 && status < 300;
    return isDone
      ? { is: "done", status, body }
      : { is: "failed", error: recordedReason("responded", { status }) };
  };
}

/** Returns a function that takes the chosen share of each split, by step name. The largest one by default. */
function chosenShares(chosen: Readonly<Record<string, string>>): TakeShare {
  return ({ name: stepName, config: { shares } }) =>
    shares.find(({ name }) => name === chosen[stepName]) ??
    shares.reduce((one, other) => (other.percent > one.percent ? other : one));
}

/** Returns the context with which the contact would enter next by a trigger DATE. Empty for other triggers. */
function dateContext(
  { triggerType, triggerConfig }: { triggerType: string; triggerConfig: unknown },
  { data }: FilterContact,
  at: Date,
): Record<string, unknown> {
  const { dateField, ...config } = triggerConfig as Partial<TriggerConfig<"DATE">>;
  if (triggerType !== "DATE" || dateField === undefined) return {};
  const entry = nextDateEntry({ ...config, dateField }, data, at);
  return typeof entry === "string" ? {} : contextOf(entry);
}

/** @throws AppError WORKFLOW_NOT_FOUND, VERSION_NOT_FOUND */
export async function readVersion(
  database: Database,
  projectId: string,
  request: { workflowId: string; version?: number | undefined },
) {
  const workflow = await requireWorkflow(database, projectId, request.workflowId);
  const version = request.version ?? workflow.version;
  const graphs = await readGraphs(database, projectId, [{ workflowId: workflow.id, version }]);
  const graph = graphs.get(`${workflow.id} ${version}`);
  if (graph === undefined) throw new AppError("VERSION_NOT_FOUND");
  return { workflow, version, graph };
}

interface Ground extends Pick<Simulation, "mails" | "segments" | "knownFields" | "vault"> {
  filters: Filter[];
}

/** Loads the context of a simulation: emails that the graph may send, filters of its steps, and the segments in those. */
export async function readGround(
  { database, domains, sealer }: Pick<SimulationDependencies, "database" | "domains" | "sealer">,
  projectId: string,
  { steps, exitConditions }: WalkableGraph,
): Promise<Ground> {
  const filters = [...filtersOf(steps), ...exitFiltersOf(exitConditions)];
  return {
    filters,
    vault: createWebhookVault(sealer),
    knownFields: await readKnownFields(database, projectId, { steps, exitConditions }),
    segments: await loadSegmentsFor(database, projectId, filters),
    mails: await readMailPlans(database, {
      projectId,
      domains,
      mails: templateIdsOf({ steps }).map((templateId) => ({ templateId, locale: undefined })),
    }),
  };
}

async function contactOf(
  database: Database,
  projectId: string,
  { contactId, contact }: SimulationRequest,
  {
    filters,
    segments,
    startedAt,
  }: { filters: Filter[]; segments: ReadonlyMap<string, SegmentSource>; startedAt: Date },
): Promise<FilterContact> {
  if (contactId === undefined) {
    const { email = "", subscribed = true, data } = contact ?? {};
    const patch = readDataPatch(data);
    const { set } = patch;
    return {
      email,
      subscribed,
      data: set,
      createdAt: startedAt,
      updatedAt: startedAt,
      events: new Map(),
      segments: new Set(),
    };
  }
  const contacts = await loadFilterContacts(database, {
    projectId,
    contactIds: [contactId],
    filters,
    segments,
  });
  const found = contacts.get(contactId.toLowerCase());
  if (found === undefined) throw new AppError("CONTACT_NOT_FOUND");
  return found;
}

export function newExecution(
  input: Pick<Execution, "projectId" | "version" | "graph" | "contactId" | "context" | "startedAt"> & {
    workflow: { id: string; name: string; triggerEvent: string | null };
  },
): Execution {
  const { workflow, ...rest } = input;
  return {
    ...rest,
    workflow: { id: workflow.id, name: workflow.name },
    triggerEvent: workflow.triggerEvent,
    id: newId(),
    status: "RUNNING",
    stepId: input.graph.startStepId,
    dueAt: null,
    waitsFor: null,
    results: {},
    answer: null,
    fromPublicKey: false,
    trace: [],
    moves: [],
    exitReason: null,
  };
}

/** Returns the content that the contact gets at that time, because earlier steps may have changed its language. */
async function contentInLanguage(
  { database, domains }: SimulationDependencies,
  projectId: string,
  { mail, contact }: SimulatedMail,
) {
  const { templateId, isToContact, content } = mail;
  const { locale } = contact.data;
  if (!isToContact || locale === undefined) return content;
  const plans = await readMailPlans(database, { projectId, domains, mails: [{ templateId, locale }] });
  const plan = plans.get(templateId);
  return plan !== undefined && "content" in plan ? contentFor(plan, contact) : content;
}

async function render(
  deps: SimulationDependencies,
  projectId: string,
  execution: Execution,
  simulated: SimulatedMail,
) {
  const { database, renderer, linksOf } = deps;
  const { stepId, at, mail, contact } = simulated;
  const { variables: carried } = mail;
  const content = await contentInLanguage(deps, projectId, simulated);
  const links = linksOf(projectId, NO_ONE);
  const [footer = null] =
    content.listKind === "MARKETING"
      ? await readFooters(database, [
          { projectId, locale: contact.data["locale"], look: footerLookOf(content.html), ...links },
        ])
      : [];
  const knownFields = await findKnownKeys(database, projectId, fallbackWords(content));
  // As the sender renders it: a custom recipient is no contact.
  const recipient = mail.isToContact
    ? contactVariable(execution, contact)
    : { id: null, email: mail.to, subscribed: false, data: contact.data };
  const variables = templateVariables({
    ...recipient,
    links: mail.isToContact ? links : null,
    footer,
    knownFields,
    execution: carried,
  });
  const job = { contentKey: `simulation ${content.id}`, content, variables };
  const rendered = await renderer.render(projectId, job);
  const texts = rendered.ok
    ? { subject: rendered.subject, html: rendered.html, text: rendered.text, error: null }
    : { subject: content.subject, html: "", text: "", error: rendered.reason };
  return { stepId, at: at.toISOString(), to: mail.to, from: content.from.address, ...texts };
}
