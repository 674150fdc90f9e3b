// Finds the problems of a workflow before any contact enters. Each response lists them, and errors prevent enabling.
import { canHappen } from "@postloft/contract/event-names.ts";
import type { TemplateType } from "@postloft/contract/templates.ts";
import type { Graph, GraphStep, TriggerType } from "@postloft/contract/workflows/graph.ts";
import type {
  ConfirmableProblem,
  ProblemCode,
  WorkflowProblem,
} from "@postloft/contract/workflows/problems.ts";
import { findCredential } from "../webhooks/credential-names.ts";
import { listMaskedNames, listMaskedParameters } from "../webhooks/webhook-vault.ts";
import type { StepFailures } from "./executions/failure-queries.ts";
import { firstStepOf, reachableFrom } from "./graph-rules.ts";
import { problemsOfDates, type DateFieldState } from "./problems-of-dates.ts";
import { problemsOfExits } from "./problems-of-exits.ts";
import { problem, problemsOfFailures, problemsOfSkipped } from "./problems-of-executions.ts";
import { segmentIdsOfStep, segmentIdsOfTrigger, templateIdOf } from "./references.ts";
import { problemsOfVariables } from "./step-texts.ts";
import { runsMoreThanDaily, type Schedule } from "./schedule.ts";

/** The existing templates, segments and loop that a workflow refers to. */
export interface Context {
  templates: ReadonlyMap<
    string,
    {
      name: string;
      type: TemplateType;
      hasSender: boolean;
      /** `locale` is the language of a variant, null for the template's own content. */
      unknownVariables: ReadonlyArray<{ locale: string | null; message: string }>;
    }
  >;
  segments: ReadonlyMap<string, { isTracked: boolean }>;
  /** By step: the variables in its texts without a value. */
  unknownVariables: ReadonlyMap<string, readonly string[]>;
  /** The names of the workflows in the loop that this one closes, this one first. Null if there is no loop. */
  loop: readonly string[] | null;
  /** The field of a trigger DATE, or null. */
  dateField: DateFieldState | null;
  allowReentry: boolean;
  /** Emails that limits on public keys skipped in the last 24 hours. */
  skippedEmails: number;
  /** Failed executions by step. */
  failures: readonly StepFailures[];
}

export interface TriggerToCheck {
  type: TriggerType;
  config: Readonly<Record<string, unknown>>;
  confirmed: readonly ConfirmableProblem[];
  /** The event that starts the workflow, or null. */
  event: string | null;
}

/** Returns the problems of the trigger, then those of the steps in their order. */
export function problemsOf(graph: Graph, trigger: TriggerToCheck, context: Context): WorkflowProblem[] {
  const reached = reachedSteps(graph);
  const triggerStep = graph.steps.find(({ type }) => type === "TRIGGER");
  return [
    ...problemsOfTrigger(trigger, context, triggerStep?.id ?? null),
    ...problemsOfRepetition(trigger, context, triggerStep?.id ?? null),
    ...(trigger.type === "DATE" ? problemsOfDates(trigger.config, context, triggerStep?.id ?? null) : []),
    ...problemsOfExits(graph, trigger.event, context.segments, triggerStep?.id ?? null),
    ...problemsOfSkipped(context.skippedEmails, triggerStep?.id ?? null),
    ...problemsOfFailures(graph, context.failures),
    ...(graph.steps.length === 1
      ? [
          problem(
            "NO_STEPS",
            "warning",
            triggerStep?.id ?? null,
            "There are no steps after the trigger. Add a step.",
          ),
        ]
      : []),
    ...graph.steps.flatMap((step) => [
      ...(reached.has(step.id)
        ? []
        : [problem("UNREACHABLE_STEP", "warning", step.id, `The step "${step.name}" can't be reached.`)]),
      ...problemsOfMail(step, context),
      ...problemsOfVariables(step, context.unknownVariables.get(step.id)),
      ...problemsOfWebhook(step),
      ...problemsOfWait(step, graph),
      ...segmentIdsOfStep(step)
        .filter((id) => !context.segments.has(id))
        .map((id) =>
          problem(
            "MISSING_SEGMENT",
            "warning",
            step.id,
            `"${step.name}" uses a segment that doesn't exist (${id}), so no contacts match it.`,
          ),
        ),
    ]),
  ];
}

