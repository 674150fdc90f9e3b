// Defines the parts of a workflow: steps, the transitions between them, and triggers (spec §2.9, decisions §9).
import { z } from "zod";
import { id, issue } from "../field.ts";
import type { Filter } from "../filters.ts";
import { LIMITS } from "../limits/limits.ts";
import { schedule } from "../schedule-trigger.ts";
import { readAs } from "../unknown-fields.ts";
import { branchConfig, ELSE, randomSplitConfig } from "./branches.ts";
import { filterOfCondition, workflowCondition } from "./condition.ts";
import { dateTrigger } from "./date-trigger.ts";
import { delay } from "./delay.ts";
import type { ExitCondition } from "./exit-conditions.ts";
import type { Goal } from "./goal.ts";
import { awaitedEventName, eventFilter, recipientAddress, waitFilter } from "./step-fields.ts";
import { withValues } from "../translation.ts";

export const STEP_TYPES = [
  "TRIGGER",
  "SEND_EMAIL",
  "DELAY",
  "WAIT_FOR_EVENT",
  "CONDITION",
  "BRANCH",
  "RANDOM_SPLIT",
  "UPDATE_CONTACT",
  "WEBHOOK",
  "EXIT",
] as const;
export type StepType = (typeof STEP_TYPES)[number];

export const TRIGGER_TYPES = [
  "EVENT",
  "SEGMENT_ENTRY",
  "SEGMENT_EXIT",
  "SCHEDULE",
  "DATE",
  "MANUAL",
] as const;
export type TriggerType = (typeof TRIGGER_TYPES)[number];

export const EXECUTION_STATUSES = [
  "RUNNING",
  "WAITING",
  "COMPLETED",
  "EXITED",
  "FAILED",
  "CANCELLED",
] as const;
export type ExecutionStatus = (typeof EXECUTION_STATUSES)[number];

export const WEBHOOK_METHODS = ["GET", "POST", "PUT", "PATCH", "DELETE"] as const;

/** The response shows the workflow's trigger here, so clients send it back. */
const triggerStep = readAs(z.object({}), { as: () => z.unknown() });

const sendEmail = z.object({
  templateId: id.optional(),
  recipient: z
    .object({ type: z.enum(["CONTACT", "CUSTOM"]), customEmail: recipientAddress.optional() })
    .superRefine(({ type, customEmail }, context) => {
      if (type === "CUSTOM" && customEmail === undefined)
        context.addIssue(issue("Required for the recipient CUSTOM.", "required", undefined, ["customEmail"]));
    })
    .optional(),
});

const waitForEvent = z.object({
  eventName: awaitedEventName,
  timeout: z
    .int()
    .min(1)
    .max(LIMITS.delayDays.value * 86_400)
    .optional()
    .describe("In seconds; without it the wait never ends."),
  filter: waitFilter
    .optional()
    .describe("Filter on the event's data: `data.<key>`. Values may contain variables."),
});

const updateContact = z
  .object({
    updates: z
      .record(z.string(), z.unknown())
      .optional()
      .describe("Follows the rules for contact data: null removes a key."),
    data: z.record(z.string(), z.unknown()).optional().describe("Alias of `updates`."),
    subscriptionAction: z.enum(["none", "subscribe", "unsubscribe"]).optional(),
  })
  .transform(({ data, updates = data, ...rest }) => ({ ...rest, ...(updates && { updates }) }))
  .superRefine(({ updates, subscriptionAction = "none" }, context) => {
    if (Object.keys(updates ?? {}).length === 0 && subscriptionAction === "none")
      context.addIssue(
        issue("Required unless there is a `subscriptionAction`.", "required", updates, ["updates"]),
      );
    for (const key of ["", "__proto__", "constructor", "prototype"])
      if (Object.hasOwn(updates ?? {}, key))
        context.addIssue(issue("This key cannot be stored.", "custom", key, ["updates", key]));
    if (Object.keys(updates ?? {}).some((key) => key.length > LIMITS.dataKeyLength.value))
      context.addIssue(
        issue(
          withValues("A key may have at most {most} characters.", { most: LIMITS.dataKeyLength.value }),
          "too_big",
          updates,
          ["updates"],
        ),
      );
    const length = JSON.stringify(updates ?? {}).length;
    if (length > LIMITS.stepConfigLength.value)
      context.addIssue(
        issue(
          withValues("Must be at most {most} characters.", { most: LIMITS.stepConfigLength.value }),
          "too_big",
          length,
          ["updates"],
        ),
      );
  });

/** Represents a stored credential. Sending it back keeps the stored value. */
export const MASKED = "••••";

