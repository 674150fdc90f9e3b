// Describes workflows in short form for tests and benchmarks and stores them like those that people create.
import * as v1 from "@postloft/contract/v1.ts";
import type { Graph, GraphStep, StepType, TriggerType } from "@postloft/contract/workflows/graph.ts";
import { waitNamesOf } from "@postloft/contract/workflows/graph.ts";
import { sql } from "kysely";
import { transaction, type Database } from "../platform/database/database.ts";
import { newId } from "../platform/ids.ts";
import type { TestProject, TestServer } from "./test-server.ts";
import { subscribeWorkflows } from "../workflows/subscriptions.ts";

/** A step with its name, type and config. */
export type DrawnStep = [name: string, type: StepType, config?: object];
/** A transition between two steps, optionally by a branch. */
export type DrawnLink = [from: string, to: string, branch?: string];

export interface Drawing {
  steps: DrawnStep[];
  links: DrawnLink[];
  trigger?: { type?: TriggerType; config?: object; event?: string | null };
  allowReentry?: boolean;
  enabled?: boolean;
  name?: string;
}

export interface DrawnWorkflow {
  id: string;
  graph: Graph;
  /** Returns the id of a step by its name. */
  step: (name: string) => string;
}

/** Tracks an event and returns the id of its contact. */
export async function trackEvent(
  server: Pick<TestServer, "call">,
  { byKey }: TestProject,
  email: string,
  event: string,
  data?: object,
): Promise<string> {
  const body = { email, event, data };
  const reply = await server.call(v1.track, byKey, { anyBody: body });
  if (reply.status !== 200) throw new Error(`The event was refused: ${JSON.stringify(reply.body)}`);
  return reply.body.data.contact;
}

/** Returns the entry of a contact at the step `trigger` of a workflow. */
export function entryOf(workflow: DrawnWorkflow, contactId: string, context: object | null = null) {
  return {
    id: newId(),
    workflowId: workflow.id,
    contactId,
    isOnce: true,
    version: 1,
    stepId: workflow.step("trigger"),
    context: context === null ? null : JSON.stringify(context),
    startedAt: null,
    fromPublicKey: null,
  };
}

export function graphOf({ steps, links }: Pick<Drawing, "steps" | "links">): Graph {
  const at = new Date().toISOString();
  const drawn = steps.map(([name, type, config = {}]) => ({
    id: newId(),
    name,
    type,
    config,
    position: null,
    createdAt: at,
    updatedAt: at,
  })) as GraphStep[];
  const idOf = (name: string) => drawn.find((step) => step.name === name)?.id ?? "";
  const transitions = links.map(([from, to, branch = null]) => ({
    id: newId(),
    fromStepId: idOf(from),
    toStepId: idOf(to),
    branch,
    priority: 0,
  }));
  return { steps: drawn, transitions };
}

/** Stores a workflow, enabled unless the drawing says otherwise. */
export async function drawWorkflow(
  database: Database,
  projectId: string,
  drawing: Drawing,
): Promise<DrawnWorkflow> {
  const { trigger = {}, allowReentry = false, enabled = true, name = "A workflow" } = drawing;
  const { type = "MANUAL", config = {}, event = null } = trigger;
  const id = newId();
  const graph = graphOf(drawing);
  await transaction(database, async (tx) => {
    await sql`
      insert into workflows (project_id, id, name, enabled, trigger_type, trigger_config, trigger_event, allow_reentry)
      values (${projectId}, ${id}, ${name}, ${enabled}, ${type}, ${JSON.stringify(config)}::jsonb, ${event}, ${allowReentry})`.execute(
      tx,
    );
    await sql`
      insert into workflow_versions (project_id, workflow_id, version, graph, wait_names)
      values (${projectId}, ${id}, 1, ${JSON.stringify(graph)}::jsonb, ${waitNamesOf(graph)}::text[])`.execute(
      tx,
    );
    await subscribeWorkflows(tx, projectId);
  });
  return { id, graph, step: (named) => graph.steps.find((step) => step.name === named)?.id ?? "" };
}
