// The real environment of executions, which reads facts and applies effects in the engine's transaction.
import { EMAIL_SKIPPED } from "@postloft/contract/event-names.ts";
import type { Filter } from "@postloft/contract/filters.ts";
import type { ExitCondition } from "@postloft/contract/workflows/exit-conditions.ts";
import { contactFiltersOf, type GraphStep } from "@postloft/contract/workflows/graph.ts";
import type { Sealer } from "../../platform/crypto.ts";
import type { Database, Tx } from "../../platform/database/database.ts";
import { enqueueEmails } from "../../emails/outbox/emails.ts";
import { recordEvents } from "../../events/events.ts";
import type { Domains } from "../../domains/domains.ts";
import { findKnownKeys } from "../../contacts/fields/fields.ts";
import { fallbackWords } from "../../rendering/template-variables.ts";
import { createWebhookVault } from "../../webhooks/webhook-vault.ts";
import { changeContacts } from "../../contacts/change-known-contacts.ts";
import type { FilterContact } from "../../segments/filters/evaluate-filter.ts";
import { loadFilterContacts } from "../../segments/filters/load-contacts.ts";
import { loadSegmentsFor, type SegmentSource } from "../../segments/filters/load-segments.ts";
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
import { mailOf, readPlansWithinCap } from "./mail-plans.ts";
import type { Effect } from "./steps/step.ts";
import type { ExecutionEnvironment } from "./walk.ts";

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
      const contacts = await contactsOf(tx, { projectId, executions, filters, segments });
      return {
        segments,
        contacts,
        mails: await readPlansWithinCap(tx, {
          projectId,
          domains,
          mails: executions.flatMap((execution) => mailOf(execution, contacts)),
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
  if (contactIds.size === 0) return new Map<string, FilterContact>();
  return loadFilterContacts(tx, { ...asked, contactIds: [...contactIds] });
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
