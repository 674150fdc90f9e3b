// Reads what problems.ts must know: templates, their senders and variables, segments.
// Before it: workflows.ts, with a row and its graph. After it: problems.ts judges.
import { LIMITS } from "@postloft/contract/limits.ts";
import type { Graph } from "@postloft/contract/workflow-graph.ts";
import type { WorkflowProblem } from "@postloft/contract/workflows.ts";
import type { Database } from "../platform/database.ts";
import { pairUp } from "../platform/pair-up.ts";
import { readDefaultSenders } from "../projects/projects.ts";
import { unknownVariablesOf } from "../templates/unknown-variables.ts";
import { problemsOf, type Surroundings, type TriggerToJudge } from "./problems.ts";
import { findKnownSegments, findKnownTemplates } from "./reference-queries.ts";
import { segmentIdsOf, templateIdsOf } from "./references.ts";
import { isTracked } from "./trigger.ts";

/** What an execution gives to mails beside a contact's data. */
const EXECUTION_VARIABLES = ["event", "workflow", "steps"];

export async function readProblems(
  database: Database,
  projectId: string,
  { graph, trigger }: { graph: Graph; trigger: TriggerToJudge },
): Promise<WorkflowProblem[]> {
  return problemsOf(graph, trigger, await readSurroundings(database, projectId, { graph, trigger }));
}

async function readSurroundings(
  database: Database,
  projectId: string,
  { graph, trigger }: { graph: Graph; trigger: TriggerToJudge },
): Promise<Surroundings> {
  const templateIds = templateIdsOf(graph);
  const templates =
    templateIds.length === 0
      ? []
      : await findKnownTemplates(database, projectId, templateIds, LIMITS.problemsContentBytes.value);
  const hasDefault =
    templates.some(({ fromAddress }) => fromAddress === null) &&
    (await readDefaultSenders(database, [projectId])).has(projectId);
  const warnings = await unknownVariablesOf(
    database,
    projectId,
    templates.map(({ subject, body }) => ({ subject, body: body ?? "" })),
    EXECUTION_VARIABLES,
  );
  const segmentIds = segmentIdsOf(graph, trigger);
  const segments = segmentIds.length === 0 ? [] : await findKnownSegments(database, projectId, segmentIds);
  return {
    templates: new Map(
      pairUp(templates, warnings).map(([{ id, name, type, fromAddress }, found]) => [
        id,
        {
          name,
          type,
          hasSender: fromAddress !== null || hasDefault,
          unknownVariables: found.map(({ message }) => message),
        },
      ]),
    ),
    segments: new Map(segments.map((segment) => [segment.id, { isTracked: isTracked(segment) }])),
  };
}