function problemsOfTrigger(
  { type, config }: TriggerToCheck,
  { segments }: Context,
  stepId: string | null,
): WorkflowProblem[] {
  const { eventName, segmentId, cron } = config as { eventName?: string; segmentId?: string; cron?: string };
  const error = (code: ProblemCode, message: string) => [problem(code, "error", stepId, message)];
  if (type === "EVENT") {
    if (eventName === undefined)
      return error("NO_TRIGGER_EVENT", "Choose the event that starts the workflow (`eventName`).");
    return canHappen(eventName)
      ? []
      : error("EVENT_NEVER_HAPPENS", `The event "${eventName}" never happens because the name is reserved.`);
  }
  if (type === "SCHEDULE" && cron === undefined)
    return error("NO_TRIGGER_EVENT", "Choose when the workflow runs (`triggerConfig.cron`).");
  if (type === "SCHEDULE" && isForEveryone(config) && config["audienceType"] !== "ALL")
    return error(
      "NO_AUDIENCE",
      'Choose an audience: `segmentId`, `audienceFilter`, or `audienceType: "ALL"` for everyone (`triggerConfig`).',
    );
  const needsSegment = type === "SEGMENT_ENTRY" || type === "SEGMENT_EXIT";
  if (needsSegment && segmentId === undefined)
    return error(
      "NO_TRIGGER_EVENT",
      "Choose the segment that starts the workflow (`triggerConfig.segmentId`).",
    );
  const missing = segmentIdsOfTrigger({ type, config }).filter((id) => !segments.has(id));
  if (missing.length > 0)
    return missing.flatMap((id) =>
      error("MISSING_SEGMENT", `The trigger uses a segment that does not exist: ${id}.`),
    );
  return needsSegment && segments.get(segmentId ?? "")?.isTracked === false
    ? error(
        "UNTRACKED_SEGMENT",
        "The segment of the trigger is not tracked. Set its `trackMembership` to true.",
      )
    : [];
}

/** Finds settings that would email contacts repeatedly. Each is an error until the author confirms it. */
function problemsOfRepetition(
  { type, config, confirmed }: TriggerToCheck,
  { loop }: Context,
  stepId: string | null,
): WorkflowProblem[] {
  const found = (code: ConfirmableProblem, message: string) => [
    problem(code, confirmed.includes(code) ? "warning" : "error", stepId, message),
  ];
  if (loop !== null) {
    const [, ...others] = loop;
    const through =
      others.length === 0 ? "" : ` through ${others.map((name) => `"${name}"`).join(", then ")}`;
    return found(
      "TRIGGERS_ITSELF",
      `This workflow triggers itself${through}, so a contact could go round without end. Change the trigger or a step, turn off re-entry, or confirm that this is intended.`,
    );
  }
  if (type !== "SCHEDULE" || !isForEveryone(config) || !runsMoreThanDaily(config as unknown as Schedule))
    return [];
  return found(
    "FREQUENT_SCHEDULE",
    "This schedule runs more than once a day for everyone. Choose a segment, run it less often, or confirm that this is intended.",
  );
}

function isForEveryone(config: Readonly<Record<string, unknown>>): boolean {
  return (config["segmentId"] ?? null) === null && (config["audienceFilter"] ?? null) === null;
}

