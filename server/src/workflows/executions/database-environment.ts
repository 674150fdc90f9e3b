// The real environment of executions, which reads facts and applies effects in the engine's transaction.
import { domainOf, parseMailbox } from "@postloft/contract/address.ts";
import { EMAIL_SKIPPED } from "@postloft/contract/event-names.ts";
import type { Filter } from "@postloft/contract/filters.ts";
import type { ExitCondition } from "@postloft/contract/workflows/exit-conditions.ts";
import { contactFiltersOf, type GraphStep } from "@postloft/contract/workflows/graph.ts";
import type { Sealer } from "../../platform/crypto.ts";
import type { Database, Tx } from "../../platform/database/database.ts";
import { enqueueEmails, makeContent, type Mailbox } from "../../emails/outbox/emails.ts";
import { recordEvents } from "../../events/events.ts";
import { pairUp } from "../../platform/pair-up.ts";
import { readDefaultSenders } from "../../projects/default-senders.ts";
import type { Domains } from "../../domains/domains.ts";
import { readRoom } from "../../billing/caps.ts";
import { findKnownKeys } from "../../contacts/fields/fields.ts";
import { fallbackWords } from "../../rendering/template-variables.ts";
import { createWebhookVault } from "../../webhooks/webhook-vault.ts";
import { changeContacts } from "../../contacts/change-known-contacts.ts";
import { loadFilterContacts } from "../../segments/filters/load-contacts.ts";
import { loadSegmentsFor, type SegmentSource } from "../../segments/filters/load-segments.ts";
import { readTemplates, type SendableTemplate } from "../../templates/templates.ts";
import { sentParts } from "../../templates/sent-parts.ts";
import { templateIdOf } from "../references.ts";
import { textsOf, textsOfExit } from "../step-texts.ts";
import { readAwaited } from "./awaited-events.ts";
import { exitFiltersOf } from "./exit-conditions.ts";
import { readExitEvents } from "./exit-events.ts";
import { stepOf, type Execution } from "./execution.ts";
import { withoutVariables } from "./fill-filter.ts";
import { recordGoalsOf } from "./goals.ts";
import { readAllowance, type PublicKeyLimits } from "./public-key-allowance.ts";
import { createShareLock } from "./lock-shares.ts";
import { queueCalls } from "./webhook-calls.ts";
import type { Effect, MailPlan } from "./steps/step.ts";
import type { ExecutionEnvironment } from "./walk.ts";

const CAP_REACHED = "This month's cap on workflow emails is reached.";

/** What steps need beside the database. */
export interface StepParts {
  domains: Domains;
  publicKeyLimits: PublicKeyLimits;
  /** Decrypts the credentials of webhooks, because they may contain variables. */
  sealer: Sealer;
  /** The public address of the installation, for links in notifications. */
  baseUrl: () => string;
}

export function createDatabaseEnvironment(
  tx: Tx,
  {
    projectId,
    now,
    domains,
    publicKeyLimits,
    sealer,
  }: Omit<StepParts, "baseUrl"> & { projectId: string; now: Date },
): ExecutionEnvironment {
  const vault = createWebhookVault(sealer);
  const lockShares = createShareLock(tx, projectId);
  return {
    now,
    async look(executions) {
      const takeShare = await lockShares(executions);
      const steps = [...new Set(executions.flatMap((execution) => stepOf(execution) ?? []))];
      const exits = exitsOf(executions);
      const filters = [...filtersOf(steps), ...exitFiltersOf(exits)];
      const segments = await loadSegmentsFor(tx, projectId, filters);
      const exitEvents = await readExitEvents(tx, projectId, executions);
      await recordGoalsOf(tx, projectId, executions, exitEvents);
      return {
        segments,
        contacts: await contactsOf(tx, { projectId, executions, filters, segments }),
        mails: await readPlansWithinCap(tx, {
          projectId,
          domains,
          templateIds: [...new Set(steps.flatMap((step) => templateIdOf(step) ?? []))],
        }),
        ...(await readAwaited(tx, { projectId, executions, segments, now })),
        exitEvents,
        knownFields: await readKnownFields(tx, projectId, { steps, exitConditions: exits }),
        vault,
        takeShare,
        allowance: await readAllowance(tx, projectId, executions, publicKeyLimits),
      };
    },
    async apply(effects) {
      await change(tx, projectId, effects);
      await send(tx, projectId, effects);
      await recordSkipped(tx, projectId, effects);
      const calls = effects.filter((effect) => effect.is === "webhook");
      if (calls.length > 0) await queueCalls(tx, calls);
    },
  };
}

/** Returns the exit conditions of executions, those of each graph once. */
function exitsOf(executions: readonly Execution[]): ExitCondition[] {
  return [...new Set(executions.map(({ graph }) => graph))].flatMap(({ exitConditions }) => exitConditions);
}

/** Returns the filters that steps apply to contacts and events, for loading what these need. */
export function filtersOf(steps: readonly GraphStep[]): Filter[] {
  return steps.flatMap((step) => {
    const ofEvent = step.type === "WAIT_FOR_EVENT" ? step.config.filter : undefined;
    return [...contactFiltersOf(step), ...(ofEvent === undefined ? [] : [ofEvent])].map(withoutVariables);
  });
}

/** Returns which words after a `??` in the texts of steps are fields of the project. */
export async function readKnownFields(
  database: Database,
  projectId: string,
  { steps, exitConditions }: { steps: readonly GraphStep[]; exitConditions: readonly ExitCondition[] },
): Promise<string[]> {
  const written = [...steps.flatMap(textsOf), ...exitConditions.flatMap(textsOfExit)];
  const texts = written.flatMap(({ text }) => (text.includes("??") ? [text] : []));
  if (texts.length === 0) return [];
  const words = texts.flatMap((subject) => fallbackWords({ subject, html: "", text: null }));
  return findKnownKeys(database, projectId, words);
}

