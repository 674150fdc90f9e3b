// The simulated environment of executions. Contact, events and clock are simulated, and effects are only recorded.
import type { FilterContact } from "../../segments/filters/evaluate-filter.ts";
import type { SegmentSource } from "../../segments/filters/load-segments.ts";
import { LIMITS } from "@postloft/contract/limits/limits.ts";
import type { WebhookVault } from "../../webhooks/webhook-vault.ts";
import { exitEventNames } from "@postloft/contract/workflows/exit-conditions.ts";
import { openRun, stepOf, waitStart, type Execution, type WebhookResponse } from "./execution.ts";
import type { ArrivedEvent, Effect, MailPlan, MailToSend, StepOf } from "./steps/step.ts";
import type { TakeShare } from "./shares.ts";
import { walk, type ExecutionEnvironment } from "./walk.ts";

export interface SimulatedEvent {
  name: string;
  at: Date;
  data: Readonly<Record<string, unknown>>;
}

export interface Simulation {
  execution: Execution;
  contact: FilterContact;
  /** Future events in any order. */
  events: readonly SimulatedEvent[];
  mails: ReadonlyMap<string, MailPlan>;
  segments: ReadonlyMap<string, SegmentSource>;
  knownFields: readonly string[];
  vault: WebhookVault;
  /** Returns the response of a webhook. */
  respond: (step: StepOf<"WEBHOOK">) => WebhookResponse;
  takeShare: TakeShare;
  /** When the simulation starts and ends. By default it covers all that `LIMITS.simulatedDays` allows since the execution started. */
  from?: Date;
  until?: Date;
}

export interface SimulatedMail {
  stepId: string;
  at: Date;
  mail: MailToSend;
  /** The contact at that time. */
  contact: FilterContact;
}

export interface Simulated {
  contact: FilterContact;
  mails: SimulatedMail[];
  /** When the execution ended. Null if it waits for an event that never happens, or beyond the limit of a simulation. */
  endedAt: Date | null;
}

/** Advances the execution, which is modified, until it ends or waits for an event that never happens. */
export async function simulateExecution(simulation: Simulation): Promise<Simulated> {
  const { execution, events, mails: plans, segments, knownFields, vault, respond, takeShare } = simulation;
  const mails: SimulatedMail[] = [];
  let contact = simulation.contact;
  let now = simulation.from ?? execution.startedAt;
  const future = events.toSorted((one, other) => one.at.getTime() - other.at.getTime());
  const lastMs = Math.min(
    execution.startedAt.getTime() + LIMITS.simulatedDays.value * 86_400_000,
    simulation.until?.getTime() ?? Infinity,
  );

  function apply(effect: Effect): void {
    if (effect.is === "mail") mails.push({ stepId: effect.stepId, at: now, mail: effect.mail, contact });
    else if (effect.is === "change") contact = changed(contact, effect, now);
    else if (effect.is === "webhook") {
      execution.answer = respond(effect.step);
      execution.dueAt = now;
    }
  }
  const environment: ExecutionEnvironment = {
    get now() {
      return now;
    },
    look: () => {
      const happened = future.filter(({ at }) => at <= now);
      return Promise.resolve({
        segments,
        knownFields,
        vault,
        takeShare,
        contacts: new Map([[execution.contactId ?? "", withEvents(contact, happened)]]),
        mails: plans,
        events: new Map([[execution.id, awaitedBy(execution, happened)]]),
        exitEvents: new Map([[execution.id, happened]]),
        unread: new Map(),
      });
    },
    apply: (effects) => Promise.resolve(effects.forEach(apply)),
  };
  for (let turns = 0; turns < LIMITS.executionSteps.value; turns++) {
    await walk(environment, [execution]);
    const nextMs = nextInstant(execution, future, now);
    if (nextMs === null || nextMs > lastMs) break;
    now = new Date(nextMs);
  }
  const isOver = execution.status !== "WAITING" && execution.status !== "RUNNING";
  return { contact, mails, endedAt: isOver ? now : null };
}

/** Returns when to check the execution again, by its timer or by an event that it waits for or that may end it. */
function nextInstant(
  { status, dueAt, waitsFor, graph }: Execution,
  future: readonly SimulatedEvent[],
  now: Date,
): number | null {
  if (status !== "WAITING" && status !== "RUNNING") return null;
  const exits = exitEventNames(graph.exitConditions);
  const event = future.find(({ name, at }) => (name === waitsFor || exits.includes(name)) && at > now);
  const instants = [dueAt, event?.at].flatMap((at) =>
    at === null || at === undefined ? [] : [at.getTime()],
  );
  return instants.length === 0 ? null : Math.max(now.getTime(), Math.min(...instants));
}

/** Returns the events since the wait began. */
function awaitedBy(execution: Execution, happened: readonly SimulatedEvent[]): ArrivedEvent[] {
  const step = stepOf(execution);
  if (step?.type !== "WAIT_FOR_EVENT" || openRun(execution) === undefined) return [];
  const sinceMs = waitStart(execution);
  return happened
    .filter(({ name, at }) => name === step.config.eventName && at.getTime() >= sinceMs)
    .map(({ at, data }, number) => ({ id: `simulated-${number + 1}`, at, data, fromPublicKey: false }));
}

/** Returns the contact with the events up to now, for conditions on events. */
function withEvents(contact: FilterContact, happened: readonly SimulatedEvent[]): FilterContact {
  if (happened.length === 0) return contact;
  const events = new Map([...contact.events].map(([name, times]) => [name, [...times]]));
  for (const { name, at } of happened) events.set(name, [at, ...(events.get(name) ?? [])]);
  return { ...contact, events };
}

function changed(
  contact: FilterContact,
  effect: Extract<Effect, { is: "change" }>,
  now: Date,
): FilterContact {
  const { patch, subscribed = contact.subscribed } = effect;
  const gone = new Set(patch.remove);
  const kept = Object.entries(contact.data).filter(([key]) => !gone.has(key));
  return { ...contact, subscribed, data: { ...Object.fromEntries(kept), ...patch.set }, updatedAt: now };
}