function problemsOfMail(step: GraphStep, { templates }: Context): WorkflowProblem[] {
  if (step.type !== "SEND_EMAIL") return [];
  const templateId = templateIdOf(step);
  if (templateId === null)
    return [problem("NO_TEMPLATE", "error", step.id, `"${step.name}" has no template.`)];
  const template = templates.get(templateId);
  if (template === undefined)
    return [problem("MISSING_TEMPLATE", "error", step.id, `The template of "${step.name}" doesn't exist.`)];
  const problems: WorkflowProblem[] = [];
  if (!template.hasSender)
    problems.push(
      problem(
        "NO_SENDER",
        "error",
        step.id,
        `The template "${template.name}" has no sender, and the project has no default sender.`,
      ),
    );
  if (step.config.recipient?.type === "CUSTOM" && template.type !== "TRANSACTIONAL")
    problems.push(
      problem(
        "LIST_MAIL_TO_CUSTOM",
        "warning",
        step.id,
        `The template "${template.name}" is ${template.type}, which is only for subscribers, but "${step.name}" sends it to one address.`,
      ),
    );
  for (const { locale, message } of template.unknownVariables) {
    const place = locale === null ? `"${template.name}"` : `"${template.name}" (${locale})`;
    problems.push(problem("UNKNOWN_VARIABLE", "warning", step.id, `In the template ${place}: ${message}`));
  }
  return problems;
}

function problemsOfWebhook(step: GraphStep): WorkflowProblem[] {
  if (step.type !== "WEBHOOK") return [];
  const { url, headers = {}, body } = step.config;
  const inBody = findCredential(body);
  return [
    ...listMaskedParameters(url).map((name) =>
      problem(
        "MISSING_URL_VALUE",
        "error",
        step.id,
        `"${step.name}" needs a value for "${name}" in its URL.`,
      ),
    ),
    ...listMaskedNames(headers).map((name) =>
      problem("MISSING_HEADER", "error", step.id, `"${step.name}" needs a value for the header ${name}.`),
    ),
    ...(inBody === null
      ? []
      : [
          problem(
            "CREDENTIAL_IN_BODY",
            "warning",
            step.id,
            `The body of "${step.name}" seems to contain a credential ("${inBody}"), which everyone who reads the workflow can see. Put it into a header, where it is encrypted.`,
          ),
        ]),
  ];
}

function problemsOfWait(step: GraphStep, graph: Graph): WorkflowProblem[] {
  if (step.type !== "WAIT_FOR_EVENT") return [];
  const out = graph.transitions.filter(({ fromStepId }) => fromStepId === step.id);
  const dead = out.filter(({ branch }) => isDead(step, branch));
  const { eventName, timeout } = step.config;
  const happens = canHappen(eventName);
  const problems = dead.map(({ branch }) =>
    problem(
      "DEAD_BRANCH",
      "warning",
      step.id,
      branch === "timeout"
        ? `"${step.name}" has no timeout, so the branch \`timeout\` is never taken.`
        : `There are no events "${eventName}", so the branch \`event\` of "${step.name}" is never taken.`,
    ),
  );
  if (!happens)
    problems.push(
      problem(
        timeout === undefined ? "ENDLESS_WAIT" : "EVENT_NEVER_HAPPENS",
        timeout === undefined ? "error" : "warning",
        step.id,
        `"${step.name}" waits for "${eventName}", which never happens because the name is reserved.`,
      ),
    );
  else if (timeout === undefined && !out.some(({ branch }) => branch !== "timeout"))
    problems.push(
      problem(
        "ENDLESS_WAIT",
        "warning",
        step.id,
        `"${step.name}" has no timeout and no next step after the event, so contacts stay in it for no purpose.`,
      ),
    );
  return problems;
}

/** Returns whether contacts can never leave a step through this branch. */
function isDead(step: GraphStep, branch: string | null): boolean {
  if (step.type !== "WAIT_FOR_EVENT") return false;
  return branch === "timeout"
    ? step.config.timeout === undefined
    : branch === "event" && !canHappen(step.config.eventName);
}

export function reachedSteps(graph: Graph): Set<string> {
  const steps = new Map(graph.steps.map((step) => [step.id, step]));
  const ways = new Map<string, string[]>();
  for (const { fromStepId, toStepId, branch } of graph.transitions) {
    const from = steps.get(fromStepId);
    if (from === undefined || isDead(from, branch)) continue;
    ways.set(fromStepId, [...(ways.get(fromStepId) ?? []), toStepId]);
  }
  const trigger = graph.steps.find(({ type }) => type === "TRIGGER");
  const first = firstStepOf(graph);
  return reachableFrom(
    ways,
    [trigger, first].flatMap((step) => (step === undefined || step === null ? [] : [step.id])),
  );
}