async function contactsOf(
  tx: Database,
  asked: {
    projectId: string;
    executions: readonly Execution[];
    filters: readonly Filter[];
    segments: ReadonlyMap<string, SegmentSource>;
  },
) {
  const contactIds = new Set(asked.executions.flatMap(({ contactId }) => contactId ?? []));
  if (contactIds.size === 0) return new Map();
  return loadFilterContacts(tx, { ...asked, contactIds: [...contactIds] });
}

interface PlansAsked {
  projectId: string;
  domains: Domains;
  templateIds: readonly string[];
}

/** Like `readMailPlans`, but skips all emails once the monthly cap is reached. One batch of executions may exceed the cap. */
async function readPlansWithinCap(tx: Tx, asked: PlansAsked): Promise<Map<string, MailPlan>> {
  const plans = await readMailPlans(tx, asked);
  const isFull = plans.size > 0 && (await readRoom(tx, asked.projectId, "workflows")) === 0;
  return isFull ? new Map([...plans.keys()].map((id) => [id, { skipped: CAP_REACHED }])) : plans;
}

/** Returns the content and sender of emails by template. Deleted templates are missing. */
export async function readMailPlans(
  database: Database,
  { projectId, domains, templateIds }: PlansAsked,
): Promise<Map<string, MailPlan>> {
  if (templateIds.length === 0) return new Map();
  const templates = [
    ...(
      await readTemplates(
        database,
        templateIds.map((id) => ({ projectId, id })),
      )
    ).values(),
  ];
  const hasSilent = templates.some(({ fromAddress: from }) => from === null);
  const defaults = hasSilent ? await readDefaultSenders(database, [projectId]) : new Map<string, string>();
  const senders = templates.map((template) => senderOf(template, defaults.get(projectId)));
  const names = senders.flatMap((sender) =>
    sender === null ? [] : [{ projectId, domain: domainOf(sender.address) }],
  );
  const keys = await domains.findSigningKeys(names, database);
  return new Map(
    pairUp(templates, senders).map(([template, sender]) => {
      if (sender === null)
        return [template.id, { problem: "Neither the template nor the project has a sender." }];
      const domain = domainOf(sender.address);
      const key = keys.get(`${projectId} ${domain}`);
      if (key === undefined || key.kind === "refused")
        return [template.id, { problem: `The domain ${domain} is not verified in this project.` }];
      return [template.id, planOf(projectId, template, sender)];
    }),
  );
}

function senderOf(template: SendableTemplate, projectDefault: string | undefined): Mailbox | null {
  const { fromAddress: address, fromName: name } = template;
  if (address !== null) return { address, name };
  const parsed = projectDefault === undefined ? null : parseMailbox(projectDefault);
  return parsed?.ok === true ? { address: parsed.address, name: name ?? parsed.name ?? null } : null;
}

function planOf(projectId: string, template: SendableTemplate, from: Mailbox): MailPlan {
  const { id: templateId, type, subject, replyTo } = template;
  const listKind = type === "TRANSACTIONAL" ? null : type;
  const content = makeContent({
    projectId,
    from,
    replyTo,
    subject,
    ...sentParts(template),
    headers: [],
    attachments: [],
    listKind,
  });
  return { content, templateId, goesToSubscribers: listKind !== null };
}

async function change(tx: Tx, projectId: string, effects: readonly Effect[]): Promise<void> {
  const changes = effects.flatMap((effect) => {
    if (effect.is !== "change" || effect.execution.contactId === null) return [];
    const { execution, subscribed, patch } = effect;
    const { workflow, fromPublicKey } = execution;
    const via = { source: "workflow", actor: workflow.id, ip: null, fromPublicKey } as const;
    return [
      {
        contactId: effect.execution.contactId,
        patch,
        via,
        ...(subscribed === undefined ? {} : { subscribed }),
      },
    ];
  });
  if (changes.length > 0) await changeContacts(tx, projectId, changes);
}

async function send(tx: Tx, projectId: string, effects: readonly Effect[]): Promise<void> {
  const mails = effects.filter((effect) => effect.is === "mail");
  if (mails.length === 0) return;
  const ids = await enqueueEmails(
    tx,
    mails.map(({ execution, stepId, mail }) => ({
      projectId,
      contactId: mail.isToContact ? execution.contactId : null,
      kind: "WORKFLOW" as const,
      to: { address: mail.to, name: null },
      copies: null,
      content: mail.content,
      templateId: mail.templateId,
      workflow: { id: execution.workflow.id, stepId },
      ...(mail.fromPublicKey === undefined ? {} : { fromPublicKey: mail.fromPublicKey }),
      variables: { ...mail.variables },
    })),
  );
  mails.forEach(({ run }, at) => {
    run.out = { emailId: ids[at] };
  });
}

/** Records each skipped email as an event, so that the timeline of the contact and the problems of the workflow show it. */
async function recordSkipped(tx: Tx, projectId: string, effects: readonly Effect[]): Promise<void> {
  const events = effects.flatMap((effect) => {
    if (effect.is !== "skipped" || effect.execution.contactId === null) return [];
    const { execution, step, code } = effect;
    return [
      {
        projectId,
        contactId: effect.execution.contactId,
        name: EMAIL_SKIPPED,
        data: {
          reason: code,
          workflowId: execution.workflow.id,
          workflowName: execution.workflow.name,
          stepId: step.id,
        },
        fromPublicKey: true,
      },
    ];
  });
  await recordEvents(tx, events);
}
