// Endpoints that analyze workflows: entry rules, simulation, replay, statistics, and fields for conditions (decisions §9).
import { z } from "zod";
import { endpoint } from "../endpoint.ts";
import { context, ofWorkflow, stepRun } from "../executions.ts";
import { emailAddress, inputInstant, id, instant, issue, jsonSchemas } from "../field.ts";
import { LIMITS } from "../limits/limits.ts";
import { branch } from "./branches.ts";
import { EXECUTION_STATUSES } from "./graph.ts";
import { awaitedEventName } from "./step-fields.ts";

const reason = z.object({
  rule: z.enum(["enabled", "trigger", "segment", "audience", "reentry", "active", "limit", "exit"]),
  holds: z.boolean(),
  message: z.string(),
});

export const explainEntry = endpoint({
  name: "workflows.why",
  method: "POST",
  path: "/workflows/:id/why",
  summary: "Explain whether a contact could enter a workflow now",
  description: "Returns the rule that keeps the contact out, if any. Nothing is started.",
  caller: "project",
  isRead: true,
  params: ofWorkflow,
  body: z.object({ contactId: id }),
  responses: { 200: z.object({ wouldEnter: z.boolean(), reasons: z.array(reason) }) },
  errors: ["WORKFLOW_NOT_FOUND", "CONTACT_NOT_FOUND"],
});

/** Any JSON value. */
const anyJson = z.unknown().register(jsonSchemas, {
  jsonSchema: {
    anyOf: [
      { type: "object" },
      { type: "array", items: { type: "object" } },
      { type: "string" },
      { type: "number" },
      { type: "boolean" },
      { type: "null" },
    ],
  },
});

const simulatedContact = z.object({
  email: emailAddress,
  subscribed: z.boolean().optional(),
  data: z.record(z.string(), z.unknown()).optional(),
});

/** Later times found from here (a time of day, some years of delays) can still be represented. */
const simulatedStart = inputInstant.refine(
  (at) => Date.parse(at) >= 0 && Date.parse(at) < Date.UTC(2900, 0),
  { message: "Must be a time in the years 1970 to 2899.", params: { code: "custom" } },
);

const graphVersion = z
  .int()
  .min(1)
  .max(2_147_483_647)
  .optional()
  .describe("The version of the graph; default: the current one.");

export const simulateWorkflow = endpoint({
  name: "workflows.simulate",
  method: "POST",
  path: "/workflows/:id/simulate",
  summary: "Simulate a workflow for a contact; nothing is written or sent",
  description:
    "Runs the same steps as the engine, with a virtual clock. `events` happen at their times. Webhooks are not called; their responses come from `webhooks`, by step name, or default to 200 with an empty body. A RANDOM_SPLIT takes its share in `splits`, by step name, or its largest one.",
  caller: "project",
  isRead: true,
  params: ofWorkflow,
  body: z
    .object({
      contactId: id.optional(),
      contact: simulatedContact.optional().describe("A fictional contact, instead of `contactId`."),
      context: context.optional(),
      events: z
        .array(
          z.object({
            name: awaitedEventName,
            at: inputInstant,
            data: z.record(z.string(), z.unknown()).optional(),
          }),
        )
        .max(LIMITS.simulatedEvents.value)
        .optional(),
      webhooks: z
        .record(z.string(), z.object({ status: z.int().min(100).max(599), body: anyJson.optional() }))
        .optional(),
      splits: z.record(z.string(), branch).optional(),
      from: simulatedStart.optional().describe("The start time, in the years 1970 to 2899; default: now."),
      version: graphVersion,
    })
    .superRefine(({ contactId, contact }, check) => {
      if (contactId === undefined && contact === undefined)
        check.addIssue(issue("Required unless there is a `contact`.", "required", undefined, ["contactId"]));
    }),
  responses: {
    200: z.object({
      status: z.enum(EXECUTION_STATUSES),
      exitReason: z.string().nullable(),
      startedAt: instant,
      endedAt: instant.nullable(),
      goalReachedAt: instant.nullable(),
      steps: z.array(stepRun.omit({ email: true })),
      emails: z.array(
        z.object({
          stepId: z.uuid(),
          at: instant,
          to: z.string(),
          from: z.string(),
          subject: z.string(),
          html: z.string(),
          text: z.string(),
          error: z.string().nullable().describe("The reason why it could not be rendered."),
        }),
      ),
      contact: z.object({
        email: z.string(),
        subscribed: z.boolean(),
        data: z.record(z.string(), z.unknown()),
      }),
    }),
  },
  errors: ["WORKFLOW_NOT_FOUND", "CONTACT_NOT_FOUND", "VERSION_NOT_FOUND"],
});

