// Questions about workflows: who would enter and why not, what would happen, what would have happened, how many (decisions §9).
import { z } from "zod";
import { endpoint } from "../endpoint.ts";
import { context, ofWorkflow, stepRun } from "../executions.ts";
import { emailAddress, givenInstant, id, instant, issue, jsonSchemas } from "../field.ts";
import { LIMITS } from "../limits/limits.ts";
import { awaitedEventName, EXECUTION_STATUSES } from "./graph.ts";

const reason = z.object({
  rule: z.enum(["enabled", "trigger", "segment", "audience", "reentry", "active", "limit"]),
  holds: z.boolean(),
  message: z.string(),
});

export const explainEntry = endpoint({
  name: "workflows.why",
  method: "POST",
  path: "/workflows/:id/why",
  summary: "Tell whether a contact would enter a workflow now, and which rule keeps it out",
  description: "Nothing is started.",
  caller: "project",
  isRead: true,
  params: ofWorkflow,
  body: z.object({ contactId: id }),
  answers: { 200: z.object({ wouldEnter: z.boolean(), reasons: z.array(reason) }) },
  errors: ["WORKFLOW_NOT_FOUND", "CONTACT_NOT_FOUND"],
});

/** Whatever JSON holds. */
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

/** What is looked for by the clock after it (a time of day, some years of delays) is found, and can be written. */
const simulatedStart = givenInstant.refine(
  (at) => Date.parse(at) >= 0 && Date.parse(at) < Date.UTC(2900, 0),
  { message: "Must be an instant of the years 1970 to 2899.", params: { code: "custom" } },
);

const graphVersion = z
  .int()
  .min(1)
  .max(2_147_483_647)
  .optional()
  .describe("Of the graph; the current one when left out.");

export const simulateWorkflow = endpoint({
  name: "workflows.simulate",
  method: "POST",
  path: "/workflows/:id/simulate",
  summary: "Walk a contact through a workflow by a virtual clock; nothing is written or sent",
  description:
    "The same steps as the engine. `events` happen at their times. Webhooks are not called: they are answered as `webhooks` says, by the name of the step, or with 200 and nothing.",
  caller: "project",
  isRead: true,
  params: ofWorkflow,
  body: z
    .object({
      contactId: id.optional(),
      contact: simulatedContact.optional().describe("One that is not there, instead of `contactId`."),
      context: context.optional(),
      events: z
        .array(
          z.object({
            name: awaitedEventName,
            at: givenInstant,
            data: z.record(z.string(), z.unknown()).optional(),
          }),
        )
        .max(LIMITS.simulatedEvents.value)
        .optional(),
      webhooks: z
        .record(z.string(), z.object({ status: z.int().min(100).max(599), body: anyJson.optional() }))
        .optional(),
      from: simulatedStart
        .optional()
        .describe("When it starts, in the years 1970 to 2899; now when left out."),
      version: graphVersion,
    })
    .superRefine(({ contactId, contact }, check) => {
      if (contactId === undefined && contact === undefined)
        check.addIssue(issue("Required, or a `contact`.", "required", undefined, ["contactId"]));
    }),
  answers: {
    200: z.object({
      status: z.enum(EXECUTION_STATUSES),
      exitReason: z.string().nullable(),
      startedAt: instant,
      endedAt: instant.nullable(),
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
          error: z.string().nullable().describe("Why it could not be rendered."),
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
  waiting: z.int().describe("Executions that stand here now."),
  passed: z.int(),
  skipped: z.int(),
  failed: z.int(),
  cancelled: z.int(),
  sent: z.int().describe("Mails of this step that left; opened and clicked by people."),
  opened: z.int(),
  clicked: z.int(),
});

export const countSteps = endpoint({
  name: "workflows.stats",
  method: "GET",
  path: "/workflows/:id/stats",
  summary: "Count what happened at each step",
  description: "Exact at this instant. Steps of former versions are among them.",
  caller: "project",
  params: ofWorkflow,
  answers: {
    200: z.object({
      active: z.int(),
      steps: z.array(stepNumbers),
    }),
  },
  errors: ["WORKFLOW_NOT_FOUND"],
});

export const replayWorkflow = endpoint({
  name: "workflows.replay",
  method: "POST",
  path: "/workflows/:id/replay",
  summary: "Tell what would have happened to the last executions under the current graph",
  description:
    "The last executions, at most a thousand, are walked again: the contact as it is now, the events that really happened to it since, a virtual clock. Counts per step, beside what did happen. Nothing is written or sent.",
  caller: "project",
  isRead: true,
  params: ofWorkflow,
  body: z.object({
    version: graphVersion,
    limit: z.int().min(1).max(LIMITS.replayedExecutions.value).optional(),
  }),
  answers: {
    200: z.object({
      executions: z.int(),
      steps: z.array(
        z.object({
          stepId: z.uuid(),
          name: z.string(),
          did: z.object({ entered: z.int(), passed: z.int(), skipped: z.int(), failed: z.int() }),
          would: z.object({ entered: z.int(), passed: z.int(), skipped: z.int(), failed: z.int() }),
        }),
      ),
    }),
  },
  errors: ["WORKFLOW_NOT_FOUND", "VERSION_NOT_FOUND"],
});