const webhook = z.object({
  url: z
    .string()
    .min(1)
    .max(LIMITS.webhookUrlLength.value)
    .describe(
      "Values of query parameters named like a credential (`token`, `key`, `secret`, `signature`, `password` …) are encrypted and read as `••••`. `••••` keeps the stored value while scheme, host and port stay the same.",
    ),
  method: z.enum(WEBHOOK_METHODS).optional(),
  headers: z
    .record(z.string(), z.string())
    .optional()
    .describe(
      "Values are encrypted and returned as `••••`, except those of `accept`, `content-type`, `user-agent` and similar headers. `••••` keeps the stored value.",
    ),
  body: z
    .unknown()
    .optional()
    .describe(
      "JSON, stored and shown unencrypted, so put credentials into headers. docs/webhooks.md describes the default.",
    ),
});

const exit = z.object({ reason: z.string().max(LIMITS.descriptionLength.value).optional() });

/** The config of each type of step. Checks that need the database, such as whether the template exists, run when the step is saved. */
export const STEP_CONFIGS = {
  TRIGGER: triggerStep,
  SEND_EMAIL: sendEmail,
  DELAY: delay,
  WAIT_FOR_EVENT: waitForEvent,
  CONDITION: workflowCondition,
  BRANCH: branchConfig,
  RANDOM_SPLIT: randomSplitConfig,
  UPDATE_CONTACT: updateContact,
  WEBHOOK: webhook,
  EXIT: exit,
} as const satisfies Record<StepType, z.ZodType>;

export type StepConfig<Type extends StepType> = z.output<(typeof STEP_CONFIGS)[Type]>;

export const position = z.object({ x: z.number(), y: z.number() });

/** A text for the authors of a workflow, which contacts never see. */
export const stepNote = z.string().trim().max(LIMITS.stepNoteLength.value);

interface StepBase<Type extends StepType> {
  id: string;
  type: Type;
  name: string;
  config: StepConfig<Type>;
  position: { x: number; y: number } | null;
  /** For the authors of the workflow. Missing if there is none. */
  note?: string;
  createdAt: string;
  updatedAt: string;
}

/** A step as stored in a version of a graph. The template of SEND_EMAIL is in its config. */
export type GraphStep = { [Type in StepType]: StepBase<Type> }[StepType];

export interface GraphTransition {
  id: string;
  fromStepId: string;
  toStepId: string;
  /** One of `branchesOf` its step. Null after steps without branches, and for both branches of a WAIT_FOR_EVENT. */
  branch: string | null;
  priority: number;
}

/** One version of the graph of a workflow. */
export interface Graph {
  steps: GraphStep[];
  transitions: GraphTransition[];
  /** Missing in graphs stored before there were any. */
  exitConditions?: ExitCondition[];
  goal?: Goal;
}

/** The config of each type of trigger. The server checks the cron line, because it runs it. */
export const TRIGGER_CONFIGS = {
  EVENT: z.object({
    eventName: awaitedEventName,
    filter: eventFilter.optional().describe("Filter on the event's data: `data.<key>`."),
  }),
  SEGMENT_ENTRY: z.object({ segmentId: id }),
  SEGMENT_EXIT: z.object({ segmentId: id }),
  SCHEDULE: schedule,
  DATE: dateTrigger,
  MANUAL: z.object({}),
} as const satisfies Record<TriggerType, z.ZodType>;

export type TriggerConfig<Type extends TriggerType> = z.output<(typeof TRIGGER_CONFIGS)[Type]>;

/** Returns the distinct event names that the steps of a graph wait for. */
export function waitNamesOf({ steps }: Graph): string[] {
  return [
    ...new Set(steps.flatMap((step) => (step.type === "WAIT_FOR_EVENT" ? [step.config.eventName] : []))),
  ];
}

/** Returns the names of the branches of a step, in order. Empty for a step with one next step. */
export function branchesOf({ type, config }: Pick<GraphStep, "type" | "config">): readonly string[] {
  switch (type) {
    case "CONDITION":
      return ["yes", "no"];
    case "WAIT_FOR_EVENT":
      return ["event", "timeout"];
    case "BRANCH":
      return [...(config as StepConfig<"BRANCH">).branches.map(({ name }) => name), ELSE];
    case "RANDOM_SPLIT":
      return (config as StepConfig<"RANDOM_SPLIT">).shares.map(({ name }) => name);
    default:
      return [];
  }
}

/** Returns the filters on contacts that decide on the branch of a step. */
export function contactFiltersOf(step: GraphStep): Filter[] {
  if (step.type === "CONDITION") return [filterOfCondition(step.config)];
  return step.type === "BRANCH" ? step.config.branches.map(({ filter }) => filterOfCondition(filter)) : [];
}
