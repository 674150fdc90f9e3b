// Starters of workflows: what they ask, and the export that the API imports as a new workflow. Pure.
import type { Block } from "@postloft/contract/design.ts";
import type { StepType, TriggerType } from "@postloft/contract/workflows/graph.ts";
import { STEP_NAMES } from "@postloft/contract/workflows/step-names.ts";
import type { WorkflowExport } from "@postloft/contract/workflows/versions.ts";

/** The user's inputs. `field` is one with a date, `goal` an event that ends the workflow, and `url` the target of the button. */
export interface Inputs {
  event: string;
  field: string;
  goal: string;
  url: string;
}

export interface Question {
  key: keyof Inputs;
  label: string;
  help?: string;
  placeholder: string;
  isOptional?: boolean;
}

export interface StarterEmail {
  name: string;
  subject: string;
  content: (inputs: Inputs) => Block[];
}

export interface Starter {
  key: string;
  label: string;
  about: string;
  questions: readonly Question[];
  emails: readonly StarterEmail[];
  triggerType: TriggerType;
  triggerConfig: (inputs: Inputs) => Record<string, unknown>;
  allowReentry: boolean;
  /** Steps after the trigger, given the inputs and a template for each email. */
  steps: (inputs: Inputs, templateIds: readonly string[]) => DraftStep[];
}

/** The step by its position, and the branch, that a step follows. */
interface Previous {
  step: number;
  branch: string;
}

export interface DraftStep {
  type: Exclude<StepType, "TRIGGER">;
  name: string;
  config: Record<string, unknown>;
  /** Missing for the step before. */
  previous?: Previous;
}

export const after = (step: number, branch: string): Previous => ({ step, branch });
const following = (previous: Previous | undefined) => (previous === undefined ? {} : { previous });

export const email = (name: string, templateId: string | undefined, previous?: Previous): DraftStep => ({
  type: "SEND_EMAIL",
  name,
  config: { templateId },
  ...following(previous),
});
export const pause = (amount: number, unit: "days" | "weeks"): DraftStep => ({
  type: "DELAY",
  name: STEP_NAMES.DELAY,
  config: { amount, unit },
});
export const waitFor = (eventName: string, timeout: number): DraftStep => ({
  type: "WAIT_FOR_EVENT",
  name: STEP_NAMES.WAIT_FOR_EVENT,
  config: { eventName, timeout },
});
export const exit = (reason: string, previous: Previous): DraftStep => ({
  type: "EXIT",
  name: STEP_NAMES.EXIT,
  config: { reason },
  previous,
});

const TRIGGER_KEY = "trigger";

/** @param templateIds a template for each email of the starter */
export function documentOf(starter: Starter, inputs: Inputs, templateIds: readonly string[]): WorkflowExport {
  const steps = starter.steps(inputs, templateIds);
  const trigger = { key: TRIGGER_KEY, type: "TRIGGER" as const, name: STEP_NAMES.TRIGGER, config: {} };
  return {
    format: "postloft.workflow",
    formatVersion: 1,
    name: starter.label,
    description: starter.about,
    triggerType: starter.triggerType,
    triggerConfig: starter.triggerConfig(inputs),
    allowReentry: starter.allowReentry,
    steps: [
      { ...trigger, position: null },
      ...steps.map(({ type, name, config }, at) => ({ key: String(at), type, name, config, position: null })),
    ],
    transitions: steps.map(({ previous }, at) => ({
      from: previous === undefined ? (at === 0 ? TRIGGER_KEY : String(at - 1)) : String(previous.step),
      to: String(at),
      branch: previous?.branch ?? null,
      priority: 0,
    })),
    templates: starter.emails.map(({ name }, at) => ({ id: templateIds[at] ?? "", name })),
    segments: [],
  };
}

const DATE_FIELD = /^data[.]./;
const WEB = /^https?:\/\//i;

/** Returns whether the input can be used. A link needs its scheme, because emails have no base address, and a field its prefix. */
export function isUsable({ key, isOptional = false }: Question, inputs: Inputs): boolean {
  const text = inputs[key];
  if (text === "") return isOptional;
  if (key === "field") return DATE_FIELD.test(text);
  return key !== "url" || (WEB.test(text) && URL.canParse(text));
}