const stepNumbers = z.object({
  stepId: z.uuid(),
  entered: z.int(),
  waiting: z.int().describe("Executions currently at this step."),
  passed: z.int(),
  skipped: z.int(),
  failed: z.int(),
  cancelled: z.int(),
  sent: z.int().describe("Sent emails of this step; opens and clicks are by people."),
  opened: z.int(),
  clicked: z.int(),
});

export const countSteps = endpoint({
  name: "workflows.stats",
  method: "GET",
  path: "/workflows/:id/stats",
  summary: "Count executions by step",
  description: "Counted at the time of the call, including steps of previous versions.",
  caller: "project",
  params: ofWorkflow,
  responses: {
    200: z.object({
      active: z.int(),
      goal: z
        .object({ executions: z.int(), reached: z.int(), goalRate: z.number().nullable() })
        .nullable()
        .describe(
          `Executions with a goal and how many reached it, without cancelled ones, among the newest ${LIMITS.recentExecutionsCounted.value}. null if no version has a goal.`,
        ),
      steps: z.array(stepNumbers),
    }),
  },
  errors: ["WORKFLOW_NOT_FOUND"],
});

export const replayWorkflow = endpoint({
  name: "workflows.replay",
  method: "POST",
  path: "/workflows/:id/replay",
  summary: "Replay the last executions with the current graph",
  description:
    "Counts what up to a thousand of the last executions would have done up to now in this graph, next to what they did. What the graph has in common with theirs is taken from the records, so an unchanged graph gives the same counts. From the first difference on, the steps run again with a virtual clock, the events that really happened, the recorded responses of webhooks and shares of splits, and each contact's current data. `assumed` counts results that no record has. Nothing is written or sent.",
  caller: "project",
  isRead: true,
  params: ofWorkflow,
  body: z.object({
    version: graphVersion,
    limit: z.int().min(1).max(LIMITS.replayedExecutions.value).optional(),
  }),
  responses: {
    200: z.object({
      executions: z.int(),
      steps: z.array(
        z.object({
          stepId: z.uuid(),
          name: z.string(),
          did: z.object({ entered: z.int(), passed: z.int(), skipped: z.int(), failed: z.int() }),
          would: z.object({
            entered: z.int(),
            passed: z.int(),
            skipped: z.int(),
            failed: z.int(),
            assumed: z
              .int()
              .describe(
                "Results that were assumed: webhooks without a recorded response (status 200), splits without a recorded share, and conditions on contact data, which may have been different then.",
              ),
          }),
        }),
      ),
    }),
  },
  errors: ["WORKFLOW_NOT_FOUND", "VERSION_NOT_FOUND"],
});

export const listWorkflowFields = endpoint({
  name: "workflows.listFields",
  method: "GET",
  path: "/workflows/fields",
  summary: "List the fields for a CONDITION",
  description: `Contact fields; with \`eventName\` also the keys in the data of the latest ${LIMITS.eventSample.value} events with that name.`,
  caller: "project",
  query: z.object({ eventName: z.string().max(LIMITS.eventNameLength.value).optional() }),
  responses: {
    200: z.object({
      fields: z.array(z.string()),
      typedFields: z.array(
        z.object({
          field: z.string(),
          type: z.enum(["string", "number", "boolean", "date"]),
          category: z.enum(["Contact Fields", "Custom Data", "Event Data"]),
        }),
      ),
      count: z.int(),
    }),
  },
});
