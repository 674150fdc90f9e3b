// The interface of a step, which computes a result from facts. The engine and the simulation run the same steps.
import type { GraphStep, StepType } from "@postloft/contract/workflows/graph.ts";
import type { EventPlace } from "../../../events/arrived-events.ts";
import type { FilterContact } from "../../../segments/filters/evaluate-filter.ts";
import type { SegmentSources } from "../../../segments/filters/load-segments.ts";
import type { DataPatch } from "../../../contacts/rules.ts";
import type { NewEmail } from "../../../emails/outbox/emails.ts";
import type { Filler } from "../../../rendering/fill-text.ts";
import type { ExecutionVariables } from "../../../rendering/template-variables.ts";
import type { WebhookVault } from "../../../webhooks/webhook-vault.ts";
import type { Execution, NamedEvent, StepRun } from "../execution.ts";
import type { WebhookRequest } from "../fill-webhook.ts";
import type { PublicKeyAllowance, PublicKeyCode } from "../public-key-allowance.ts";
import type { TakeShare } from "../shares.ts";

/** An event that may end a wait. */
export interface ArrivedEvent {
  id: string;
  at: Date;
  data: Readonly<Record<string, unknown>>;
  /** Whether a call with a public key caused it. */
  fromPublicKey: boolean;
}

/** The position and time of the next poll, if a wait has more events than one poll reads. */
export interface UnreadEvents {
  /** Missing if the next poll starts at the same position. */
  behind?: EventPlace;
  lookAt: Date;
}

export interface SendablePlan {
  templateId: string;
  goesToSubscribers: boolean;
  /** The languages of the template. */
  locales: readonly string[];
  /** The template's own content. */
  content: NewEmail["content"];
  /** By language: the content of the variants that contacts of this round may get. */
  variants: ReadonlyMap<string, NewEmail["content"]>;
}

/** The content and sender of a template's email, or why it cannot be sent, or why it is skipped for now. */
export type MailPlan = SendablePlan | { problem: string } | { skipped: string };

/** Data loaded for the executions of a round. */
export interface Facts extends SegmentSources {
  contacts: ReadonlyMap<string, FilterContact>;
  /** By template. */
  mails: ReadonlyMap<string, MailPlan>;
  /** By execution: events since its wait began, oldest first, without those its filter has passed over. */
  events: ReadonlyMap<string, readonly ArrivedEvent[]>;
  /** By execution: events that its exit conditions must decide on. Missing if they were decided on before. */
  exitEvents: ReadonlyMap<string, readonly NamedEvent[]>;
  /** By execution: set if more events follow. */
  unread: ReadonlyMap<string, UnreadEvents>;
  /** The words after a `??` in texts of steps that are fields of the project, and so variables. */
  knownFields: readonly string[];
  /** Decrypts the credentials of webhooks, because they may contain variables. */
  vault: WebhookVault;
  /** Counts a contact at a RANDOM_SPLIT and returns its share. */
  takeShare: TakeShare;
  /** What public keys may still cause. Left out in simulations, where no execution has their mark. */
  allowance?: PublicKeyAllowance | undefined;
}

export type StepOf<Type extends StepType> = Extract<GraphStep, { type: Type }>;

export interface Situation<Type extends StepType = StepType> {
  now: Date;
  step: StepOf<Type>;
  execution: Execution;
  contact: FilterContact;
  /** The current run, which the step may modify. */
  run: StepRun;
  /** Whether the execution has just reached this step. */
  isFresh: boolean;
  facts: Facts;
  /** Fills the variables of the step's texts. Throws FillError, which fails the step. */
  filler: Filler;
}

/** An effect of a step, applied in the transaction that advances the execution. */
export type Effect =
  | { is: "mail"; execution: Execution; run: StepRun; stepId: string; mail: MailToSend }
  | { is: "change"; execution: Execution; run: StepRun; subscribed?: boolean; patch: DataPatch }
  | { is: "skipped"; execution: Execution; step: StepOf<"SEND_EMAIL">; code: PublicKeyCode }
  | {
      is: "webhook";
      execution: Execution;
      run: StepRun;
      contact: FilterContact;
      step: StepOf<"WEBHOOK">;
      request: WebhookRequest;
    };

export interface MailToSend {
  to: string;
  /** Whether the recipient is the contact and not a custom address. */
  isToContact: boolean;
  templateId: string;
  content: NewEmail["content"];
  /** Stored with the email, which is rendered for the contact as it is stored then. */
  variables: ExecutionVariables;
  fromPublicKey?: NonNullable<NewEmail["fromPublicKey"]>;
}

export type StepResult =
  | { goes: "on"; branch?: string; effect?: Effect; out?: Record<string, unknown>; result?: unknown }
  | { goes: "skip"; reason: string; code?: PublicKeyCode; effect?: Effect }
  | { goes: "wait"; dueAt: Date | null; waitsFor?: string; effect?: Effect }
  | { goes: "fail"; error: string }
  | { goes: "exit"; reason: string };

export type TakeStep<Type extends StepType> = (situation: Situation<Type>) => StepResult;
